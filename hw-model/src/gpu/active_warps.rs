//! SMs follow the register block in active warps: limits that the firmware has set, or the machine (sources.md D159).

use super::Gpu;

impl Gpu {
    /// Before a cycle: what has been set is in effect.
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
