//! Demand of a TB on an SM, after rounding to the GPU's allocation granules (sources.md D13 and
//! D14).
//!
//! The firmware has its own arithmetic for the same question; a cross-crate test compares both.
//! This is the hardware's bookkeeping, which refuses every TB that does not fit.

use crate::config::SmConfig;
use mias_warp_trace::{KernelInfo, WARP_LANES};

/// Threads, registers, bytes of shared memory and TB slots: a TB's demand, or an SM's free
/// resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Number of thread slots, in whole warps.
    pub threads: u32,
    /// Number of 32-bit registers.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Number of TB slots.
    pub tbs: u32,
}

impl Resources {
    /// Total resources of an SM.
    pub fn of_sm(sm: &SmConfig) -> Self {
        Resources { threads: sm.threads, registers: sm.registers, shared_bytes: sm.shared_bytes, tbs: sm.tbs }
    }

    /// Demand of one TB. It saturates for oversized launches, which then do not fit.
    pub fn of_tb(kernel: &KernelInfo, sm: &SmConfig) -> Self {
        let threads = kernel.threads().checked_next_multiple_of(WARP_LANES).unwrap_or(u32::MAX);
        let per_thread = kernel.registers_per_thread.checked_next_multiple_of(sm.register_granule).unwrap_or(u32::MAX);
        let shared_bytes = kernel.shared_bytes.checked_next_multiple_of(sm.shared_granule_bytes).unwrap_or(u32::MAX);
        Resources { threads, registers: threads.saturating_mul(per_thread), shared_bytes, tbs: 1 }
    }

    /// True if `demand` fits into `self`.
    pub fn fits(&self, demand: &Resources) -> bool {
        self.lacking(demand).is_none()
    }

    /// First resource that `demand` exceeds, with the amounts needed and available.
    pub fn lacking(&self, demand: &Resources) -> Option<(&'static str, u32, u32)> {
        [
            ("threads", demand.threads, self.threads),
            ("registers", demand.registers, self.registers),
            ("bytes of shared memory", demand.shared_bytes, self.shared_bytes),
            ("TB slots", demand.tbs, self.tbs),
        ]
        .into_iter()
        .find(|&(_, asked, had)| asked > had)
    }

    /// Number of TBs of `demand` that fit into `self`.
    pub fn count(&self, demand: &Resources) -> u32 {
        let per = |had: u32, asked: u32| had.checked_div(asked).unwrap_or(u32::MAX);
        per(self.threads, demand.threads)
            .min(per(self.registers, demand.registers))
            .min(per(self.shared_bytes, demand.shared_bytes))
            .min(per(self.tbs, demand.tbs))
    }

    pub(super) fn take(&mut self, demand: &Resources) {
        self.threads -= demand.threads;
        self.registers -= demand.registers;
        self.shared_bytes -= demand.shared_bytes;
        self.tbs -= demand.tbs;
    }

    pub(super) fn give_back(&mut self, demand: &Resources) {
        self.threads += demand.threads;
        self.registers += demand.registers;
        self.shared_bytes += demand.shared_bytes;
        self.tbs += demand.tbs;
    }
}
