//! Log output of an image: a ring in memory in defmt's encoding, for a debugger or the host.
//!
//! `cargo xtask log` converts it to text. The image never waits for a reader, and the oldest bytes
//! are overwritten.

use core::ptr::addr_of_mut;

use mias_firmware::limits::LOG_BYTES;

/// Ring buffer of log output. Byte `n` is in place `n mod LOG_BYTES`.
#[repr(C)]
pub(crate) struct Ring {
    /// Bytes written so far, modulo 2^32.
    pub(crate) written: u32,
    /// The last bytes written.
    pub(crate) bytes: [u8; LOG_BYTES],
}

/// Ring buffer of the image's log, which `cargo xtask log` and debuggers find by this name.
#[unsafe(no_mangle)]
pub(crate) static mut MIAS_LOG: Ring = Ring { written: 0, bytes: [0; LOG_BYTES] };

static mut ENCODER: defmt::Encoder = defmt::Encoder::new();

#[defmt::global_logger]
struct Logger;

// SAFETY: an image has one thread of control. No fault handler or other interrupting code logs.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        // SAFETY: one thread of control.
        unsafe { (*addr_of_mut!(ENCODER)).start_frame(put) }
    }

    unsafe fn flush() {}

    unsafe fn release() {
        // SAFETY: one thread of control.
        unsafe { (*addr_of_mut!(ENCODER)).end_frame(put) }
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: one thread of control.
        unsafe { (*addr_of_mut!(ENCODER)).write(bytes, put) }
    }
}

fn put(bytes: &[u8]) {
    // SAFETY: one thread of control.
    let ring = unsafe { &mut *addr_of_mut!(MIAS_LOG) };
    for byte in bytes {
        if let Some(place) = ring.bytes.get_mut(ring.written as usize % LOG_BYTES) {
            *place = *byte;
        }
        ring.written = ring.written.wrapping_add(1);
    }
}
