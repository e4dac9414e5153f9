//! Water-filling over performance curves: the TBs of each kernel for which the smallest performance over its best is as large as
//! possible (Nasef 2023, section 2.3; sources.md D49 has the proof, for any number of resources).
//!
//! Of a kernel's curve only the points count that perform better than all with fewer TBs. All kernels begin with no TB; the one
//! that has reached the smallest part of its best goes on to its next point, unless that does not fit: then it is full.

use mias_firmware::configs::{Entry, MAX_KERNELS, TbVector};
use mias_firmware::policy::Context;

/// Where a kernel stands on its curve.
#[derive(Default)]
struct Level {
    /// Performance with the TBs that it has.
    here: u32,
    /// Performance with the best number of TBs.
    best: u32,
    /// TBs of the next point that performs better; 0 if there is none or it does not fit: the kernel is full.
    next: u8,
    /// The other numbers are those of the TBs that it has.
    current: bool,
}

impl Level {
    /// Whether it has reached a smaller part of its best than another.
    fn below(&self, other: &Self) -> bool {
        u64::from(self.here) * u64::from(other.best) < u64::from(other.here) * u64::from(self.best)
    }

    /// Moves to `tbs` TBs of a kernel, by the points of it that were measured.
    #[inline(never)]
    fn move_to(&mut self, points: &[Entry], kernel: usize, tbs: u8) {
        let curve = || points.iter().map(|point| (point.vector.get(kernel), point)).filter(|(tbs, point)| *tbs != 0 && point.sums.sms != 0);
        for (at, point) in curve() {
            self.best = self.best.max(point.extra.count());
            if at == tbs {
                self.here = point.extra.count();
            }
        }
        self.next = 0;
        for (at, point) in curve() {
            if point.extra.count() > self.here && at > tbs && (self.next == 0 || at < self.next) {
                self.next = at;
            }
        }
        self.current = true;
    }
}

/// The water level: `points` hold the performance of one kernel each. None if a kernel has no point that performs, if their first
/// ones do not fit together, or if one loses too much.
#[inline(never)]
pub(super) fn water_fill(context: &Context<'_>, points: &[Entry]) -> Option<TbVector> {
    let kernels = context.kernels.len();
    let mut levels = <[Level; MAX_KERNELS]>::default();
    let mut vector = TbVector::default();
    let mut rest = context.gpu.limits.capacity;
    loop {
        // The lowest of those that are not full, the first of equals.
        let mut lowest: Option<(usize, &mut Level)> = None;
        for (index, level) in levels.iter_mut().enumerate().take(kernels) {
            // Only one kernel has moved since, and looking at its points is what takes time.
            if !level.current {
                level.move_to(points, index, vector.get(index));
            }
            if level.next != 0 && lowest.as_ref().is_none_or(|(_, other)| level.below(other)) {
                lowest = Some((index, level));
            }
        }
        let Some((index, level)) = lowest else { break };
        let more = level.next.saturating_sub(vector.get(index));
        match context.kernels.get(index).and_then(|kernel| rest.minus(&kernel.demand, more.into())) {
            Some(left) => {
                rest = left;
                vector.set(index, level.next);
                level.current = false;
            }
            None => level.next = 0,
        }
    }
    // Without a kernel nothing is lost.
    (vector.present() == kernels && !levels.iter().any(|level| loses_too_much(context, level))).then_some(vector)
}

/// Whether `1 - here / best` is above the threshold over the number of kernels.
fn loses_too_much(context: &Context<'_>, level: &Level) -> bool {
    let kernels_permille = (context.kernels.len() as u32).wrapping_mul(1_000);
    let lost = u64::from(level.best.saturating_sub(level.here)) * u64::from(kernels_permille);
    lost > u64::from(context.settings.loss_threshold_permille) * u64::from(level.best)
}
