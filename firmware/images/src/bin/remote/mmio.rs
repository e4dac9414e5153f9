//! Registers of a board's devices, by address.

use core::ptr;

/// Reads a register of one of the board's devices, of its own width, which the image alone uses.
pub(crate) fn read<T>(register: usize) -> T {
    // SAFETY: the boards name only registers that they have, each with its width.
    unsafe { ptr::read_volatile(register as *const T) }
}

/// Writes such a register.
pub(crate) fn write<T>(register: usize, value: T) {
    // SAFETY: as for `read`.
    unsafe { ptr::write_volatile(register as *mut T, value) };
}
