//! Water-filling over performance curves: the TBs of each kernel for which the smallest performance over its best is as large as
//! possible (seed 000 section 2.3; algorithms.md section 1.3 has the proof, for any number of resources).
//!
//! Of a kernel's curve only the points count that perform better than all with fewer TBs. All kernels begin with no TB; the one
//! that has reached the smallest part of its best goes on to its next point, unless that does not fit: then it is full.

use super::Context;
use crate::configs::{Entry, TbVector};

/// Where a kernel stands on its curve.
#[derive(Clone, Copy)]
struct Level {
    /// Performance with the TBs that it has.
    here: u32,
    /// Performance with the best number of TBs.
    best: u32,
    /// TBs of the next point that performs better; 0 if there is none.
    next: u8,
}

impl Level {
    /// Whether it has reached a smaller part of its best than another.
    fn below(self, other: Self) -> bool {
        u64::from(self.here) * u64::from(other.best) < u64::from(other.here) * u64::from(self.best)
    }

    /// With `tbs` TBs of a kernel, by the points of it that were measured.
    #[inline(never)]
    fn of(points: &[Entry], kernel: usize, tbs: u8) -> Self {
        let curve = || points.iter().map(|point| (point.vector.get(kernel), point)).filter(|(tbs, point)| *tbs != 0 && point.sums.sms != 0);
        let mut level = Self { here: 0, best: 0, next: 0 };
        for (at, point) in curve() {
            level.best = level.best.max(point.extra);
            if at == tbs {
                level.here = point.extra;
            }
        }
        for (at, point) in curve() {
            if point.extra > level.here && at > tbs && (level.next == 0 || at < level.next) {
                level.next = at;
            }
        }
        level
    }
}

/// The water level: `points` hold the performance of one kernel each. None if a kernel has no point that performs, if their first
/// ones do not fit together, or if one loses too much.
#[inline(never)]
pub(super) fn water_fill(context: &Context<'_>, points: &[Entry]) -> Option<TbVector> {
    let mut vector = TbVector::default();
    let mut rest = context.machine.limits.capacity;
    let mut full = 0_u32;
    loop {
        // The lowest of those that are not full, the first of equals.
        let mut lowest: Option<(usize, Level)> = None;
        for kernel in (0..context.kernels.len()).filter(|kernel| full >> kernel & 1 == 0) {
            let level = Level::of(points, kernel, vector.get(kernel));
            if lowest.is_none_or(|(_, other)| level.below(other)) {
                lowest = Some((kernel, level));
            }
        }
        let Some((index, level)) = lowest else { break };
        let more = level.next.saturating_sub(vector.get(index));
        match context.kernels.get(index).and_then(|kernel| rest.minus(&kernel.demand, more.into())) {
            Some(left) if more != 0 => {
                rest = left;
                vector.set(index, level.next);
            }
            _ => full |= 1_u32.wrapping_shl(index as u32),
        }
    }
    let kernels = context.kernels.len();
    let holds = |kernel| !loses_too_much(context, Level::of(points, kernel, vector.get(kernel)));
    (vector.present() == kernels && (0..kernels).all(holds)).then_some(vector)
}

/// Whether `1 - here / best` is above the threshold over the number of kernels.
fn loses_too_much(context: &Context<'_>, level: Level) -> bool {
    let lost = u64::from(level.best.saturating_sub(level.here)).wrapping_mul(context.kernels.len() as u64 * 1_000);
    lost > u64::from(context.settings.loss_threshold_permille).wrapping_mul(level.best.into())
}
