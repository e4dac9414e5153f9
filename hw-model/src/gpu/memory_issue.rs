//! Memory issue of the SMs: modes and limits that the firmware has set, and peaks that it has read
//! (sources.md D127).

use super::Gpu;

impl Gpu {
    /// Applies the firmware's settings before a cycle.
    pub(super) fn follow_memory_issue(&mut self) {
        if self.memory_generation == self.registers.memory_generation() {
            return;
        }
        self.memory_generation = self.registers.memory_generation();
        let mut anew = false;
        for sm in 0..self.sms.len() {
            let settings = self.registers.memory_settings(sm);
            if let Some(begins) = self.sms[sm].steer_memory(&settings, self.now) {
                anew |= begins;
                self.sms.wake(sm, self.now);
            }
        }
        if anew && let Some(limits) = &mut self.global_limits {
            limits.restart();
        }
    }

    /// Restarts the peaks that the register block has latched.
    pub(super) fn take_latched(&mut self) {
        for sm in 0..self.sms.len() {
            let slots = self.registers.take_latched(sm);
            if slots != 0 {
                self.sms[sm].memory_latched(slots);
            }
        }
    }

    /// Resets the counts and limits of a slot for a new kernel.
    pub(super) fn count_anew(&mut self, slot: usize) {
        self.load_counters();
        self.registers.kernel_counted_anew(slot, self.now);
        self.registers.memory_kernel_placed(slot);
        self.registers.active_warps_kernel_placed(slot);
        self.take_latched();
    }
}
