//! What a GPU file must satisfy beyond its syntax. Each error names the key, the value and the remedy.

use super::{GpuConfig, SetIndex};
use crate::cache::MOST_IPOLY_SETS;

/// A value that no machine can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: {remedy}")]
pub struct ConfigError {
    /// Dotted key of the field at fault.
    pub key: &'static str,
    /// Its value.
    pub value: u64,
    /// What to write instead.
    pub remedy: &'static str,
}

/// The error, as a result.
pub(super) fn fail(key: &'static str, value: u32, remedy: &'static str) -> Result<(), ConfigError> {
    Err(ConfigError { key, value: u64::from(value), remedy })
}

impl GpuConfig {
    /// Checks ranges and relations between fields.
    ///
    /// # Errors
    /// The first [`ConfigError`] found, in the order of the file.
    pub fn check(&self) -> Result<(), ConfigError> {
        let positive = "must be at least 1";
        let (sm, l1, l2, dram) = (&self.sm, &self.l1, &self.l2, &self.dram);
        for (key, value) in [
            ("clocks.core_khz", self.clocks.core_khz),
            ("clocks.interconnect_khz", self.clocks.interconnect_khz),
            ("clocks.l2_khz", self.clocks.l2_khz),
            ("clocks.dram_khz", self.clocks.dram_khz),
            ("sm.count", sm.count),
            ("sm.threads", sm.threads),
            ("sm.tbs", sm.tbs),
            ("sm.registers", sm.registers),
            ("sm.shared_granule_bytes", sm.shared_granule_bytes),
            ("sm.sub_cores", sm.sub_cores),
            ("sm.collector_units", sm.collector_units),
            ("sm.register_banks", sm.register_banks),
            ("l1.ways", l1.ways),
            ("interconnect.flit_bytes", self.interconnect.flit_bytes),
            ("l2.ways", l2.ways),
            ("dram.channels", dram.channels),
        ]
        .into_iter()
        .chain(self.sizes())
        {
            if value == 0 {
                fail(key, value, positive)?;
            }
        }
        for (key, value) in [
            ("l1.sets", l1.sets),
            ("l1.line_bytes", l1.line_bytes),
            ("l1.sector_bytes", l1.sector_bytes),
            ("l1.banks", l1.banks),
            ("l2.sets", l2.sets),
            ("l2.slices_per_channel", l2.slices_per_channel),
            ("l2.line_bytes", l2.line_bytes),
            ("l2.sector_bytes", l2.sector_bytes),
            ("l2.port_bytes", l2.port_bytes),
            ("dram.banks", dram.banks),
            ("dram.bank_groups", dram.bank_groups),
            ("dram.bus_bytes", dram.bus_bytes),
            ("dram.burst_beats", dram.burst_beats),
            ("dram.beats_per_cycle", dram.beats_per_cycle),
        ] {
            if !value.is_power_of_two() {
                fail(key, value, "must be a power of two")?;
            }
        }
        for (key, unit) in [
            ("sm.units.int", sm.units.int),
            ("sm.units.sp", sm.units.sp),
            ("sm.units.dp", sm.units.dp),
            ("sm.units.sfu", sm.units.sfu),
            ("sm.units.tensor", sm.units.tensor),
            ("sm.units.branch", sm.units.branch),
            ("sm.units.texture", sm.units.texture),
            ("sm.units.uniform", sm.units.uniform),
        ] {
            if unit.latency == 0 || unit.latency > 512 {
                fail(key, unit.latency, "latency must be 1 to 512 cycles")?;
            }
            if unit.interval == 0 || unit.interval > 512 {
                fail(key, unit.interval, "interval must be 1 to 512 cycles")?;
            }
        }
        if sm.count > 256 {
            fail("sm.count", sm.count, "must be at most 256: the register map has room for no more SMs")?;
        }
        if sm.threads % 32 != 0 || sm.threads > 4096 {
            fail("sm.threads", sm.threads, "must be a multiple of 32, at most 4096")?;
        }
        if sm.tbs > 64 {
            fail("sm.tbs", sm.tbs, "must be at most 64")?;
        }
        if !sm.sub_cores.is_power_of_two()
            || sm.sub_cores > 8
            || sm.collector_units % sm.sub_cores != 0
            || sm.register_banks % sm.sub_cores != 0
        {
            fail("sm.sub_cores", sm.sub_cores, "must be 1, 2, 4 or 8 and divide collector_units and register_banks")?;
        }
        if sm.threads / 32 > 32 * sm.sub_cores {
            fail("sm.sub_cores", sm.sub_cores, "a sub-core can hold at most 32 warps")?;
        }
        if sm.collector_units / sm.sub_cores > 4 {
            fail("sm.collector_units", sm.collector_units, "must be at most 4 per sub-core")?;
        }
        if !(sm.register_banks / sm.sub_cores).is_power_of_two() || sm.register_banks / sm.sub_cores > 8 {
            fail("sm.register_banks", sm.register_banks, "must be 1, 2, 4 or 8 per sub-core")?;
        }
        if l1.banks > 32 {
            fail("l1.banks", l1.banks, "must be at most 32")?;
        }
        if l1.modified_floor_percent > 100 {
            fail("l1.modified_floor_percent", l1.modified_floor_percent, "must be at most 100")?;
        }
        for (key, bytes) in [("l1.sector_bytes", l1.sector_bytes), ("l2.sector_bytes", l2.sector_bytes)] {
            if bytes != 32 {
                fail(key, bytes, "traces are coalesced to 32-byte sectors; l1 and l2 must use 32")?;
            }
        }
        for (key, bytes) in [("l1.line_bytes", l1.line_bytes), ("l2.line_bytes", l2.line_bytes)] {
            if !(32..=128).contains(&bytes) {
                fail(key, bytes, "lines of l1 and l2 must be 32 to 128 bytes")?;
            }
        }
        if l2.index == SetIndex::Ipoly && l2.sets > MOST_IPOLY_SETS {
            fail("l2.sets", l2.sets, "the ipoly index is defined for at most 4096 sets; use index = \"linear\"")?;
        }
        if self.interconnect.flit_bytes < 40 {
            let remedy = "must be at least 40, so that a sector and its header are one flit; packets of several flits are not modelled";
            fail("interconnect.flit_bytes", self.interconnect.flit_bytes, remedy)?;
        }
        if dram.bus_bytes.saturating_mul(dram.burst_beats) != 32 {
            fail("dram.burst_beats", dram.burst_beats, "bus_bytes x burst_beats must be 32, one sector per burst")?;
        }
        if dram.banks > 64 {
            fail("dram.banks", dram.banks, "must be at most 64")?;
        }
        if (l2.slices_per_channel.trailing_zeros() as usize) > dram.address.bank_bits.len() {
            fail("l2.slices_per_channel", l2.slices_per_channel, "slices are told apart by the low bank bits; name enough of them")?;
        }
        if dram.banks % dram.bank_groups != 0 {
            fail("dram.bank_groups", dram.bank_groups, "must divide dram.banks")?;
        }
        self.check_refresh()?;
        if !l1.carve_out.is_sorted_by_key(|step| step.shared_up_to_bytes) {
            fail("l1.carve_out", 0, "must be sorted by shared_up_to_bytes")?;
        }
        if let Some(step) = l1.carve_out.iter().find(|step| step.l1_ways == 0) {
            fail("l1.carve_out", step.l1_ways, "l1_ways must be at least 1")?;
        }
        self.check_sm_options()?;
        self.check_microcontroller()?;
        self.check_limits()
    }

    /// What an SM may have beside what every SM has.
    fn check_sm_options(&self) -> Result<(), ConfigError> {
        let in_range = 1..=512;
        if self.sm.texel_latency > 512 {
            fail("sm.texel_latency", self.sm.texel_latency, "must be at most 512 cycles; 0 for none")?;
        }
        if let Some(cache) = &self.sm.constant_cache {
            if !in_range.contains(&cache.latency) {
                fail("sm.constant_cache.latency", cache.latency, "must be 1 to 512 cycles")?;
            }
            if !in_range.contains(&cache.word_cycles) {
                fail("sm.constant_cache.word_cycles", cache.word_cycles, "must be 1 to 512 cycles; without the table it is perfect")?;
            }
        }
        Ok(())
    }

    /// Refresh is off, or leaves time for commands.
    fn check_refresh(&self) -> Result<(), ConfigError> {
        let t = &self.dram.timing;
        if (t.t_refi == 0) != (t.t_rfc == 0) {
            fail("dram.timing.t_refi", t.t_refi, "t_refi and t_rfc must both be given, or neither")?;
        }
        if t.t_refi != 0 && u64::from(t.t_refi) < t.least_refresh_interval() {
            let remedy = "must be at least twice the sum of t_rfc, t_rc, t_ras, t_rp, t_rcd, t_wl, t_wr, t_cl and t_cdlr";
            fail("dram.timing.t_refi", t.t_refi, remedy)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::config::SmConfig;
    use crate::hand_made::config;

    #[test]
    fn numbers_that_no_sum_could_hold_are_refused() {
        let refused = |change: fn(&mut SmConfig)| {
            let mut gpu = config();
            change(&mut gpu.sm);
            gpu.check().unwrap_err().key
        };
        assert_eq!(refused(|sm| sm.sub_cores = u32::MAX), "sm.sub_cores");
        assert_eq!(refused(|sm| sm.sub_cores = 1 << 31), "sm.sub_cores");
        assert_eq!(refused(|sm| sm.units.uniform.interval = u32::MAX), "sm.units.uniform");
        assert_eq!(config().check(), Ok(()));
    }
}
