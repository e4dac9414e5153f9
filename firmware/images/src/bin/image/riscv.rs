//! RISC-V support: exceptions, sleep, and the interrupt line, which is the core's machine external
//! interrupt. Assumption: it is wired to the core without an interrupt controller in between.

use riscv::register::{mcause, mepc, mie};

/// Handles every exception; none is expected.
#[unsafe(export_name = "ExceptionHandler")]
fn exception(_: &riscv_rt::TrapFrame) -> ! {
    crate::crash_record::record_crash(mcause::read().bits() as u32, mepc::read() as u32)
}

/// Lets the line wake the processor. Interrupts stay disabled globally, so no handler runs: the
/// main loop handles events, so that the state has one owner.
pub(crate) fn listen() {
    // SAFETY: `mstatus.MIE` is 0 after reset and is never set, so no handler can run.
    unsafe { mie::set_mext() };
}

/// Does nothing, because the line is level-triggered, and WFI samples it.
pub(crate) fn forget() {}

/// Sleeps until the line is high (privileged specification, "Wait for Interrupt": it also wakes
/// when interrupts are disabled).
pub(crate) fn sleep() {
    riscv::asm::wfi();
}

/// Spins for at least this many cycles.
pub(crate) fn spin(cycles: u32) {
    riscv::asm::delay(cycles);
}
