//! Pattern-based search for the limits of kernels' active warps (Wang et al. 2018, as others describe it; sources.md D159).
//!
//! What makes it short is a pattern: as a kernel's limit is lowered, the score first rises, then falls, and where it is highest for the kernel to which it matters most
//! depends little on the others' limits. So one limit is found after the other, and few combinations are measured:
//!
//! 1. no limit at all;
//! 2. each kernel's in turn, the others without, level by level from the top down, until the score has fallen twice;
//! 3. the kernel with the highest peak is the critical one, and keeps the limit of that peak. Beside it the others' are found in the same way, in the order of their peaks. If
//!    no limit of any kernel is better than none, this is left out.
//!
//! The best combination that was measured stays. Of equals it is the one that was measured first, and a kernel that was launched first goes first.

use crate::search::{Kernels, Limits};
use mias_firmware::configs::MAX_KERNELS;

/// Levels of active warps of a warp scheduler (Wang et al. 2018); and no limit.
pub const LEVELS: [u8; 8] = [1, 2, 4, 6, 8, 12, 16, 24];

/// Levels in a row at which the score has fallen before those below are given up: assumption, one may be noise.
const PATIENCE: u8 = 2;

/// It has fallen if it is below the kernel's highest by this part of it, as a shift, 3 %: assumption. Where it stays the next level is tried.
const FALL_SHIFT: u32 = 5;

/// Most windows: one without a limit, then all levels of each kernel, and those of all but one once more.
pub const MOST_TUNED: u16 = 1 + (2 * MAX_KERNELS as u16 - 1) * LEVELS.len() as u16;

/// A search for limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Those that are tried.
    limits: Limits,
    /// The best so far, and their score.
    best: Limits,
    best_score: u32,
    /// Warps of each kernel that a scheduler has at most.
    warps: [u8; MAX_KERNELS],
    /// The limit of each kernel at which the score was highest, and that score.
    peaks: Limits,
    peak_scores: [u32; MAX_KERNELS],
    /// Kernels of which the levels were tried while no limit was found.
    swept: Kernels,
    /// Kernels whose limit is found.
    fixed: Kernels,
    /// The kernel whose levels are tried.
    turn: u8,
    /// Levels in a row at which the score had fallen.
    falls: u8,
    /// The window without a limit is over, and its score.
    begun: bool,
    unlimited: u32,
}

impl Tuning {
    /// None.
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

    /// Begins without a limit. Of each kernel so many warps are on a scheduler at most: a level that is no less limits nothing, and is not tried.
    #[must_use]
    pub fn new(warps: [u8; MAX_KERNELS]) -> Self {
        Self { warps, ..Self::NONE }
    }

    /// The limits that are tried, or that stay.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Takes the window as that of the limits at hand, of so many kernels, and goes on to others; false if the best stay.
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

    /// The best so far stay.
    pub fn settle(&mut self) {
        self.limits = self.best;
    }

    /// Lowers a kernel's limit to the next level below so many warps; false if there is none.
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

    /// Begins with the levels of the next kernel; false, with the best limits, if there is none.
    fn next_kernel(&mut self, kernels: usize) -> bool {
        // Each turn closes a kernel: twice, at most.
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

    /// Whose levels are tried next, and the score where it has no limit and the others those at hand.
    fn next_turn(&self, kernels: usize) -> Option<(usize, u32)> {
        let mut those = 0..kernels.min(MAX_KERNELS);
        if self.fixed == 0 {
            return those.find(|kernel| self.swept >> kernel & 1 == 0).map(|kernel| (kernel, self.unlimited));
        }
        let kernel = self.highest(kernels, !self.fixed)?;
        // Fixed last, with that of all limits at hand.
        let score = self.peak_scores.get(usize::from(self.turn)).copied().unwrap_or(0);
        Some((kernel, score))
    }

    /// The kernel of a set with the highest peak; of equals the first.
    fn highest(&self, kernels: usize, among: Kernels) -> Option<usize> {
        let those = (0..kernels.min(MAX_KERNELS)).rev().filter(|kernel| among >> kernel & 1 != 0);
        those.max_by_key(|kernel| self.peak_scores.get(*kernel).copied().unwrap_or(0))
    }

    /// The levels of a kernel have been tried.
    fn close(&mut self, kernel: usize, kernels: usize) {
        if self.fixed != 0 {
            self.fix(kernel);
            return;
        }
        if let Some(limit) = self.limits.get_mut(kernel) {
            *limit = 0;
        }
        // At most four.
        self.swept |= 1 << kernel.min(MAX_KERNELS);
        if self.next_turn(kernels).is_none()
            && let Some(critical) = self.highest(kernels, Kernels::MAX)
            && self.peaks.get(critical).is_some_and(|peak| *peak != 0)
        {
            self.fix(critical);
        }
    }

    /// A kernel keeps the limit of its peak.
    fn fix(&mut self, kernel: usize) {
        if let (Some(limit), Some(peak)) = (self.limits.get_mut(kernel), self.peaks.get(kernel)) {
            *limit = *peak;
        }
        self.turn = kernel as u8;
        self.fixed |= 1 << kernel.min(MAX_KERNELS);
    }
}
