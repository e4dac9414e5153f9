//! Watchdog of the board, used as that of the register block. QEMU has one on the mps2-an386 only.
//!
//! Registers: "Cortex-M System Design Kit Technical Reference Manual", ARM DDI 0479, section 4.5;
//! address: application note AN386, table 3-3. It fires twice: first a non-maskable interrupt, and
//! a reset one period later.

/// Ticks of 40 ns until the watchdog fires. Assumption: four times the longest work of the
/// rehearsal in instructions.
pub(crate) const PERIOD: u32 = 1 << 20;

/// Starts and feeds the watchdog; 0 turns it off.
#[cfg(all(target_arch = "arm", not(microbit)))]
pub(crate) fn set(period: u32) {
    use crate::mmio::write;

    const LOAD: usize = 0x4000_8000;
    const CONTROL: usize = LOAD + 0x08;
    /// Address of the register that clears the interrupt and reloads the counter at any write.
    const CLEAR: usize = LOAD + 0x0C;
    /// Value of the control register with interrupt and reset enabled.
    const ON: u32 = 0b11;

    // QEMU's watchdog continues counting while it is off, by the host's clock during the image's
    // sleep. It therefore gets a period longer than every sleep, and its expired state is cleared.
    // Otherwise it would fire at once when it is turned on again.
    if period == 0 {
        write(CONTROL, 0_u32);
        write(LOAD, u32::MAX);
    } else {
        write(LOAD, period);
        write(CLEAR, 1_u32);
        write(CONTROL, ON);
    }
}

/// Does nothing on boards without a watchdog.
#[cfg(any(not(target_arch = "arm"), microbit))]
pub(crate) fn set(_: u32) {}
