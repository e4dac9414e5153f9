//! Classification of memory-intensive kernels: the model of off-SM bandwidth, and the alternative
//! by the used share of DRAM bandwidth (Zhao et al. 2018, section 4.1; sources.md D149).
//!
//! Equation 1 is the demand of all SMs if none ever stalled: `IPC_max APKI / 1000 line frequency
//! SMs`. Equation 2 is the supply of the chip: `min(NoC, LLC hits + DRAM misses / 2)`, with the
//! rates of hits and misses. A kernel whose demand exceeds its supply is memory-intensive. All
//! quantities here are in sectors per core cycle, so the frequency cancels. An L2 access moves L
//! sectors: one, or a line's if caches have no sectors. With A accesses, H hits and W warp
//! instructions in the window, N SMs of S schedulers, and 2^16 from the registers:
//!
//! ```text
//! demand > NoC            S N L 2^16 A     > NoC W
//! demand > LLC and DRAM   S N L 2^16 2 A A > W (2 LLC H + DRAM (A - H))
//! ```
//!
//! The first fits 64 bits, the second 96. Nothing is divided or rounded.

use super::KernelCounts;
use mias_firmware::metric::wide::U96;
use mias_firmware::quantity::SectorRate;

/// Bound on the schedulers of an SM.
const MOST_SCHEDULERS: u32 = 255;
/// Sectors of a line of 256 bytes, more than any GPU has.
const MOST_ACCESS_SECTORS: u8 = 8;

/// Peak bandwidths beyond the SMs, and the SMs' peak demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Supply {
    /// SMs whose demand counts: all of the chip, or the current ones of the kernel.
    pub sms: u16,
    /// Most warp instructions that an SM issues per cycle.
    pub schedulers: u32,
    /// Sectors that an L2 access moves, 1 to 8.
    pub access_sectors: u8,
    /// Sectors per core cycle from the L2 to the SMs.
    pub interconnect: SectorRate,
    /// Sectors per core cycle out of the L2.
    pub l2: SectorRate,
    /// Sectors per core cycle of DRAM.
    pub dram: SectorRate,
}

impl Supply {
    /// Supply of an unknown chip.
    pub const NONE: Self =
        Self { sms: 0, schedulers: 0, access_sectors: 0, interconnect: SectorRate::ZERO, l2: SectorRate::ZERO, dram: SectorRate::ZERO };

    /// Returns whether the GPU reports its bandwidths.
    #[must_use]
    pub fn is_known(&self) -> bool {
        [self.interconnect, self.l2, self.dram].iter().all(|rate| *rate != SectorRate::ZERO)
    }

    /// Returns whether the demand of a kernel with these counts exceeds the supply.
    #[must_use]
    pub fn falls_short(&self, counts: &KernelCounts) -> bool {
        let (accesses, hits, insts) = (u64::from(counts.l2_accesses), u64::from(counts.l2_hits), u64::from(counts.warp_insts));
        let peak = u64::from(self.schedulers.min(MOST_SCHEDULERS)) * u64::from(self.sms);
        let sectors = accesses * u64::from(self.access_sectors.min(MOST_ACCESS_SECTORS));
        // 16 bits, 16 more, 27 and 3: below 2^62, so that the double fits.
        let asked = (peak << 16).saturating_mul(sectors);
        let bits = |rate: SectorRate| u64::from(rate.to_bits());
        if asked > bits(self.interconnect) * insts {
            return true;
        }
        let given = (2 * bits(self.l2) * hits).saturating_add(bits(self.dram) * accesses.saturating_sub(hits));
        U96::product(asked.saturating_mul(2), narrow(accesses)) > U96::product(given, narrow(insts))
    }
}

/// Returns whether a kernel uses more than `threshold_permille` thousandths, at most 1000, of the
/// peak DRAM bandwidth.
#[must_use]
pub fn utilized(counts: &KernelCounts, dram: SectorRate, threshold_permille: u32) -> bool {
    // 28, 16 and 10 bits; 32, 17 or slightly more, and 10.
    let used = (u64::from(counts.dram_sectors) << 16) * 1000;
    let whole = u64::from(dram.to_bits()).saturating_mul(counts.rate().cycles().into());
    used > whole.saturating_mul(threshold_permille.into())
}

/// Converts a count of at most 27 bits to a factor.
fn narrow(count: u64) -> mias_firmware::quantity::Count {
    mias_firmware::quantity::Count::from_bits(count as u32)
}
