//! Cortex-M boards: time from SysTick, which under `-icount shift=8` advances by 256 ns per
//! instruction.

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::entry;

/// Picoseconds per tick: the AN386 runs at 25 MHz (6.4 ticks per instruction), the micro:bit at 16
/// MHz (4.096).
const TICK_PS: u64 = if cfg!(microbit) { 62_500 } else { 40_000 };

/// Picoseconds per instruction under `-icount shift=8`.
const INSTRUCTION_PS: u64 = 256_000;

/// Mask of the SysTick counter, which has 24 bits.
const MASK: u32 = 0xFF_FFFF;

#[entry]
fn main() -> ! {
    if let Some(mut peripherals) = cortex_m::Peripherals::take() {
        peripherals.SYST.set_clock_source(SystClkSource::Core);
        peripherals.SYST.set_reload(MASK);
        peripherals.SYST.clear_current();
        peripherals.SYST.enable_counter();
    }
    crate::measure::run()
}

/// Returns the time in ticks.
#[inline(always)]
pub(crate) fn now() -> u32 {
    SYST::get_current()
}

/// Returns the ticks from one time to a later one. SysTick counts down. They are less than 2^24
/// ticks apart, which is 2.6 or 4.1 million instructions.
pub(crate) fn ticks(from: u32, to: u32) -> u32 {
    from.wrapping_sub(to) & MASK
}

/// Converts ticks to instructions.
pub(crate) fn instructions(ticks: u32) -> u32 {
    ((u64::from(ticks) * TICK_PS + INSTRUCTION_PS / 2) / INSTRUCTION_PS) as u32
}

/// Returns the stack pointer.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    cortex_m::register::msp::read() as usize
}
