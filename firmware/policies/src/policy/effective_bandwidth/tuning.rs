//! Pattern-based search for the limits of kernels' active warps (Wang et al. 2018, as others
//! describe it; sources.md D159).
//!
//! A pattern shortens the search. As a kernel's limit is lowered, the score first rises and then
//! falls. For the kernel with the largest effect, the position of the peak depends little on the
//! others' limits. The limits can therefore be found one after the other, with few measured
//! combinations:
//!
//! 1. No limit at all.
//! 2. The limit of each kernel in turn, without limits for the others. Levels go from the top down,
//!    until the score has fallen twice.
//! 3. The kernel with the highest peak is the critical one, and keeps the limit of that peak. The
//!    limits of the others are then found in the same way, in the order of their peaks. This phase
//!    is left out if no limit of any kernel is better than none.
//!
//! The best measured combination stays. Among equals it is the one measured first, and kernels go
//! in launch order.

use crate::search::{Kernels, Limits};
use mias_firmware::configs::MAX_KERNELS;

/// Levels of active warps per warp scheduler (Wang et al. 2018), in addition to no limit.
pub const LEVELS: [u8; 8] = [1, 2, 4, 6, 8, 12, 16, 24];

/// Consecutive levels with a lower score after which the levels below are skipped. Assumption: one
/// may be noise.
const PATIENCE: u8 = 2;

/// A score has fallen if it is below the kernel's highest by this part of it, as a shift: 3 %,
/// assumption. If it stays, the next level is tried.
const FALL_SHIFT: u32 = 5;

/// Most windows: one without a limit, then all levels of each kernel, and those of all but one once
/// more.
pub const MOST_TUNED: u16 = 1 + (2 * MAX_KERNELS as u16 - 1) * LEVELS.len() as u16;

/// State of a search for limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Limits under test.
    limits: Limits,
    /// Best limits so far, and their score.
    best: Limits,
    best_score: u32,
    /// Most warps of each kernel per scheduler.
    warps: [u8; MAX_KERNELS],
    /// Limit of each kernel with the highest score, and that score.
    peaks: Limits,
    peak_scores: [u32; MAX_KERNELS],
    /// Kernels whose levels were tried before any limit was final.
    swept: Kernels,
    /// Kernels with a final limit.
    fixed: Kernels,
    /// Kernel whose levels are under test.
    turn: u8,
    /// Consecutive levels with a lower score.
    falls: u8,
    /// Whether the window without a limit is over, and its score.
    begun: bool,
    unlimited: u32,
}

impl Tuning {
    /// A search without any state.
    pub const NONE: Self = Self {
        limits: [0; MAX_KERNELS],
        best: [0; MAX_KERNELS],
        best_score: 0,
        warps: [0; MAX_KERNELS],
        peaks: [0; MAX_KERNELS],
        peak_scores: [0; MAX_KERNELS],
        swept: 0,
        fixed: 0,
        turn: 0,
        falls: 0,
        begun: false,
        unlimited: 0,
    };

    /// Starts without a limit. `warps` is the most warps of each kernel per scheduler.
    ///
    /// A level at or above that number has no effect, and is not tried.
    #[must_use]
    pub fn new(warps: [u8; MAX_KERNELS]) -> Self {
        Self { warps, ..Self::NONE }
    }

    /// Returns the limits under test, or the final ones.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Records the score of the current limits for `kernels` kernels, and sets the next ones;
    /// returns false if the best are final.
    pub fn measured(&mut self, score: u32, kernels: usize) -> bool {
        if !self.begun || score > self.best_score {
            (self.best, self.best_score) = (self.limits, score);
        }
        if !self.begun {
            (self.begun, self.unlimited) = (true, score);
            return self.next_kernel(kernels);
        }
        let turn = usize::from(self.turn);
        let limit = self.limits.get(turn).copied().unwrap_or(0);
        if let (Some(peak), Some(peak_score)) = (self.peaks.get_mut(turn), self.peak_scores.get_mut(turn)) {
            if score > *peak_score {
                (*peak, *peak_score, self.falls) = (limit, score, 0);
            } else if score < peak_score.saturating_sub(*peak_score >> FALL_SHIFT) {
                self.falls = self.falls.saturating_add(1);
            } else {
                self.falls = 0;
            }
        }
        if self.falls < PATIENCE && self.try_below(turn, limit) {
            return true;
        }
        self.close(turn, kernels);
        self.next_kernel(kernels)
    }

    /// Restores the best limits so far.
    pub fn settle(&mut self) {
        self.limits = self.best;
    }

    /// Lowers a kernel's limit to the next level below `warps`; returns false if there is none.
    fn try_below(&mut self, kernel: usize, warps: u8) -> bool {
        let level = LEVELS.iter().rev().find(|level| **level < warps);
        match (self.limits.get_mut(kernel), level) {
            (Some(limit), Some(level)) => {
                *limit = *level;
                true
            }
            _ => false,
        }
    }

    /// Starts with the levels of the next kernel; returns false, with the best limits, if there is
    /// none.
    fn next_kernel(&mut self, kernels: usize) -> bool {
        // Each turn closes a kernel, at most twice.
        for _ in 0..2 * MAX_KERNELS {
            let Some((kernel, score)) = self.next_turn(kernels) else { break };
            (self.turn, self.falls) = (kernel as u8, 0);
            if let (Some(peak), Some(peak_score)) = (self.peaks.get_mut(kernel), self.peak_scores.get_mut(kernel)) {
                (*peak, *peak_score) = (0, score);
            }
            let warps = self.warps.get(kernel).copied().unwrap_or(0);
            if self.try_below(kernel, warps) {
                return true;
            }
            self.close(kernel, kernels);
        }
        self.settle();
        false
    }

    /// Returns the next kernel to test, and the score without its limit under the others' current
    /// limits.
    fn next_turn(&self, kernels: usize) -> Option<(usize, u32)> {
        let mut those = 0..kernels.min(MAX_KERNELS);
        if self.fixed == 0 {
            return those.find(|kernel| self.swept >> kernel & 1 == 0).map(|kernel| (kernel, self.unlimited));
        }
        let kernel = self.highest(kernels, !self.fixed)?;
        // The kernel fixed last has the score of all current limits.
        let score = self.peak_scores.get(usize::from(self.turn)).copied().unwrap_or(0);
        Some((kernel, score))
    }

    /// Returns the kernel of a set with the highest peak, the first of equals.
    fn highest(&self, kernels: usize, among: Kernels) -> Option<usize> {
        let those = (0..kernels.min(MAX_KERNELS)).rev().filter(|kernel| among >> kernel & 1 != 0);
        those.max_by_key(|kernel| self.peak_scores.get(*kernel).copied().unwrap_or(0))
    }

    /// Closes a kernel whose levels have been tried.
    fn close(&mut self, kernel: usize, kernels: usize) {
        if self.fixed != 0 {
            self.fix(kernel);
            return;
        }
        if let Some(limit) = self.limits.get_mut(kernel) {
            *limit = 0;
        }
        // At most four kernels.
        self.swept |= 1 << kernel.min(MAX_KERNELS);
        if self.next_turn(kernels).is_none()
            && let Some(critical) = self.highest(kernels, Kernels::MAX)
            && self.peaks.get(critical).is_some_and(|peak| *peak != 0)
        {
            self.fix(critical);
        }
    }

    /// Fixes a kernel's limit at its peak.
    fn fix(&mut self, kernel: usize) {
        if let (Some(limit), Some(peak)) = (self.limits.get_mut(kernel), self.peaks.get(kernel)) {
            *limit = *peak;
        }
        self.turn = kernel as u8;
        self.fixed |= 1 << kernel.min(MAX_KERNELS);
    }
}
