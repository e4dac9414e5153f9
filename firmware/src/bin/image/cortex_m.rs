//! Cortex-M: reset, sleep, and the interrupt line. ARMv6-M and ARMv7-M alike.

use cortex_m::{asm, interrupt::InterruptNumber, peripheral::NVIC};
use cortex_m_rt::{ExceptionFrame, entry, exception};

/// Where the register block is mapped: the start of the vendor's external-device region of the ARMv7-M memory map.
/// Assumption; a real chip would have its own address.
pub(crate) const REGISTERS: usize = 0xA000_0000;

/// The register block's interrupt line. Assumption: line 0.
#[derive(Clone, Copy)]
struct Line;

// SAFETY: the number is a constant that the processor has.
unsafe impl InterruptNumber for Line {
    fn number(self) -> u16 {
        0
    }
}

#[entry]
fn main() -> ! {
    crate::target::run()
}

/// Every fault becomes this one: none is enabled by itself. The exception's number is 3 (ARMv7-M, B1.5.2).
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    crate::target::bury(3, frame.pc())
}

/// Lets the line wake the processor. It runs no handler: the main loop does, so that the state has one owner. WFI wakes for an
/// interrupt that is enabled and pending also while PRIMASK keeps its handler from running (ARMv7-M, B1.5.19; ARMv6-M, B1.5.20).
pub(crate) fn listen() {
    cortex_m::interrupt::disable();
    // SAFETY: interrupts are disabled as a whole: no handler runs.
    unsafe { NVIC::unmask(Line) };
}

/// Forgets that the line was high. What raises it from here on wakes the processor again.
pub(crate) fn forget() {
    NVIC::unpend(Line);
}

/// Sleeps until the line goes high; returns at once if it did since [`forget`].
pub(crate) fn sleep() {
    asm::wfi();
}

/// Does nothing for this many cycles, or longer.
pub(crate) fn spin(cycles: u32) {
    asm::delay(cycles);
}
