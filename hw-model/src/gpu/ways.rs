//! Ownership of ways and shares of miss resources in the caches, as set in the register block, and
//! counts of their utility monitors (sources.md D138 and D176).

use super::Gpu;
use crate::config::PartitionConfig;
use crate::sm::KERNEL_SLOTS;

impl Gpu {
    /// Applies the ways and weights of the firmware before a cycle; on SMs from this cycle on.
    pub(super) fn follow_ways(&mut self) {
        if let Some(weights) = self.registers.take_miss_weights() {
            for sm in 0..self.sms.len() {
                self.sms[sm].weigh_misses(weights);
                self.sms.wake(sm, self.now);
            }
        }
        if !self.registers.take_ways_written() {
            return;
        }
        for sm in 0..self.sms.len() {
            if let Some(ways) = self.registers.take_l1_ways(sm) {
                self.sms[sm].set_l1_ways(ways, self.now);
                self.sms.wake(sm, self.now);
            }
        }
        if let Some(ways) = self.registers.take_l2_ways() {
            self.memory.set_l2_ways(ways);
        }
    }

    /// Loads the counts of the monitors into the register block, if there are any. SMs must be
    /// [settled](crate::sm::Sm::settle).
    pub(super) fn load_monitors(&mut self) {
        let watches = |partition: &Option<PartitionConfig>| partition.as_ref().is_some_and(PartitionConfig::watches);
        if watches(&self.config.l1.partition) {
            for sm in 0..self.sms.len() {
                for slot in 0..KERNEL_SLOTS {
                    self.registers.load_l1_monitor(sm, slot, self.sms[sm].l1_monitor_hits(slot));
                }
            }
        }
        if watches(&self.config.l2.partition) {
            let mut sum = Vec::new();
            for slot in 0..KERNEL_SLOTS {
                self.memory.monitor_hits(slot, &mut sum);
                self.registers.load_l2_monitor(slot, &sum);
            }
        }
    }
}
