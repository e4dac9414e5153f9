//! Where an image keeps its epitaph: at the start of RAM, where no reset clears it.

use core::ptr::addr_of_mut;
use core::sync::atomic::{Ordering, compiler_fence};

use mias_firmware::epitaph::Epitaph;

#[unsafe(link_section = ".epitaph")]
static mut EPITAPH: Epitaph = Epitaph::EMPTY;

/// The epitaph, as the last run left it.
///
/// # Safety
/// To be called once.
pub(crate) unsafe fn open() -> &'static mut Epitaph {
    // SAFETY: the caller's; and `bury` runs when the caller does no more.
    unsafe { &mut *addr_of_mut!(EPITAPH) }
}

/// Writes the epitaph and stops. The watchdog is on and expires: the host hears of it.
pub(crate) fn bury(cause: u32, address: u32) -> ! {
    // SAFETY: the fault ended whoever else was writing.
    let epitaph = unsafe { &mut *addr_of_mut!(EPITAPH) };
    epitaph.close(cause, address);
    loop {
        compiler_fence(Ordering::SeqCst);
    }
}
