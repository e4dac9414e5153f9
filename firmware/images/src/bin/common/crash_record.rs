//! Crash record of an image, at the start of RAM, which no reset clears.

use core::mem::MaybeUninit;
use core::ptr::addr_of_mut;
use core::sync::atomic::{Ordering, compiler_fence};

use mias_firmware::crash_record::{CrashRecord, MAGIC};

/// Uninitialized after power-on, and the last run's record after a reset. The debugger and the host
/// read it, so the compiler must assume that all writes are seen.
#[used]
#[unsafe(link_section = ".crash_record")]
static mut CRASH_RECORD: MaybeUninit<CrashRecord> = MaybeUninit::uninit();

/// Returns the crash record, cleared, after a call of `last` with that of the last run.
///
/// # Safety
/// Call it once.
pub(crate) unsafe fn open(last: impl FnOnce(*const CrashRecord)) -> &'static mut CrashRecord {
    let record = addr_of_mut!(CRASH_RECORD).cast::<CrashRecord>();
    last(record);
    // SAFETY: the memory exists and is aligned, any words are a valid record, and nothing else
    // accesses it: the caller calls once, and `record_crash` ends the program.
    unsafe {
        record.write_volatile(CrashRecord::EMPTY);
        &mut *record
    }
}

/// Writes the crash record and stops. If the watchdog is on, it expires, which the host detects. It
/// is on from the first answer of the register block, except during sleep.
pub(crate) fn record_crash(cause: u32, address: u32) -> ! {
    let record = addr_of_mut!(CRASH_RECORD).cast::<CrashRecord>();
    // SAFETY: as above, and the fault has ended any other writer. `magic` is last, so that it marks
    // a complete record.
    unsafe {
        (&raw mut (*record).cause).write_volatile(cause);
        (&raw mut (*record).address).write_volatile(address);
        (&raw mut (*record).magic).write_volatile(MAGIC);
    }
    loop {
        compiler_fence(Ordering::SeqCst);
    }
}
