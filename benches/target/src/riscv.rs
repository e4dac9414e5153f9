//! The RISC-V board: time from `mcycle`, which QEMU advances by 256 per instruction under `-icount
//! shift=8`.

use riscv_rt::entry;

#[entry]
fn main() -> ! {
    crate::measure::run()
}

/// Returns the time in ticks.
#[inline(always)]
pub(crate) fn now() -> u32 {
    riscv::register::mcycle::read() as u32
}

/// Returns the ticks from one time to a later one, less than 2^32 ticks apart, which is 16 million
/// instructions.
pub(crate) fn ticks(from: u32, to: u32) -> u32 {
    to.wrapping_sub(from)
}

/// Converts ticks to instructions.
pub(crate) fn instructions(ticks: u32) -> u32 {
    (ticks + 128) / 256
}

/// Returns the stack pointer.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: copies a register.
    unsafe { core::arch::asm!("mv {}, sp", out(reg) pointer, options(nomem, nostack)) };
    pointer
}
