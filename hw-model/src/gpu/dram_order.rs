//! Channels follow the register block in which DRAM request is next (sources.md D187).

use super::Gpu;

impl Gpu {
    /// Before a cycle: channels are told of the order that the firmware has set, and serve requests in it from the second cycle after this.
    pub(super) fn follow_dram_order(&mut self) {
        if let Some(settings) = self.registers.take_dram_order() {
            self.memory.set_dram_order(settings);
        }
    }
}
