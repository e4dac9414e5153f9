//! Generic addresses: each of shared, local and parameter memory has a window, all else is device memory. PTX ISA 7.8 section
//! 6.4.1.1 "Generic Addressing".

/// Size of a window in bytes.
const BYTES: u64 = 1 << 32;

/// Where shared memory begins among generic addresses. Assumption, as for the other windows: any place below all device memory.
pub const SHARED: u64 = 0x0001_0000_0000;
/// Where the thread's local memory begins.
pub const LOCAL: u64 = 0x0002_0000_0000;
/// Where the kernel's parameters begin.
pub const PARAM: u64 = 0x0003_0000_0000;

/// What a generic address names.
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

/// What `address` names.
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
        /// Windows do not overlap, and an address in one is the offset that was put in.
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
