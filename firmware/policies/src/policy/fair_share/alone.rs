//! Estimate of a kernel's isolated performance on all SMs, from a window in which all other kernels
//! are stalled (sources.md D157).
//!
//! A kernel can be measured alone on its even share at once: stalled SMs keep their TBs, so nothing
//! has to drain. On all SMs its rate grows with the number of SMs, unless a resource beyond the SMs
//! saturates first: the interconnect, the L2, or DRAM. A kernel reaches a part of DRAM's peak that
//! depends on its row hits ([`Reach`]; sources.md D158). With a kernel's L2 accesses A of L
//! sectors, its DRAM sectors D, the cycles C, and its share of s of N SMs:
//!
//! ```text
//! alone on all = alone on s  min(N / s, NoC C / (L A), LLC C / (L A), reach DRAM C / D), at least alone on s
//! ```

use super::{FairShare, Step};
use crate::search::{KernelCounts, MOST_QUOTIENT as MOST, ONE, Rate, Reach, Search, Supply, over, quotient};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::policy::Next;
use mias_firmware::quantity::SectorRate;

/// Measurement of a kernel alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alone {
    /// Rate on the even share.
    rate: Rate,
    /// Estimated factor from the even share to all SMs, in parts of 2^14.
    multiple: u32,
}

impl Alone {
    /// No measurement.
    pub const NONE: Self = Self { rate: Rate::NONE, multiple: 0 };

    /// Estimates from the counts of a window alone on `share` SMs.
    #[must_use]
    pub fn of(counts: &KernelCounts, share: u16, supply: &Supply, reach: &Reach) -> Self {
        Self { rate: counts.rate(), multiple: supply.growth(counts, share, reach) }
    }

    /// Returns the progress of a kernel with these counts: its IPC over its IPC alone on all SMs,
    /// in parts of 2^14.
    ///
    /// A kernel that did nothing alone counts as not slowed.
    #[must_use]
    pub fn progress(&self, counts: &KernelCounts) -> u32 {
        over(counts.rate().over(&self.rate).unwrap_or(self.multiple), self.multiple)
    }
}

impl Supply {
    /// Returns the factor by which a kernel's rate grows from `share` SMs to all, in parts of 2^14,
    /// at least 1.
    fn growth(&self, counts: &KernelCounts, share: u16, reach: &Reach) -> u32 {
        let cycles = u64::from(counts.rate().cycles());
        let sectors = u64::from(counts.l2_accesses) * u64::from(self.access_sectors.max(1));
        // 32 bits of a rate, 16 of them fraction, 21 of cycles, and 10; 27 bits of a count, and 4
        // or 10, and the fraction.
        let of = |rate: SectorRate, permille: u32, moved: u64| {
            quotient(u64::from(rate.to_bits()) * cycles * u64::from(permille), (moved * 1000) << 16).unwrap_or(MOST)
        };
        let chip = of(self.interconnect, 1000, sectors).min(of(self.l2, 1000, sectors));
        let chip = chip.min(of(self.dram, reach.permille(counts), counts.dram_sectors.into()));
        let sms = quotient(self.sms.into(), share.into()).unwrap_or(ONE);
        chip.min(sms).max(ONE)
    }
}

impl FairShare {
    /// Records the counts of a kernel alone. The next kernel then runs alone, or all resume.
    pub(super) fn was_alone(&mut self, search: &mut Search) -> Next {
        let kernel = usize::from(self.turn);
        let (share, supply, reach) = (search.shares.share(kernel), search.parameters.supply, search.parameters.reach);
        if let (Some(alone), Some(counts)) = (self.alone.get_mut(kernel), search.counts.get(kernel)) {
            *alone = Alone::of(counts, share, &supply, &reach);
        }
        self.leave_alone(search, self.turn.saturating_add(1))
    }

    /// Returns the current rate of each kernel over its isolated rate.
    pub(super) fn measured_progress(&self, search: &Search) -> [u32; MAX_KERNELS] {
        let mut progress = [0; MAX_KERNELS];
        let kernels = self.alone.iter().zip(&search.counts).take(search.shares.kernels());
        progress.iter_mut().zip(kernels).for_each(|(progress, (alone, counts))| *progress = alone.progress(counts));
        progress
    }

    /// Lets a kernel run alone, if there is one.
    pub(super) fn leave_alone(&mut self, search: &mut Search, turn: u8) -> Next {
        self.turn = turn;
        let there_is = usize::from(turn) < search.shares.kernels();
        search.shares.leave_alone(there_is.then_some(turn));
        self.step = if there_is { Step::Alone } else { Step::Balance };
        Next::Measure
    }
}
