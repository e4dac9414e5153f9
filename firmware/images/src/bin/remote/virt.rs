//! QEMU's virt with a 32-bit RISC-V core: a 16550 UART, its interrupt through the platform's
//! interrupt controller. Registers: PC16550D data sheet, section 8; "RISC-V Platform-Level
//! Interrupt Controller" 1.0, section 3; addresses: the machine's device tree.

use mias_registers::remote::Line;
use riscv::register::mie;

use crate::mmio::{read, write};

const UART: usize = 0x1000_0000;
const DATA: usize = UART;
const INT_ENABLE: usize = UART + 1;
const LINE_STATUS: usize = UART + 5;

const RECEIVED: u8 = 1 << 0;
const TRANSMIT_EMPTY: u8 = 1 << 5;

/// Number of the UART's source at the interrupt controller.
const SOURCE: usize = 10;
const PLIC: usize = 0x0C00_0000;
const PRIORITY: usize = PLIC + 4 * SOURCE;
/// Enabled sources, threshold and claim of hart 0 in machine mode.
const ENABLED: usize = PLIC + 0x2000;
const THRESHOLD: usize = PLIC + 0x20_0000;
const CLAIM: usize = PLIC + 0x20_0004;

/// Serial port of the board.
pub(crate) struct SerialPort(());

impl SerialPort {
    pub(crate) fn open() -> Self {
        write(INT_ENABLE, RECEIVED);
        write(PRIORITY, 1_u32);
        write(ENABLED, 1_u32 << SOURCE);
        write(THRESHOLD, 0_u32);
        // SAFETY: `mstatus.MIE` is 0 after reset and is never set. No handler runs, and a pending
        // interrupt only ends WFI.
        unsafe { mie::set_mext() };
        SerialPort(())
    }

    /// Returns whether a byte has arrived.
    pub(crate) fn waiting() -> bool {
        read::<u8>(LINE_STATUS) & RECEIVED != 0
    }
}

impl Line for SerialPort {
    fn send(&mut self, byte: u8) {
        while read::<u8>(LINE_STATUS) & TRANSMIT_EMPTY == 0 {}
        write(DATA, byte);
    }

    fn receive(&mut self) -> u8 {
        while !Self::waiting() {
            riscv::asm::wfi();
        }
        let byte = read::<u8>(DATA);
        // The line is low again, because its cause has been handled.
        let claimed: u32 = read(CLAIM);
        if claimed != 0 {
            write(CLAIM, claimed);
        }
        byte
    }
}
