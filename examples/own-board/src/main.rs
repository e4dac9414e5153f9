//! The program of the board: reset, a static for the scheduler, the epitaphs at their address, and [`own_board::demo`] in place of a GPU. On the
//! host it is the same demo in a process.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod target {
    use core::fmt::Write;
    use core::panic::PanicInfo;
    use core::ptr::addr_of_mut;

    use cortex_m_rt::{ExceptionFrame, entry, exception};
    use mias_firmware::epitaph::{Epitaph, MAGIC};
    use own_board::Scheduler;
    use own_board::demo::demo;
    use semihosting::{io, process};

    /// Too large for a stack. All of it is zero, so that it takes no flash.
    static mut FIRMWARE: Scheduler = Scheduler::idle();

    /// This run's, and that of the last run that ended in one. Where memory.x puts them: no reset clears them.
    #[unsafe(link_section = ".epitaph")]
    static mut EPITAPHS: [Epitaph; 2] = [Epitaph::EMPTY; 2];

    /// What the reset code calls.
    #[entry]
    fn main() -> ! {
        // SAFETY: `main` is called once, and nothing else names the two but `fault`, which returns to nobody.
        let (firmware, [epitaph, last]) = unsafe { (&mut *addr_of_mut!(FIRMWARE), &mut *addr_of_mut!(EPITAPHS)) };
        if epitaph.magic == MAGIC {
            *last = *epitaph;
        }
        *epitaph = Epitaph::EMPTY;
        let said = io::stdout().map(|mut out| demo(firmware, epitaph, &mut Text(&mut out)));
        process::exit(i32::from(!matches!(said, Ok(Ok(())))))
    }

    /// A fault of the processor has the same epitaph, with the address of the instruction. 3 is the exception's number (ARMv7-M, B1.5.2).
    #[exception]
    unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
        // SAFETY: the fault ended whoever else was writing.
        unsafe { (*addr_of_mut!(EPITAPHS))[0].close(3, frame.pc()) };
        process::exit(1)
    }

    #[panic_handler]
    fn panic(_: &PanicInfo<'_>) -> ! {
        process::exit(1)
    }

    /// Text for the debugger.
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
    let (mut firmware, mut epitaph) = (own_board::Scheduler::idle(), mias_firmware::epitaph::Epitaph::EMPTY);
    let told = own_board::demo::demo(&mut firmware, &mut epitaph, &mut said);
    print!("{said}");
    std::process::exit(i32::from(told.is_err()));
}
