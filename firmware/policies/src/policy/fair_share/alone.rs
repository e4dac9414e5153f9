//! What a kernel would do alone on all SMs, from a window in which all others are stalled (sources.md D157).
//!
//! On its even share, with nobody beside it, a kernel is measured at once: stalled SMs keep their TBs, and nothing has to drain. On all SMs it would do as
//! many times that as there are SMs more, unless something beyond the SMs ends first: the interconnect, the L2, or DRAM, of which it reaches a part by its row hits
//! ([`Reach`]; sources.md D158). With a kernel's L2 accesses A of L sectors, its DRAM sectors D, the cycles C, and its share of s of N SMs:
//!
//! ```text
//! alone on all = alone on s  min(N / s, NoC C / (L A), LLC C / (L A), reach DRAM C / D), at least alone on s
//! ```

use super::{FairShare, Step};
use crate::search::{KernelCounts, MOST_QUOTIENT as MOST, ONE, Rate, Reach, Search, Supply, over, quotient};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::policy::Next;
use mias_firmware::quantity::SectorRate;

/// A kernel alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alone {
    /// On its even share.
    rate: Rate,
    /// How many times that all SMs would do, in parts of 2^14.
    multiple: u32,
}

impl Alone {
    /// Nothing known.
    pub const NONE: Self = Self { rate: Rate::NONE, multiple: 0 };

    /// What a kernel did in a window alone on so many SMs makes expect.
    #[must_use]
    pub fn of(counts: &KernelCounts, share: u16, supply: &Supply, reach: &Reach) -> Self {
        Self { rate: counts.rate(), multiple: supply.growth(counts, share, reach) }
    }

    /// The progress of a kernel that does this now: its IPC over that alone on all SMs, in parts of 2^14. A kernel that did nothing alone is not slowed.
    #[must_use]
    pub fn progress(&self, counts: &KernelCounts) -> u32 {
        over(counts.rate().over(&self.rate).unwrap_or(self.multiple), self.multiple)
    }
}

impl Supply {
    /// How many times what it did on so many SMs a kernel would do on all, in parts of 2^14, at least once.
    fn growth(&self, counts: &KernelCounts, share: u16, reach: &Reach) -> u32 {
        let cycles = u64::from(counts.rate().cycles());
        let sectors = u64::from(counts.l2_accesses) * u64::from(self.access_sectors.max(1));
        // 32 bits of a rate, of which 16 are fraction, 21 of cycles, and 10; 27 bits of a count, and 4 or 10, and the fraction.
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
    /// Notes what a kernel did alone. The next one is left alone, or all of them go on.
    pub(super) fn was_alone(&mut self, search: &mut Search) -> Next {
        let kernel = usize::from(self.turn);
        let (share, supply, reach) = (search.shares.share(kernel), search.parameters.supply, search.parameters.reach);
        if let (Some(alone), Some(counts)) = (self.alone.get_mut(kernel), search.counts.get(kernel)) {
            *alone = Alone::of(counts, share, &supply, &reach);
        }
        self.leave_alone(search, self.turn.saturating_add(1))
    }

    /// What each kernel does now over what it would do alone.
    pub(super) fn measured_progress(&self, search: &Search) -> [u32; MAX_KERNELS] {
        let mut progress = [0; MAX_KERNELS];
        let kernels = self.alone.iter().zip(&search.counts).take(search.shares.kernels());
        progress.iter_mut().zip(kernels).for_each(|(progress, (alone, counts))| *progress = alone.progress(counts));
        progress
    }

    /// Leaves a kernel alone, if there is one.
    pub(super) fn leave_alone(&mut self, search: &mut Search, turn: u8) -> Next {
        self.turn = turn;
        let there_is = usize::from(turn) < search.shares.kernels();
        search.shares.leave_alone(there_is.then_some(turn));
        self.step = if there_is { Step::Alone } else { Step::Balance };
        Next::Measure
    }
}
