//! Cortex-M: reset, sleep, and the interrupt line. ARMv6-M and ARMv7-M alike.

use cortex_m::{asm, interrupt::InterruptNumber, peripheral::NVIC};
use cortex_m_rt::{ExceptionFrame, entry, exception};

/// Where the register block is mapped: the start of the vendor's external-device region of the ARMv7-M memory map.
/// Assumption; a real chip would have its own address.
pub(crate) const REGISTERS: usize = 0xA000_0000;

/// SEVONPEND in the system control register (ARMv7-M, B3.2.7; ARMv6-M, B3.2.7): a pending interrupt wakes WFE even when it is
/// disabled.
const SEVONPEND: u32 = 1 << 4;

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

/// Lets the line wake the processor. It runs no handler: the main loop does, so that the state has one owner.
pub(crate) fn listen() {
    if let Some(peripherals) = cortex_m::Peripherals::take() {
        // SAFETY: sets one bit that changes nothing but what wakes the processor.
        unsafe { peripherals.SCB.scr.modify(|bits| bits | SEVONPEND) };
    }
}

/// Forgets that the line was high. What raises it from here on wakes the processor again.
pub(crate) fn forget() {
    NVIC::unpend(Line);
}

/// Sleeps until the line goes high; returns at once if it did since [`forget`].
pub(crate) fn sleep() {
    asm::wfe();
}
