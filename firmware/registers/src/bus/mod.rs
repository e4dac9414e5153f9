//! The two-function bus between the driver and the register block
//! (docs/explanation/architecture.md, "The contract").

mod fallible;
#[cfg(target_os = "none")]
#[allow(unsafe_code)]
mod mapped;

pub use fallible::{Error, ErrorType, Failed, TryBus, can_fail, read, write};
#[cfg(target_os = "none")]
pub use mapped::MappedBus;

use crate::sm;

/// Access to the register block through memory, a model in the same process, or a remote machine.
///
/// Offsets are byte offsets from the start of the map in [this crate](crate). A bus whose accesses
/// can fail implements [`TryBus`] instead.
pub trait Bus {
    /// Reads a register. Some reads have effects: see [`crate::global::CYCLE_LOW`].
    fn read32(&mut self, offset: u32) -> u32;
    /// Writes a register.
    fn write32(&mut self, offset: u32, value: u32);

    /// Completes all earlier accesses before any later one, and before the processor sleeps.
    ///
    /// Override this method if accesses are posted, or can overtake each other. The firmware calls
    /// it before each write of [`crate::global::COMMIT`], and before it sleeps.
    #[inline(always)]
    fn barrier(&mut self) {}

    /// Reads registers of one SM, given by their offsets within the SM's region, in that order.
    ///
    /// Override this method if the bus can locate the region once instead of once per read.
    #[inline(always)]
    fn read_sm_registers<const N: usize>(&mut self, sm: usize, registers: [u32; N]) -> [u32; N] {
        registers.map(|register| self.read32(sm::at(sm, register)))
    }

    /// Reads registers of SMs `first`, `first + step`, ... below `end`, and passes them to `each`,
    /// SM by SM.
    ///
    /// Returns the number of SMs read. A `step` of 0 counts as 1.
    #[inline(always)]
    fn read_sms<const N: usize>(
        &mut self,
        (first, step, end): (usize, usize, usize),
        registers: [u32; N],
        mut each: impl FnMut([u32; N]),
    ) -> usize {
        let sms = (first..end).step_by(step.max(1));
        sms.map(|sm| each(self.read_sm_registers(sm, registers))).count()
    }
}

impl<B: Bus> Bus for &mut B {
    fn read32(&mut self, offset: u32) -> u32 {
        (**self).read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        (**self).write32(offset, value);
    }

    fn barrier(&mut self) {
        (**self).barrier();
    }

    fn read_sm_registers<const N: usize>(&mut self, sm: usize, registers: [u32; N]) -> [u32; N] {
        (**self).read_sm_registers(sm, registers)
    }

    fn read_sms<const N: usize>(&mut self, sms: (usize, usize, usize), registers: [u32; N], each: impl FnMut([u32; N])) -> usize {
        (**self).read_sms(sms, registers, each)
    }
}
