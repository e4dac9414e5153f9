//! QEMU's microbit, a Cortex-M0: the UART of the nRF51. Registers: "nRF51 Series Reference Manual"
//! 3.0, section 29.

use cortex_m::{asm, interrupt::InterruptNumber, peripheral::NVIC};
use mias_registers::remote::Line;

use crate::mmio::{read, write};

const UART: usize = 0x4000_2000;
const START_RECEIVING: usize = UART;
const START_TRANSMITTING: usize = UART + 0x008;
const RECEIVED: usize = UART + 0x108;
const TRANSMITTED: usize = UART + 0x11C;
const INT_ENABLE_SET: usize = UART + 0x304;
const ENABLE: usize = UART + 0x500;
const RECEIVE_DATA: usize = UART + 0x518;
const TRANSMIT_DATA: usize = UART + 0x51C;

const ENABLED: u32 = 4;
const RECEIVED_BIT: u32 = 1 << 2;

/// Interrupt of the UART: its peripheral number.
#[derive(Clone, Copy)]
struct Uart;

// SAFETY: the number is a constant that the processor supports.
unsafe impl InterruptNumber for Uart {
    fn number(self) -> u16 {
        2
    }
}

/// Serial port of the board.
pub(crate) struct SerialPort(());

impl SerialPort {
    pub(crate) fn open() -> Self {
        cortex_m::interrupt::disable();
        write(ENABLE, ENABLED);
        write(START_TRANSMITTING, 1_u32);
        write(START_RECEIVING, 1_u32);
        write(INT_ENABLE_SET, RECEIVED_BIT);
        // SAFETY: interrupts are disabled globally. No handler runs, and a pending interrupt only
        // ends WFI.
        unsafe { NVIC::unmask(Uart) };
        SerialPort(())
    }

    /// Returns whether a byte has arrived.
    pub(crate) fn waiting() -> bool {
        read::<u32>(RECEIVED) != 0
    }
}

impl Line for SerialPort {
    fn send(&mut self, byte: u8) {
        write(TRANSMITTED, 0_u32);
        write(TRANSMIT_DATA, u32::from(byte));
        while read::<u32>(TRANSMITTED) == 0 {}
    }

    fn receive(&mut self) -> u8 {
        while !Self::waiting() {
            asm::wfi();
            NVIC::unpend(Uart);
        }
        // Clears the event first, so that a later byte sets it again.
        write(RECEIVED, 0_u32);
        read::<u32>(RECEIVE_DATA) as u8
    }
}
