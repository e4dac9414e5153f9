//! RISC-V: exceptions, sleep, and the interrupt line, which is the core's machine external interrupt. Assumption: it is wired to
//! the core without an interrupt controller in between.

use riscv::register::{mcause, mepc, mie};

/// Every exception: none is expected.
#[unsafe(export_name = "ExceptionHandler")]
fn exception(_: &riscv_rt::TrapFrame) -> ! {
    crate::epitaph::bury(mcause::read().bits() as u32, mepc::read() as u32)
}

/// Lets the line wake the processor. Interrupts stay disabled as a whole, so it runs no handler: the main loop does, so that
/// the state has one owner.
pub(crate) fn listen() {
    // SAFETY: `mstatus.MIE` is 0 after reset and stays so: no handler can run.
    unsafe { mie::set_mext() };
}

/// Nothing to forget: the line is a level, and WFI looks at it.
pub(crate) fn forget() {}

/// Sleeps until the line is high (privileged specification, "Wait for Interrupt": it wakes also when interrupts are disabled).
pub(crate) fn sleep() {
    riscv::asm::wfi();
}

/// Does nothing for this many cycles, or longer.
pub(crate) fn spin(cycles: u32) {
    riscv::asm::delay(cycles);
}
