//! Upper limits of a GPU file.
//!
//! They are far above any real GPU, so only a typing error reaches them (assumption). They are
//! low enough to build a GPU in bounded memory and to keep its sums within their types.

use super::check::{ConfigError, fail};
use super::ranges::{SIZES, TIMES};
use super::{AddressMap, GpuConfig, SetIndex};
use std::ops::RangeInclusive;

/// Maximum of queue lengths, latencies and DRAM timing constraints.
pub(super) const MOST: u32 = 4_096;
const AT_MOST: &str = "must be at most 4096";

/// Maximum ratio between two clocks; a core cycle simulates that many cycles of a faster domain.
const CLOCK_RATIO: u32 = 64;

/// Maximum number of lines of all L1s together, and of all L2 slices together: 512 MB of cache with
/// lines of 128 bytes.
const MOST_LINES: u64 = 1 << 22;

/// Maximum number of requests in the MSHRs of all SMs, or of all L2 slices.
const MOST_REQUESTS: u64 = 1 << 24;

/// Bits of a device address that select row, bank and column: all of 57 except those within a
/// sector, which is one atom of one channel.
pub(super) const ADDRESS_BIT: RangeInclusive<u32> = 5..=56;

/// Valid positions of the lowest channel bit. Lower bits are within a sector, and the size of a
/// channel's piece fits 32 bits.
pub(super) const CHANNEL_SHIFT: RangeInclusive<u32> = 5..=31;

impl GpuConfig {
    /// Checks the upper limits of [`GpuConfig::check`].
    pub(super) fn check_limits(&self) -> Result<(), ConfigError> {
        let clocks = &self.clocks;
        let clock = "must be within 1/64 and 64 times core_khz";
        for (key, khz) in
            [("clocks.interconnect_khz", clocks.interconnect_khz), ("clocks.l2_khz", clocks.l2_khz), ("clocks.dram_khz", clocks.dram_khz)]
        {
            if khz / CLOCK_RATIO > clocks.core_khz || clocks.core_khz / CLOCK_RATIO > khz {
                fail(key, khz, clock)?;
            }
        }
        for (key, value) in TIMES.into_iter().chain(SIZES) {
            if value(self) > MOST {
                fail(key, value(self), AT_MOST)?;
            }
        }
        self.check_products()?;
        self.check_addresses()
    }

    /// Checks limits on products of fields.
    fn check_products(&self) -> Result<(), ConfigError> {
        let (l1, l2) = (&self.l1, &self.l2);
        let (sms, slices) = (u64::from(self.sm.count), u64::from(self.dram.channels * l2.slices_per_channel));
        let product = |of: [u32; 2], times: u64| u64::from(of[0]).saturating_mul(of[1].into()).saturating_mul(times);
        if product([l1.sets, l1.ways], sms) > MOST_LINES {
            fail("l1.ways", l1.ways, "sets x ways x SMs must be at most 4194304 lines")?;
        }
        if let Some(step) = l1.carve_out.iter().find(|step| product([l1.sets, step.l1_ways], sms) > MOST_LINES) {
            fail("l1.carve_out", step.l1_ways, "sets x l1_ways x SMs must be at most 4194304 lines")?;
        }
        if product([l2.sets, l2.ways], slices) > MOST_LINES {
            fail("l2.ways", l2.ways, "sets x ways x slices must be at most 4194304 lines")?;
        }
        if product([l1.mshrs, l1.mshr_merges], sms) > MOST_REQUESTS {
            fail("l1.mshr_merges", l1.mshr_merges, "mshrs x mshr_merges x SMs must be at most 16777216")?;
        }
        if product([l2.mshrs, l2.mshr_merges], slices) > MOST_REQUESTS {
            fail("l2.mshr_merges", l2.mshr_merges, "mshrs x mshr_merges x slices must be at most 16777216")?;
        }
        Ok(())
    }

    /// Checks that the address map names valid bits, each for one purpose, and a bank for every
    /// bank number.
    fn check_addresses(&self) -> Result<(), ConfigError> {
        let AddressMap { channel_shift, row_bits, bank_bits, column_bits, index } = &self.dram.address;
        if !CHANNEL_SHIFT.contains(channel_shift) {
            fail("dram.address.channel_shift", *channel_shift, "must be 5 to 31")?;
        }
        if *index == SetIndex::Ipoly && !self.dram.channels.is_power_of_two() {
            fail("dram.channels", self.dram.channels, "must be a power of two with dram.address.index = \"ipoly\"")?;
        }
        if *index == SetIndex::Xor {
            fail("dram.address.index", self.dram.channels, "slices are spread by \"linear\" or \"ipoly\"")?;
        }
        // One fetch must lie in one row of one bank.
        let least = self.l2.sector_bytes.trailing_zeros();
        let of_rows = row_bits.iter().chain(bank_bits).map(|&bit| u32::from(bit)).min().unwrap_or(u32::MAX);
        if least > of_rows.min(*channel_shift) {
            let remedy = "what is fetched at once must lie in one row: no bit of channel, bank or row may be below those of its bytes";
            fail("l2.sector_bytes", self.l2.sector_bytes, remedy)?;
        }
        let mut seen = 0u64;
        for (key, bits) in
            [("dram.address.row_bits", row_bits), ("dram.address.bank_bits", bank_bits), ("dram.address.column_bits", column_bits)]
        {
            for &bit in bits {
                if !ADDRESS_BIT.contains(&u32::from(bit)) {
                    fail(key, bit.into(), "bits must be 5 to 56")?;
                }
                if seen >> bit & 1 == 1 {
                    fail(key, bit.into(), "a bit must be named once")?;
                }
                seen |= 1 << bit;
            }
        }
        if row_bits.len() > 32 {
            fail("dram.address.row_bits", row_bits.len() as u32, "must be at most 32 bits")?;
        }
        if 1u64 << bank_bits.len() != u64::from(self.dram.banks) {
            fail("dram.address.bank_bits", bank_bits.len() as u32, "so many bits must number exactly dram.banks")?;
        }
        Ok(())
    }
}
