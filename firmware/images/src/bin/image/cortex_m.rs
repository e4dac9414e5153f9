//! Cortex-M support: faults, sleep, and the interrupt line, for ARMv6-M and ARMv7-M.

use core::arch::global_asm;

use cortex_m::{asm, interrupt::InterruptNumber, peripheral::NVIC};
use cortex_m_rt::{ExceptionFrame, exception};

/// Interrupt line of the register block.
#[derive(Clone, Copy)]
struct Line;

// SAFETY: the number is a constant that the processor supports.
unsafe impl InterruptNumber for Line {
    fn number(self) -> u16 {
        crate::LINE
    }
}

/// Handles every fault: all escalate to this exception, because no other is enabled. The
/// exception's number is 3 (ARMv7-M, B1.5.2).
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    crate::crash_record::record_crash(3, frame.pc())
}

// The non-maskable interrupt, for a watchdog wired to it. The exception's number is 2. The
// interrupted address is the seventh word that the processor pushed (ARMv7-M, B1.5.6).
global_asm!(
    ".section .text.NonMaskableInt, \"ax\"",
    ".global NonMaskableInt",
    ".type NonMaskableInt, %function",
    ".thumb_func",
    "NonMaskableInt:",
    "mov r1, sp",
    "ldr r1, [r1, #24]",
    "movs r0, #2",
    "bl {record_crash}",
    ".size NonMaskableInt, . - NonMaskableInt",
    record_crash = sym non_maskable,
);

extern "C" fn non_maskable(cause: u32, address: u32) -> ! {
    crate::crash_record::record_crash(cause, address)
}

/// Lets the line wake the processor, without a handler: the main loop handles events, so that the
/// state has one owner. WFI also wakes for an enabled pending interrupt while PRIMASK masks its
/// handler (ARMv7-M, B1.5.19; ARMv6-M, B1.5.20).
pub(crate) fn listen() {
    cortex_m::interrupt::disable();
    // SAFETY: interrupts are disabled globally, so no handler runs.
    unsafe { NVIC::unmask(Line) };
}

/// Clears the pending state of the line. A later rise wakes the processor again.
pub(crate) fn forget() {
    NVIC::unpend(Line);
}

/// Sleeps until the line goes high; returns at once if it did since [`forget`].
pub(crate) fn sleep() {
    asm::wfi();
}

/// Spins for at least this many cycles.
pub(crate) fn spin(cycles: u32) {
    asm::delay(cycles);
}
