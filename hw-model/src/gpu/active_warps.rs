//! Limits of active warps on the SMs, as the firmware or the GPU file sets them in the register
//! block (sources.md D159).

use super::Gpu;

impl Gpu {
    /// Applies changed limits before a cycle.
    pub(super) fn follow_active_warps(&mut self) {
        if self.warps_generation == self.registers.active_warps_generation() {
            return;
        }
        self.warps_generation = self.registers.active_warps_generation();
        for sm in 0..self.sms.len() {
            let limits = self.registers.active_warps(sm);
            if self.sms[sm].limit_warps(limits, self.now) {
                self.sms.wake(sm, self.now);
            }
        }
    }
}
