//! What the whole GPU asks of an SM and tells it, where limits are found on one SM for all ([`GlobalLimits`](super::global_limit)).

use super::limit::Limits;
use crate::sm::Sm;

impl Sm {
    /// How many off-chip memory instructions of the slot's kernel may be in flight; none: any number.
    #[cfg(test)]
    pub(crate) fn limit_in_effect(&self, slot: usize) -> Option<u8> {
        self.memory_issue.as_ref()?.limits.limit(slot as u8)
    }

    /// The limit that this SM has found, if it is monitored for the slot.
    pub(crate) fn found_limit(&self, slot: usize) -> Option<u8> {
        match &self.memory_issue.as_ref()?.limits {
            Limits::Global(limits) => limits.found(slot),
            _ => None,
        }
    }

    /// The SM is monitored for the slot from now on, or is not.
    pub(crate) fn monitor(&mut self, slot: usize, monitored: bool) {
        if let Some(gate) = &mut self.memory_issue
            && let Limits::Global(limits) = &mut gate.limits
        {
            limits.monitor(slot, monitored);
        }
    }

    /// A limit reaches the SM before cycle `now`.
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
