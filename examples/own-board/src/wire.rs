//! Replacement of the board's SPI peripheral: a wire, with a register block in software at its
//! other end. A real board uses the `SpiDevice` of its microcontroller's crate instead.

use core::convert::Infallible;

use embedded_hal::spi::{ErrorType, Operation, SpiDevice};
use mias_registers::bus::Bus;

use crate::spi_bus::{ACKNOWLEDGED, READ, WRITE, checksum};

/// Bytes of the longest access: request, value and checksum.
const MOST: usize = 9;

/// A register block at the end of a wire.
#[derive(Debug)]
pub struct Wire<B> {
    /// Register block at the other end.
    pub block: B,
    /// Whether the wire is plugged in. Otherwise its line is pulled up, and every read returns all
    /// ones.
    pub plugged: bool,
}

impl<B> ErrorType for Wire<B> {
    // The peripheral of a master detects no fault, so the bus must.
    type Error = Infallible;
}

impl<B: Bus> SpiDevice for Wire<B> {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Infallible> {
        let (mut sent, mut count) = ([0; MOST], 0);
        for operation in operations {
            match operation {
                Operation::Write(bytes) => {
                    for (place, byte) in sent.iter_mut().skip(count).zip(bytes.iter()) {
                        *place = *byte;
                    }
                    count += bytes.len();
                }
                Operation::Read(bytes) => {
                    let answer = if self.plugged { self.answer(sent) } else { [u8::MAX; 6] };
                    bytes.iter_mut().zip(answer).for_each(|(byte, answer)| *byte = answer);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl<B: Bus> Wire<B> {
    /// Returns the block's answer to the sent bytes.
    fn answer(&mut self, [kind, a, b, c, v, w, x, y, sum]: [u8; MOST]) -> [u8; 6] {
        let (request, value) = ([kind, a, b, c], [v, w, x, y]);
        let offset = u32::from_be_bytes([0, a, b, c]);
        match kind {
            READ => {
                let [v, w, x, y] = self.block.read32(offset).to_be_bytes();
                [ACKNOWLEDGED, v, w, x, y, checksum(request, [v, w, x, y])]
            }
            WRITE if checksum(request, value) == sum => {
                self.block.write32(offset, u32::from_be_bytes(value));
                [ACKNOWLEDGED, 0, 0, 0, 0, 0]
            }
            _ => [0; 6],
        }
    }
}
