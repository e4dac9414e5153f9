//! Checks of a GPU file beyond its syntax. Each error names the key, the value and the remedy.

use super::limits::MOST;
use super::ranges::{
    AT_MOST, AtMost, FETCHED, LEAST_FLIT_BYTES, LEAST_WHOLE_FLIT_BYTES, LINE_BYTES, MOST_HEADER_BYTES, MOST_SUB_CORES, MOST_THREADS,
    POSITIVE, POWERS_OF_TWO, SECTOR_BYTES, SELECTOR, SIZES, UNIT_CYCLES, UNITS, WARP, WARP_STATE,
};
use super::{
    GpuConfig, L1Write, L2WriteMiss, SetIndex, active_warps, dram_scheduler, memory_issue, oversubscription, partition, power_gating,
    texture,
};
use mias_registers::preempt::MAX_PLACES;

/// Number of misses that a fetching write may make at once.
pub(crate) const LEAST_FETCHING_MISS_QUEUE: u32 = 3;

/// Invalid value of a GPU file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: {remedy}")]
pub struct ConfigError {
    /// Dotted key of the invalid field.
    pub key: &'static str,
    /// Value found.
    pub value: u64,
    /// Valid values.
    pub remedy: &'static str,
}

/// Returns the error as a result.
pub(super) fn fail(key: &'static str, value: u32, remedy: &'static str) -> Result<(), ConfigError> {
    Err(ConfigError { key, value: u64::from(value), remedy })
}

impl GpuConfig {
    /// Checks ranges and relations between fields.
    ///
    /// # Errors
    /// The first [`ConfigError`] found, in the order of the file.
    pub fn check(&self) -> Result<(), ConfigError> {
        let (sm, l1, l2, dram) = (&self.sm, &self.l1, &self.l2, &self.dram);
        for (key, value) in POSITIVE.into_iter().chain(SIZES) {
            if value(self) == 0 {
                fail(key, 0, "must be at least 1")?;
            }
        }
        for (key, value) in POWERS_OF_TWO {
            if !value(self).is_power_of_two() {
                fail(key, value(self), "must be a power of two")?;
            }
        }
        for (key, unit) in UNITS {
            let unit = unit(self);
            if !UNIT_CYCLES.contains(&unit.latency) {
                fail(key, unit.latency, "latency must be 1 to 512 cycles")?;
            }
            if !UNIT_CYCLES.contains(&unit.interval) {
                fail(key, unit.interval, "interval must be 1 to 512 cycles")?;
            }
        }
        for AtMost { field: (key, value), most, remedy } in AT_MOST {
            if value(self) > most {
                fail(key, value(self), remedy)?;
            }
        }
        if sm.threads % WARP != 0 || sm.threads > MOST_THREADS {
            fail("sm.threads", sm.threads, "must be a multiple of 32, at most 4096")?;
        }
        if !sm.sub_cores.is_power_of_two()
            || sm.sub_cores > MOST_SUB_CORES
            || sm.collector_units % sm.sub_cores != 0
            || sm.register_banks % sm.sub_cores != 0
        {
            fail("sm.sub_cores", sm.sub_cores, "must be 1, 2, 4 or 8 and divide collector_units and register_banks")?;
        }
        if sm.threads / WARP > 32 * sm.sub_cores {
            fail("sm.sub_cores", sm.sub_cores, "a sub-core can hold at most 32 warps")?;
        }
        if sm.collector_units / sm.sub_cores > 4 {
            fail("sm.collector_units", sm.collector_units, "must be at most 4 per sub-core")?;
        }
        if !(sm.register_banks / sm.sub_cores).is_power_of_two() || sm.register_banks / sm.sub_cores > 8 {
            fail("sm.register_banks", sm.register_banks, "must be 1, 2, 4 or 8 per sub-core")?;
        }
        for (key, bytes) in [("l1.line_bytes", l1.line_bytes), ("l2.line_bytes", l2.line_bytes)] {
            if !LINE_BYTES.contains(&bytes) {
                fail(key, bytes, "lines of l1 and l2 must be 32 to 128 bytes")?;
            }
        }
        self.check_caches()?;
        let net = &self.interconnect;
        if net.header_bytes == 0 && net.flit_bytes < LEAST_WHOLE_FLIT_BYTES {
            let remedy = "must be at least 40, so that a sector and its header are one flit; with header_bytes packets are several flits";
            fail("interconnect.flit_bytes", net.flit_bytes, remedy)?;
        }
        if net.header_bytes > MOST_HEADER_BYTES {
            fail("interconnect.header_bytes", net.header_bytes, "must be at most 64 bytes; 0 for packets of one flit")?;
        }
        if net.flit_bytes < LEAST_FLIT_BYTES {
            fail("interconnect.flit_bytes", net.flit_bytes, "must be at least 8 bytes")?;
        }
        if dram.bus_bytes.saturating_mul(dram.burst_beats) != SECTOR_BYTES {
            fail("dram.burst_beats", dram.burst_beats, "bus_bytes x burst_beats must be 32, one sector per burst")?;
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
        if let Some((key, value, must)) = partition::refused(self) {
            fail(key, value, must)?;
        }
        if let Some((key, value, must)) = dram.scheduler.as_ref().and_then(dram_scheduler::refused) {
            fail(key, value, must)?;
        }
        self.check_microcontroller()?;
        self.check_limits()
    }

    /// Checks relations between the two caches.
    fn check_caches(&self) -> Result<(), ConfigError> {
        let (l1, l2) = (&self.l1, &self.l2);
        for (key, sector, line) in
            [("l1.sector_bytes", l1.sector_bytes, l1.line_bytes), ("l2.sector_bytes", l2.sector_bytes, l2.line_bytes)]
        {
            if sector != SECTOR_BYTES && sector != line {
                fail(key, sector, "must be 32, or line_bytes for a cache without sectors")?;
            }
        }
        if l1.sector_bytes != l2.sector_bytes {
            fail("l2.sector_bytes", l2.sector_bytes, "must be that of the l1: one fetches what the other asks for")?;
        }
        if l1.sector_bytes != SECTOR_BYTES && l1.write != L1Write::Evict {
            fail("l1.sector_bytes", l1.sector_bytes, "without sectors l1.write must be \"evict\": no line keeps single bytes")?;
        }
        if l2.sector_bytes != SECTOR_BYTES && l2.write_miss != L2WriteMiss::Fetch {
            fail("l2.sector_bytes", l2.sector_bytes, "without sectors l2.write_miss must be \"fetch\": no line keeps single bytes")?;
        }
        if l2.write_miss == L2WriteMiss::Fetch && l2.miss_queue < LEAST_FETCHING_MISS_QUEUE {
            fail(
                "l2.miss_queue",
                l2.miss_queue,
                "must be at least 3 with write_miss = \"fetch\": the write, what it fetches and what leaves",
            )?;
        }
        for (key, index, sets) in [("l1.sets", l1.index, l1.sets), ("l2.sets", l2.index, l2.sets)] {
            if index == SetIndex::Ipoly && sets > SetIndex::MOST_IPOLY_SETS {
                fail(key, sets, "the ipoly index is defined for at most 4096 sets; use index = \"linear\"")?;
            }
            if index == SetIndex::Xor && !SetIndex::XOR_SETS.contains(&sets) {
                fail(key, sets, "the xor index is defined for 32 and 64 sets; use index = \"ipoly\"")?;
            }
        }
        for (key, index, line) in [("l1.line_bytes", l1.index, l1.line_bytes), ("l2.line_bytes", l2.index, l2.line_bytes)] {
            if index == SetIndex::Xor && line != SetIndex::XOR_LINE_BYTES {
                fail(key, line, "the xor index is defined for lines of 128 bytes; use index = \"ipoly\"")?;
            }
        }
        Ok(())
    }

    /// Checks the optional parts of an SM.
    fn check_sm_options(&self) -> Result<(), ConfigError> {
        if let Some(cache) = &self.sm.constant_cache {
            if !UNIT_CYCLES.contains(&cache.latency) {
                fail("sm.constant_cache.latency", cache.latency, "must be 1 to 512 cycles")?;
            }
            if !UNIT_CYCLES.contains(&cache.word_cycles) {
                fail("sm.constant_cache.word_cycles", cache.word_cycles, "must be 1 to 512 cycles; without the table it is perfect")?;
            }
        }
        if let Some((key, value, must)) = self.sm.memory_issue.as_ref().and_then(memory_issue::refused) {
            fail(key, value, must)?;
        }
        if let Some((key, value, must)) = active_warps::refused(&self.sm.active_warps) {
            fail(key, value, must)?;
        }
        if let Some((key, value, must)) = oversubscription::refused(self) {
            fail(key, value, must)?;
        }
        if let Some((key, value, must)) = texture::refused(self) {
            fail(key, value, must)?;
        }
        if let Some((key, value, must)) = self.sm.power_gating.as_ref().and_then(power_gating::refused) {
            fail(key, value, must)?;
        }
        if let Some(preemption) = &self.sm.preemption {
            if self.sm.tbs > MAX_PLACES as u32 {
                fail("sm.tbs", self.sm.tbs, "must be at most 32 on SMs that preempt: sets of victims have 32 bits")?;
            }
            if !WARP_STATE.contains(&preemption.warp_state_bytes) || preemption.warp_state_bytes % SECTOR_BYTES != 0 {
                fail("sm.preemption.warp_state_bytes", preemption.warp_state_bytes, "must be a multiple of 32, at most 4096 bytes")?;
            }
            for (key, cycles) in preemption.selector.iter().flat_map(|selector| SELECTOR.map(|(key, cycles)| (key, cycles(selector)))) {
                if cycles > MOST {
                    fail(key, cycles, "must be at most 4096 cycles; without the table the firmware chooses")?;
                }
            }
        }
        if let Some(fetch) = &self.sm.fetch {
            if !FETCHED.contains(&fetch.warps_per_cycle) {
                fail("sm.fetch.warps_per_cycle", fetch.warps_per_cycle, "must be 1 to 32 warps; without the table fetch is ideal")?;
            }
            if !FETCHED.contains(&fetch.buffer) {
                fail("sm.fetch.buffer", fetch.buffer, "must be 1 to 32 instructions; without the table fetch is ideal")?;
            }
        }
        Ok(())
    }

    /// Checks that refresh is off or leaves time for commands.
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
