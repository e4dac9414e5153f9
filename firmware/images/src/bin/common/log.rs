//! Where the logs of an image go: a ring in memory, as defmt encodes them, which a debugger or the host reads. `cargo xtask log`
//! makes text of it. Nothing waits for a reader; the oldest bytes are overwritten.

use core::ptr::addr_of_mut;

use mias_firmware::limits::LOG_BYTES;

/// The ring. Byte `n` is in place `n mod LOG_BYTES`.
#[repr(C)]
pub(crate) struct Ring {
    /// Bytes written so far, modulo 2^32.
    pub(crate) written: u32,
    /// The last of them.
    pub(crate) bytes: [u8; LOG_BYTES],
}

/// The name is where `cargo xtask log` and a debugger look.
#[unsafe(no_mangle)]
pub(crate) static mut MIAS_LOG: Ring = Ring { written: 0, bytes: [0; LOG_BYTES] };

static mut ENCODER: defmt::Encoder = defmt::Encoder::new();

#[defmt::global_logger]
struct Logger;

// SAFETY: an image has one thread of control, and neither its fault handlers nor anything else that could interrupt it logs.
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
