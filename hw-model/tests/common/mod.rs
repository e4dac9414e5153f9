//! What the tests of the register block share.

use mias_hw_model::register_block::{MachineDescription, Straps};
use mias_registers::feature;

/// A machine of `sms` SMs like those of the reference machine.
pub(crate) fn machine(sms: usize, straps: Straps) -> MachineDescription {
    MachineDescription {
        sm_count: sms as u32,
        slot_count: 8,
        sm_threads: 1024,
        sm_registers: 65_536,
        sm_shared_bytes: 65_536,
        sm_tbs: 32,
        warp_threads: 32,
        register_granule: 4,
        shared_granule_bytes: 1,
        linear_coefficient_q16: 1 << 12,
        sm_schedulers: 4,
        reply_sectors_q16: 24 << 16,
        dram_sectors_q16: 8 << 16,
        l2_sectors_q16: 24 << 16,
        l2_access_bytes: 32,
        sm_wake_cycles: 0,
        features: feature::IDEAL_TRANSITION,
        straps,
    }
}
