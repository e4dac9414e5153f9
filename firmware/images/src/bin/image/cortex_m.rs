//! Cortex-M: faults, sleep, and the interrupt line. ARMv6-M and ARMv7-M alike.

use core::arch::global_asm;

use cortex_m::{asm, interrupt::InterruptNumber, peripheral::NVIC};
use cortex_m_rt::{ExceptionFrame, exception};

/// The register block's interrupt line.
#[derive(Clone, Copy)]
struct Line;

// SAFETY: the number is a constant that the processor has.
unsafe impl InterruptNumber for Line {
    fn number(self) -> u16 {
        crate::LINE
    }
}

/// Every fault becomes this one: none is enabled by itself. The exception's number is 3 (ARMv7-M, B1.5.2).
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    crate::epitaph::bury(3, frame.pc())
}

// The non-maskable interrupt: a watchdog that is wired so. The exception's number is 2; the address where it struck is the seventh
// word that the processor put on the stack (ARMv7-M, B1.5.6).
global_asm!(
    ".section .text.NonMaskableInt, \"ax\"",
    ".global NonMaskableInt",
    ".type NonMaskableInt, %function",
    ".thumb_func",
    "NonMaskableInt:",
    "mov r1, sp",
    "ldr r1, [r1, #24]",
    "movs r0, #2",
    "bl {bury}",
    ".size NonMaskableInt, . - NonMaskableInt",
    bury = sym non_maskable,
);

extern "C" fn non_maskable(cause: u32, address: u32) -> ! {
    crate::epitaph::bury(cause, address)
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
