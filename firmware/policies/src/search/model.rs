//! How slow kernels are, told by their counters while all of them run: no kernel has to be left alone. In the spirit of HSM (Zhao et al. 2020), whose abstract says that
//! bandwidth goes with the hit rate of DRAM's rows, and that performance follows by a linear regression; what follows from that here is ours (sources.md D158).
//!
//! A kernel that does not ask for more than the chip gives ([`Supply::falls_short`]) is taken to do the same on every SM: its progress is its part of
//! the SMs. One that does is taken to be as fast as its traffic: its progress is that over what the chip would move for it alone. DRAM would move a share of its peak that
//! rises with the hit rate h of the kernel's row accesses; interconnect and L2 all they can. With D DRAM sectors and A L2 accesses of L sectors in C cycles:
//!
//! ```text
//! progress = max(D / (C DRAM (reach + more h)), L A / (C NoC), L A / (C LLC)), at most 1
//! ```

use super::quotient::{ONE, QUOTIENT_BITS, quotient};
use super::{KernelCounts, Search, Supply};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::quantity::SectorRate;

/// Largest slope of the line: rows of which a tenth is hit are as good as any.
pub(super) const MOST_OF_HITS: u32 = 10_000;

/// What DRAM moves for a kernel alone, as a share of its peak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Where every access opens a row, in thousandths, at most 1000.
    pub base_permille: u32,
    /// More where none does, in thousandths, at most 10,000: the sum is never more than the peak.
    pub row_hits_permille: u32,
}

impl Reach {
    /// Nothing.
    pub const NONE: Self = Self { base_permille: 0, row_hits_permille: 0 };

    /// In thousandths, 1 to 1000, by what a kernel did.
    pub(crate) fn permille(&self, counts: &KernelCounts) -> u32 {
        let hits = quotient(counts.row_hits.into(), counts.dram_sectors.into()).unwrap_or(0).min(ONE);
        // 14 bits each.
        (self.base_permille.min(1000) + ((self.row_hits_permille.min(MOST_OF_HITS) * hits) >> QUOTIENT_BITS)).clamp(1, 1000)
    }

    /// The progress of a kernel on so many SMs, of those that the supply is of, in parts of 2^14, at most 1.
    #[must_use]
    pub fn progress(&self, counts: &KernelCounts, sms: u16, supply: &Supply) -> u32 {
        let progress = if supply.falls_short(counts) {
            let cycles = u64::from(counts.rate().cycles());
            // 28 bits, 16 and 10; 32, 21 and 10.
            let whole = u64::from(supply.dram.to_bits()) * cycles * u64::from(self.permille(counts));
            let of_dram = quotient((u64::from(counts.dram_sectors) << 16) * 1000, whole);
            // 27 bits, 4 and 16; 32 and 21.
            let sectors = (u64::from(counts.l2_accesses) * u64::from(supply.access_sectors.max(1))) << 16;
            let of = |rate: SectorRate| quotient(sectors, u64::from(rate.to_bits()) * cycles);
            of_dram.max(of(supply.interconnect)).max(of(supply.l2))
        } else {
            quotient(sms.into(), supply.sms.into())
        };
        progress.unwrap_or(0).min(ONE)
    }
}

impl Search {
    /// The progress of each kernel by the model.
    #[must_use]
    pub fn modelled_progress(&self) -> [u32; MAX_KERNELS] {
        let mut progress = [0; MAX_KERNELS];
        let kernels = self.counts.iter().enumerate().take(self.shares.kernels());
        for (progress, (kernel, counts)) in progress.iter_mut().zip(kernels) {
            *progress = self.parameters.reach.progress(counts, self.shares.active(kernel), &self.parameters.supply);
        }
        progress
    }
}
