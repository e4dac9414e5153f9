//! The board's watchdog in the place of the register block's. QEMU has one on the mps2-an386 only.
//!
//! Registers: "Cortex-M System Design Kit Technical Reference Manual", ARM DDI 0479, section 4.5; address: application note AN386,
//! table 3-3. It strikes twice: first a non-maskable interrupt, and a reset one period later.

/// Ticks of 40 ns until it strikes: assumption, four times the longest work of the rehearsal in instructions.
pub(crate) const PERIOD: u32 = 1 << 20;

/// Starts and feeds it; 0 turns it off.
#[cfg(all(target_arch = "arm", not(microbit)))]
pub(crate) fn set(period: u32) {
    use crate::mmio::write;

    const LOAD: usize = 0x4000_8000;
    const CONTROL: usize = LOAD + 0x08;
    /// Whatever is written clears the interrupt and reloads the counter.
    const CLEAR: usize = LOAD + 0x0C;
    /// Interrupt and reset.
    const ON: u32 = 0b11;

    // QEMU's counts on while it is off, by the host's clock as long as the image sleeps: it gets a period that outlasts every sleep, and
    // what it remembers of having reached zero is cleared, without which it would strike at once when it is on again.
    if period == 0 {
        write(CONTROL, 0_u32);
        write(LOAD, u32::MAX);
    } else {
        write(LOAD, period);
        write(CLEAR, 1_u32);
        write(CONTROL, ON);
    }
}

/// There is none.
#[cfg(any(not(target_arch = "arm"), microbit))]
pub(crate) fn set(_: u32) {}
