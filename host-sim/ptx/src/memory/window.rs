//! Generic addresses: shared, local and parameter memory have a window each, and the rest is device
//! memory (PTX ISA 7.8 section 6.4.1.1 "Generic Addressing").

/// Size of a window in bytes.
const BYTES: u64 = 1 << 32;

/// Generic address of shared memory. Assumption, as for the other windows: any address below all
/// device memory.
pub const SHARED: u64 = 0x0001_0000_0000;
/// Generic address of the thread's local memory.
pub const LOCAL: u64 = 0x0002_0000_0000;
/// Generic address of the kernel's parameters.
pub const PARAM: u64 = 0x0003_0000_0000;

/// Memory and address of a generic address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// An address in shared memory.
    Shared(u64),
    /// An address in the thread's local memory.
    Local(u64),
    /// An address in parameter memory.
    Param(u64),
    /// An address in device memory.
    Device(u64),
}

/// Resolves a generic address.
#[inline]
pub fn named(address: u64) -> Named {
    let offset = address % BYTES;
    match address - offset {
        SHARED => Named::Shared(offset),
        LOCAL => Named::Local(offset),
        PARAM => Named::Param(offset),
        _ => Named::Device(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Windows do not overlap, and an address in one returns its offset.
        #[test]
        fn every_offset_comes_back(offset in 0..BYTES) {
            prop_assert_eq!(named(SHARED + offset), Named::Shared(offset));
            prop_assert_eq!(named(LOCAL + offset), Named::Local(offset));
            prop_assert_eq!(named(PARAM + offset), Named::Param(offset));
            prop_assert_eq!(named(crate::image::CONST_BASE + offset), Named::Device(crate::image::CONST_BASE + offset));
            prop_assert_eq!(named(offset), Named::Device(offset));
        }
    }
}
