//! Order of DRAM requests on the channels, as set in the register block (sources.md D187).

use super::Gpu;

impl Gpu {
    /// Passes a changed order to the channels before a cycle. They apply it from the second cycle
    /// after this one.
    pub(super) fn follow_dram_order(&mut self) {
        if let Some(settings) = self.registers.take_dram_order() {
            self.memory.set_dram_order(settings);
        }
    }
}
