//! Balancing: move SMs from the kernel with the smallest slowdown to the one with the largest,
//! while fairness improves (Aguilera et al. 2014, as described by others; sources.md D157). Each
//! policy defines progress itself.
//!
//! A step moves as many SMs as would equalize both, if each SM of a kernel performed alike. With
//! progress p on s SMs, and f and w for the fastest and the slowest,
//!
//! ```text
//! (pw / sw) (sw + d) = (pf / sf) (sf - d)      d = (pf - pw) sw sf / (pw sf + pf sw)
//! ```
//!
//! rounded down, and at most half of the SMs of the fastest. The fairest measured shares stay:
//! those with the largest progress of the slowest over that of the fastest. The search ends under
//! one of three conditions:
//!
//! * No SM would move.
//! * As many consecutive steps as there are kernels less one have not improved fairness.
//! * [`MOST_SHIFTS`] steps are over.

use crate::search::{Search, Shares, over};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::policy::Next;

/// Most steps that move SMs. Assumption: a step balances a linear kernel exactly, so few are
/// needed.
pub const MOST_SHIFTS: u8 = 12;

/// Bits by which progress is coarsened when SMs are computed: 14 bits of progress, up to 16, and 8
/// of SMs of each kernel fit 32.
const COARSE_SHIFT: u32 = 4;

/// Fairness of the measured shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Balance {
    /// Fairest shares so far, their fairness, and the progress of each kernel: its estimated IPC
    /// over its IPC alone on all SMs, in parts of 2^14.
    fairest: Shares,
    fairness: u32,
    progress: [u32; MAX_KERNELS],
    /// Steps that have moved SMs, and the number of last ones without an improvement.
    shifts: u8,
    misses: u8,
}

impl Balance {
    /// A balance without measurements.
    pub(super) const NONE: Self = Self { fairest: Shares::NONE, fairness: 0, progress: [0; MAX_KERNELS], shifts: 0, misses: 0 };

    /// Returns the progress of each kernel on the final shares, or on the fairest so far.
    #[must_use]
    pub(super) fn progress(&self) -> &[u32] {
        &self.progress
    }

    /// Records the progress on the current shares, in parts of 2^14, and tries others.
    pub(super) fn shift(&mut self, search: &mut Search, progress: [u32; MAX_KERNELS]) -> Next {
        let kernels = 0..search.shares.kernels().min(MAX_KERNELS);
        let of = |kernel: usize| progress.get(kernel).copied().unwrap_or(0);
        let (least, most) = kernels.clone().map(of).fold((u32::MAX, 0), |(least, most), of| (least.min(of), most.max(of)));
        // No kernel made progress, so none is slower than another.
        let fairness = if most == 0 { 0 } else { over(least, most) };
        if self.shifts == 0 || fairness > self.fairness {
            (self.fairest, self.fairness, self.progress, self.misses) = (search.shares, fairness, progress, 0);
        } else {
            self.misses = self.misses.saturating_add(1);
        }
        let patient = usize::from(self.misses).saturating_add(1) < kernels.len().max(2);
        let slowest = kernels.clone().min_by_key(|kernel| of(*kernel)).unwrap_or(0);
        // The first of equals.
        let fastest = kernels.rev().filter(|kernel| search.shares.active(*kernel) > 1).max_by_key(|kernel| of(*kernel));
        if let (Some(fastest), true, true) = (fastest, patient, self.shifts < MOST_SHIFTS) {
            let sms = shifted([of(slowest), of(fastest)], [search.shares.active(slowest), search.shares.active(fastest)]);
            if sms != 0
                && let Some(shares) = search.shares.shifted(fastest, slowest, sms)
            {
                search.shares = shares;
                self.shifts = self.shifts.saturating_add(1);
                return Next::Measure;
            }
        }
        search.shares = self.fairest;
        search.settle()
    }
}

/// Returns the SMs that move from the second kernel to the first, from their progress and their
/// SMs.
fn shifted([slow, fast]: [u32; 2], [few, many]: [u16; 2]) -> u16 {
    let [slow, fast] = [slow, fast].map(|progress| progress >> COARSE_SHIFT);
    let [few, many] = [few, many].map(|sms| u32::from(sms.min(256)));
    // 14 bits and two of 8, or one of 8 and a sum.
    let gap = fast.saturating_sub(slow).saturating_mul(few).saturating_mul(many);
    let sms = gap.checked_div(slow.saturating_mul(many).saturating_add(fast.saturating_mul(few))).unwrap_or(0);
    sms.min(many / 2) as u16
}

impl Shares {
    /// Moves SMs from one kernel to another; none if the first would have none left.
    #[must_use]
    pub fn shifted(&self, from: usize, to: usize, sms: u16) -> Option<Self> {
        let mut wanted = [0; MAX_KERNELS];
        let wanted = wanted.get_mut(..self.kernels())?;
        for (kernel, wanted) in wanted.iter_mut().enumerate() {
            *wanted = self.active(kernel);
        }
        let left = wanted.get(from)?.checked_sub(sms).filter(|left| *left != 0)?;
        *wanted.get_mut(from)? = left;
        *wanted.get_mut(to)? = wanted.get(to)?.checked_add(sms)?;
        Self::of(self.sms(), wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By hand: 12 SMs at a quarter and 12 at three quarters are equal with 18 and 6.
    #[test]
    fn as_many_as_make_both_alike() {
        assert_eq!(shifted([4_096, 12_288], [12, 12]), 6);
        // Twice the progress on twice the SMs: no gain.
        assert_eq!(shifted([4_096, 4_096], [4, 8]), 0);
        // A kernel without progress gets half of the other's SMs.
        assert_eq!((shifted([0, 9_999], [3, 8]), shifted([0, 0], [3, 8])), (4, 0));
    }

    proptest! {
        /// No more SMs move than exist, and not so many that linear kernels would swap ranks.
        #[test]
        fn never_too_many(slow in 1..1_u32 << 18, fast in 1..1_u32 << 18, few in 1..256_u16, many in 2..256_u16) {
            let sms = shifted([slow, fast], [few, many]);
            prop_assert!(sms <= many / 2 && (fast > slow || sms == 0));
            let coarse = |progress: u32| f64::from(progress >> COARSE_SHIFT);
            let (now_slow, now_fast) = (coarse(slow) / f64::from(few) * f64::from(few + sms), coarse(fast) / f64::from(many) * f64::from(many - sms));
            prop_assert!(sms == 0 || now_slow <= now_fast * (1.0 + 1e-9), "{} beyond {}", now_slow, now_fast);
        }

        /// SMs are conserved, and every kernel keeps one.
        #[test]
        fn shifting_conserves_sms(sms in 2..257_u16, kernels in 2..5_usize, shifts in prop::collection::vec((0..4_usize, 0..4_usize, 0..40_u16), 0..20)) {
            prop_assume!(usize::from(sms) >= kernels);
            let mut shares = Shares::even(sms, kernels);
            for (from, to, count) in shifts {
                let (from, to) = (from % kernels, to % kernels);
                let before = shares.active(from);
                match shares.shifted(from, to, count) {
                    Some(next) => shares = next,
                    None => prop_assert!(count >= before),
                }
                prop_assert_eq!((0..kernels).map(|kernel| shares.active(kernel)).sum::<u16>(), sms);
                prop_assert!((0..kernels).all(|kernel| shares.active(kernel) >= 1));
            }
        }
    }
}
