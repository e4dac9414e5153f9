//! Water-filling over performance curves: TBs that maximize the smallest performance of a kernel
//! relative to its best (Nasef 2023, section 2.3; sources.md D49 has the proof, for any number of
//! resources).
//!
//! Only the points of a kernel's curve that outperform all with fewer TBs count. All kernels start
//! without TBs. The kernel with the smallest part of its best advances to its next point, unless
//! that does not fit. Then it is full.

use mias_firmware::configs::{Entry, MAX_KERNELS, TbVector};
use mias_firmware::policy::Context;

/// Position of a kernel on its curve.
#[derive(Default)]
struct Level {
    /// Performance with the kernel's current TBs.
    here: u32,
    /// Performance with the best number of TBs.
    best: u32,
    /// TBs of the next better point; 0 if there is none or it does not fit, so that the kernel is
    /// full.
    next: u8,
    /// Whether the other numbers belong to the kernel's current TBs.
    current: bool,
}

impl Level {
    /// Returns whether the kernel has reached a smaller part of its best than another.
    fn below(&self, other: &Self) -> bool {
        u64::from(self.here) * u64::from(other.best) < u64::from(other.here) * u64::from(self.best)
    }

    /// Moves to `tbs` TBs of a kernel, by its measured points.
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

/// Computes the water level from `points`, which hold the performance of one kernel each.
///
/// Returns none if a kernel has no point with performance, if the first points do not fit together,
/// or if a kernel loses too much.
#[inline(never)]
pub(super) fn water_fill(context: &Context<'_>, points: &[Entry]) -> Option<TbVector> {
    let kernels = context.kernels.len();
    let mut levels = <[Level; MAX_KERNELS]>::default();
    let mut vector = TbVector::default();
    let mut rest = context.gpu.limits.capacity;
    loop {
        // The lowest kernel that is not full, the first of equals.
        let mut lowest: Option<(usize, &mut Level)> = None;
        for (index, level) in levels.iter_mut().enumerate().take(kernels) {
            // Only one kernel has moved since, and scanning its points takes most of the time.
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
    // Without a kernel there is no loss.
    (vector.present() == kernels && !levels.iter().any(|level| loses_too_much(context, level))).then_some(vector)
}

/// Returns whether `1 - here / best` is above the threshold over the number of kernels.
fn loses_too_much(context: &Context<'_>, level: &Level) -> bool {
    let kernels_permille = (context.kernels.len() as u32).wrapping_mul(1_000);
    let lost = u64::from(level.best.saturating_sub(level.here)) * u64::from(kernels_permille);
    lost > u64::from(context.settings.loss_threshold_permille) * u64::from(level.best)
}
