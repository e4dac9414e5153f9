//! Crash record of an image, at the start of RAM, which no reset clears.

use core::ptr::addr_of_mut;
use core::sync::atomic::{Ordering, compiler_fence};

use mias_firmware::crash_record::CrashRecord;

#[unsafe(link_section = ".crash_record")]
static mut CRASH_RECORD: CrashRecord = CrashRecord::EMPTY;

/// Returns the crash record of the last run.
///
/// # Safety
/// Call it once.
pub(crate) unsafe fn open() -> &'static mut CrashRecord {
    // SAFETY: guaranteed by the caller; and `record_crash` runs only after the caller has stopped.
    unsafe { &mut *addr_of_mut!(CRASH_RECORD) }
}

/// Writes the crash record and stops. The watchdog is on and expires, which the host detects.
pub(crate) fn record_crash(cause: u32, address: u32) -> ! {
    // SAFETY: the fault has ended any other writer.
    let crash_record = unsafe { &mut *addr_of_mut!(CRASH_RECORD) };
    crash_record.close(cause, address);
    loop {
        compiler_fence(Ordering::SeqCst);
    }
}
