//! In place of the board's SPI peripheral: a wire, and at its other end a register block in software. It is what a board of one's own does
//! not have; its `SpiDevice` is from the crate of its microcontroller.

use core::convert::Infallible;

use embedded_hal::spi::{ErrorType, Operation, SpiDevice};
use mias_registers::bus::Bus;

use crate::spi_bus::{ACKNOWLEDGED, READ, WRITE, checksum};

/// Bytes of the longest access: request, value and checksum.
const MOST: usize = 9;

/// A register block at the end of a wire.
#[derive(Debug)]
pub struct Wire<B> {
    /// The block.
    pub block: B,
    /// Whether the wire is plugged in. If it is not, its line is pulled up: whatever is read is all ones.
    pub plugged: bool,
}

impl<B> ErrorType for Wire<B> {
    // The peripheral of a master notices nothing: it is for the bus to find out.
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
    /// What the block answers to what was sent.
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
