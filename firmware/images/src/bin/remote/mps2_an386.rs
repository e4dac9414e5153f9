//! QEMU's mps2-an386, a Cortex-M4: the CMSDK APB UART 0. Registers: "Cortex-M System Design Kit
//! Technical Reference Manual", ARM DDI 0479, section 4.3; addresses: application note AN386, table
//! 3-3.

use cortex_m::{asm, interrupt::InterruptNumber, peripheral::NVIC};
use mias_registers::remote::Line;

use crate::mmio::{read, write};

const UART: usize = 0x4000_4000;
const DATA: usize = UART;
const STATE: usize = UART + 0x04;
const CTRL: usize = UART + 0x08;
const INT_CLEAR: usize = UART + 0x0C;
const BAUD_DIVIDER: usize = UART + 0x10;

const TRANSMIT_FULL: u32 = 1 << 0;
const RECEIVE_FULL: u32 = 1 << 1;
/// Transmitter, receiver and receive interrupt on.
const ON: u32 = 1 << 0 | 1 << 1 | 1 << 3;
const RECEIVED: u32 = 1 << 1;
/// Smallest valid divider.
const FASTEST: u32 = 16;

/// Receive interrupt of UART 0 (AN386, table 3-5).
#[derive(Clone, Copy)]
struct Received;

// SAFETY: the number is a constant that the processor supports.
unsafe impl InterruptNumber for Received {
    fn number(self) -> u16 {
        0
    }
}

/// Serial port of the board.
pub(crate) struct SerialPort(());

impl SerialPort {
    pub(crate) fn open() -> Self {
        cortex_m::interrupt::disable();
        write(BAUD_DIVIDER, FASTEST);
        write(CTRL, ON);
        // SAFETY: interrupts are disabled globally. No handler runs, and a pending interrupt only
        // ends WFI.
        unsafe { NVIC::unmask(Received) };
        SerialPort(())
    }

    /// Returns whether a byte has arrived.
    pub(crate) fn waiting() -> bool {
        read::<u32>(STATE) & RECEIVE_FULL != 0
    }
}

impl Line for SerialPort {
    fn send(&mut self, byte: u8) {
        while read::<u32>(STATE) & TRANSMIT_FULL != 0 {}
        write(DATA, u32::from(byte));
    }

    fn receive(&mut self) -> u8 {
        while !Self::waiting() {
            asm::wfi();
        }
        let byte = read::<u32>(DATA) as u8;
        // The line is low again, and its pending state is cleared. A byte that arrives before that
        // is detected without it.
        write(INT_CLEAR, RECEIVED);
        NVIC::unpend(Received);
        byte
    }
}
