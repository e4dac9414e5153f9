//! Access to the device registers of a board, by address.

use core::ptr;

/// Reads a device register of its own width, which only the image uses.
pub(crate) fn read<T>(register: usize) -> T {
    // SAFETY: the boards use only registers that exist, each with its width.
    unsafe { ptr::read_volatile(register as *const T) }
}

/// Writes a device register of its own width.
pub(crate) fn write<T>(register: usize, value: T) {
    // SAFETY: as for `read`.
    unsafe { ptr::write_volatile(register as *mut T, value) };
}
