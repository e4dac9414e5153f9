//! The two-function bus between the driver and the register block (DESIGN.md section 3).

/// Access to the register block, whatever lies between: memory, a model in the same process, or a remote machine.
///
/// Offsets are byte offsets from the start of the map in [`crate::regs`].
pub trait Bus {
    /// Reads a register. Some reads have effects: see [`crate::regs::global::CYCLE_LOW`].
    fn read32(&mut self, offset: u32) -> u32;
    /// Writes a register.
    fn write32(&mut self, offset: u32, value: u32);
}

impl<B: Bus + ?Sized> Bus for &mut B {
    fn read32(&mut self, offset: u32) -> u32 {
        (**self).read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        (**self).write32(offset, value);
    }
}

#[cfg(target_os = "none")]
pub use mapped::MappedBus;

/// The register block in the target's address space.
#[cfg(target_os = "none")]
#[allow(unsafe_code)]
mod mapped {
    use super::Bus;
    use crate::regs::MAP_END;

    /// Volatile 32-bit accesses to a register block that is mapped at a fixed address.
    #[derive(Debug)]
    pub struct MappedBus {
        base: *mut u32,
    }

    impl MappedBus {
        /// A bus over the register block at `base`.
        ///
        /// # Safety
        /// `base` is aligned to 4 bytes, `base .. base + MAP_END` is device memory that answers 32-bit accesses, and nothing
        /// else accesses it for as long as this value lives.
        #[must_use]
        pub const unsafe fn new(base: usize) -> Self {
            Self { base: base as *mut u32 }
        }
    }

    impl Bus for MappedBus {
        fn read32(&mut self, offset: u32) -> u32 {
            if offset >= MAP_END {
                return 0;
            }
            // SAFETY: the offset is within the map, which `new`'s caller promised to be readable.
            unsafe { self.base.byte_add((offset & !3) as usize).read_volatile() }
        }

        fn write32(&mut self, offset: u32, value: u32) {
            if offset >= MAP_END {
                return;
            }
            // SAFETY: the offset is within the map, which `new`'s caller promised to be writable.
            unsafe { self.base.byte_add((offset & !3) as usize).write_volatile(value) }
        }
    }
}
