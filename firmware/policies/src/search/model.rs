//! Model of the kernels' slowdowns from their counters while all of them run, so that no kernel has
//! to run alone.
//!
//! It follows the idea of HSM (Zhao et al. 2020). Its abstract states that bandwidth depends on the
//! hit rate of DRAM's rows, and performance follows by a linear regression. The rest is ours
//! (sources.md D158).
//!
//! A kernel whose demand does not exceed the supply ([`Supply::falls_short`]) is assumed to perform
//! alike on every SM: its progress is its share of the SMs. Otherwise its speed is assumed to
//! follow its traffic: its progress is that traffic over what the chip would transfer for it alone.
//! DRAM would transfer a share of its peak that rises with the hit rate h of the kernel's row
//! accesses. Interconnect and L2 would reach their peaks. With D DRAM sectors and A L2 accesses of
//! L sectors in C cycles:
//!
//! ```text
//! progress = max(D / (C DRAM (reach + more h)), L A / (C NoC), L A / (C LLC)), at most 1
//! ```

use super::quotient::{ONE, QUOTIENT_BITS, quotient};
use super::{KernelCounts, Search, Supply};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::quantity::SectorRate;

/// Largest slope of the line, at which a hit rate of a tenth already reaches the peak.
pub(super) const MOST_OF_HITS: u32 = 10_000;

/// DRAM bandwidth of a kernel alone, as a share of the peak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Share if every access opens a row, in thousandths, at most 1000.
    pub base_permille: u32,
    /// Additional share if no access opens a row, in thousandths, at most 10,000. The sum is
    /// limited to the peak.
    pub row_hits_permille: u32,
}

impl Reach {
    /// A share of 0.
    pub const NONE: Self = Self { base_permille: 0, row_hits_permille: 0 };

    /// Returns the share in thousandths, 1 to 1000, from a kernel's counts.
    pub(crate) fn permille(&self, counts: &KernelCounts) -> u32 {
        let hits = quotient(counts.row_hits.into(), counts.dram_sectors.into()).unwrap_or(0).min(ONE);
        // 14 bits each.
        (self.base_permille.min(1000) + ((self.row_hits_permille.min(MOST_OF_HITS) * hits) >> QUOTIENT_BITS)).clamp(1, 1000)
    }

    /// Returns the progress of a kernel on `sms` of the supply's SMs, in parts of 2^14, at most 1.
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
    /// Returns the progress of each kernel by the model.
    #[must_use]
    pub fn modeled_progress(&self) -> [u32; MAX_KERNELS] {
        let mut progress = [0; MAX_KERNELS];
        let kernels = self.counts.iter().enumerate().take(self.shares.kernels());
        for (progress, (kernel, counts)) in progress.iter_mut().zip(kernels) {
            *progress = self.parameters.reach.progress(counts, self.shares.active(kernel), &self.parameters.supply);
        }
        progress
    }
}
