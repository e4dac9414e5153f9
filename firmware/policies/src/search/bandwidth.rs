//! Which kernels are memory-intensive: the model of off-SM bandwidth, and beside it the share of DRAM's bandwidth that a kernel uses (Zhao et
//! al. 2018, section 4.1; sources.md D149).
//!
//! Equation 1 is what all SMs would ask for if none ever waited: `IPC_max APKI / 1000 line frequency SMs`. Equation 2 is what the
//! chip gives them: `min(NoC, LLC hits + DRAM misses / 2)`, with the rates of hits and misses. A kernel that asks for more than it is given is
//! memory-intensive. Everything here is in sectors per core cycle, of which an access of the L2 moves L, so that the frequency cancels: one, or a
//! line's where caches have no sectors. With A accesses, H hits and W warp instructions in the window, N SMs of S schedulers, and 2^16 from the
//! registers:
//!
//! ```text
//! demand > NoC            S N L 2^16 A     > NoC W
//! demand > LLC and DRAM   S N L 2^16 2 A A > W (2 LLC H + DRAM (A - H))
//! ```
//!
//! The first fits 64 bits, the second 96: nothing is divided or rounded.

use super::KernelCounts;
use mias_firmware::metric::wide::U96;
use mias_firmware::quantity::SectorRate;

/// More schedulers than an SM has.
const MOST_SCHEDULERS: u32 = 255;
/// Sectors of a line of 256 bytes: more than any GPU has.
const MOST_ACCESS_SECTORS: u8 = 8;

/// What the chip beyond the SMs moves at most, and what the SMs could ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Supply {
    /// SMs whose demand it is: all of the chip, however few a kernel has now, or as many as it has.
    pub sms: u16,
    /// Warp instructions that an SM issues per cycle at most.
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
    /// Of a chip of which nothing is known.
    pub const NONE: Self =
        Self { sms: 0, schedulers: 0, access_sectors: 0, interconnect: SectorRate::ZERO, l2: SectorRate::ZERO, dram: SectorRate::ZERO };

    /// Whether the machine says what it moves.
    #[must_use]
    pub fn is_known(&self) -> bool {
        [self.interconnect, self.l2, self.dram].iter().all(|rate| *rate != SectorRate::ZERO)
    }

    /// Whether a kernel that did this asks for more than there is.
    #[must_use]
    pub fn falls_short(&self, counts: &KernelCounts) -> bool {
        let (accesses, hits, insts) = (u64::from(counts.l2_accesses), u64::from(counts.l2_hits), u64::from(counts.warp_insts));
        let peak = u64::from(self.schedulers.min(MOST_SCHEDULERS)) * u64::from(self.sms);
        let sectors = accesses * u64::from(self.access_sectors.min(MOST_ACCESS_SECTORS));
        // 16 bits, 16 more, 27 and 3: below 2^62, so that its double fits.
        let asked = (peak << 16).saturating_mul(sectors);
        let bits = |rate: SectorRate| u64::from(rate.to_bits());
        if asked > bits(self.interconnect) * insts {
            return true;
        }
        let given = (2 * bits(self.l2) * hits).saturating_add(bits(self.dram) * accesses.saturating_sub(hits));
        U96::product(asked.saturating_mul(2), narrow(accesses)) > U96::product(given, narrow(insts))
    }
}

/// Whether a kernel uses more than so many thousandths, at most 1000, of the sectors that DRAM moves.
#[must_use]
pub fn utilised(counts: &KernelCounts, dram: SectorRate, threshold_permille: u32) -> bool {
    // 28, 16 and 10 bits; 32, 17 or a little more, and 10.
    let used = (u64::from(counts.dram_sectors) << 16) * 1000;
    let whole = u64::from(dram.to_bits()).saturating_mul(counts.rate().cycles().into());
    used > whole.saturating_mul(threshold_permille.into())
}

/// A count of at most 27 bits as a factor.
fn narrow(count: u64) -> mias_firmware::quantity::Count {
    mias_firmware::quantity::Count::from_bits(count as u32)
}
