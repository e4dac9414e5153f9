//! Crash record of an image, at the start of RAM, which no reset clears.

use core::ptr::addr_of_mut;
use core::sync::atomic::{Ordering, compiler_fence};

use mias_firmware::epitaph::Epitaph;

#[unsafe(link_section = ".epitaph")]
static mut EPITAPH: Epitaph = Epitaph::EMPTY;

/// Returns the crash record of the last run.
///
/// # Safety
/// Call it once.
pub(crate) unsafe fn open() -> &'static mut Epitaph {
    // SAFETY: guaranteed by the caller; and `bury` runs only after the caller has stopped.
    unsafe { &mut *addr_of_mut!(EPITAPH) }
}

/// Writes the crash record and stops. The watchdog is on and expires, which the host detects.
pub(crate) fn bury(cause: u32, address: u32) -> ! {
    // SAFETY: the fault has ended any other writer.
    let epitaph = unsafe { &mut *addr_of_mut!(EPITAPH) };
    epitaph.close(cause, address);
    loop {
        compiler_fence(Ordering::SeqCst);
    }
}
