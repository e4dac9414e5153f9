//! Program of the board: reset, a static for the scheduler, the crash records at their address, and
//! [`own_board::demo`] instead of a GPU. On the host it is the same demo in a process.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod target {
    use core::fmt::Write;
    use core::panic::PanicInfo;
    use core::ptr::addr_of_mut;

    use cortex_m_rt::{ExceptionFrame, entry, exception};
    use mias_firmware::crash_record::{CrashRecord, MAGIC};
    use own_board::Scheduler;
    use own_board::demo::demo;
    use semihosting::{io, process};

    /// Scheduler of the board, static because a stack is too small. It is all zero, so that it
    /// takes no flash.
    static mut FIRMWARE: Scheduler = Scheduler::idle();

    /// Crash records of this run and of the last run that ended in one. memory.x places them where
    /// no reset clears them.
    #[unsafe(link_section = ".crash_record")]
    static mut CRASH_RECORDS: [CrashRecord; 2] = [CrashRecord::EMPTY; 2];

    /// Entry point of the reset code.
    #[entry]
    fn main() -> ! {
        // SAFETY: `main` is called once, and only `fault`, which never returns, also uses the two
        // statics.
        let (firmware, [crash_record, last]) = unsafe { (&mut *addr_of_mut!(FIRMWARE), &mut *addr_of_mut!(CRASH_RECORDS)) };
        if crash_record.magic == MAGIC {
            *last = *crash_record;
        }
        *crash_record = CrashRecord::EMPTY;
        let said = io::stdout().map(|mut out| demo(firmware, crash_record, &mut Text(&mut out)));
        process::exit(i32::from(!matches!(said, Ok(Ok(())))))
    }

    /// Writes a crash record for a fault of the processor, with the address of the instruction. 3
    /// is the exception's number (ARMv7-M, B1.5.2).
    #[exception]
    unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
        // SAFETY: the fault has ended any other writer.
        unsafe { (*addr_of_mut!(CRASH_RECORDS))[0].close(3, frame.pc()) };
        process::exit(1)
    }

    #[panic_handler]
    fn panic(_: &PanicInfo<'_>) -> ! {
        process::exit(1)
    }

    /// Text output for the debugger.
    struct Text<'a, W>(&'a mut W);

    impl<W: io::Write> Write for Text<'_, W> {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            self.0.write_all(text.as_bytes()).map_err(|_| core::fmt::Error)
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() {
    let mut said = String::new();
    let (mut firmware, mut crash_record) = (own_board::Scheduler::idle(), mias_firmware::crash_record::CrashRecord::EMPTY);
    let told = own_board::demo::demo(&mut firmware, &mut crash_record, &mut said);
    print!("{said}");
    std::process::exit(i32::from(told.is_err()));
}
