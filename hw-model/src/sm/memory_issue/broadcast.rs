//! Interface between an SM and the GPU for global limits, which one SM finds for all
//! ([`GlobalLimits`](super::global_limit)).

use super::limit::Limits;
use crate::sm::Sm;

impl Sm {
    /// Maximum number of off-chip memory instructions in flight of the slot's kernel; none: no
    /// limit.
    #[cfg(test)]
    pub(crate) fn limit_in_effect(&self, slot: usize) -> Option<u8> {
        self.memory_issue.as_ref()?.limits.limit(slot as u8)
    }

    /// Limit that this SM has found, if it is monitored for the slot.
    pub(crate) fn found_limit(&self, slot: usize) -> Option<u8> {
        match &self.memory_issue.as_ref()?.limits {
            Limits::Global(limits) => limits.found(slot),
            _ => None,
        }
    }

    /// Starts or stops monitoring of the SM for the slot.
    pub(crate) fn monitor(&mut self, slot: usize, monitored: bool) {
        if let Some(gate) = &mut self.memory_issue
            && let Limits::Global(limits) = &mut gate.limits
        {
            limits.monitor(slot, monitored);
        }
    }

    /// Applies a broadcast limit before cycle `now`.
    pub(crate) fn take_limit(&mut self, slot: usize, limit: u8, now: u64) {
        if let Some(gate) = &mut self.memory_issue
            && let Limits::Global(limits) = &mut gate.limits
        {
            limits.set(slot, limit);
            self.kernels[slot].sharing_counts += 1;
            self.account_sleep(now);
            self.ask_again();
        }
    }
}
