//! Bus to a register block at the other end of SPI. An access can fail, because SPI can fail, and
//! because answers are checked.
//!
//! | access | the board sends | the block answers |
//! |---|---|---|
//! | read | `R`, the offset in 3 bytes | `A`, the value in 4 bytes, a checksum of offset and value |
//! | write | `W`, the offset in 3 bytes, the value in 4 bytes, a checksum of both | `A` |
//!
//! Numbers start with their most significant byte. The protocol belongs to this example; another
//! block has its own.

use embedded_hal::spi::{Operation, SpiDevice};
use mias_registers::bus::{ErrorType, Failed, TryBus};

/// First byte of a read.
pub const READ: u8 = b'R';
/// First byte of a write.
pub const WRITE: u8 = b'W';
/// First byte of an answer. A line that is stuck at 0 or 1 reads as another value.
pub const ACKNOWLEDGED: u8 = b'A';

/// Reason why an access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause<E> {
    /// The SPI driver reported an error.
    Spi(E),
    /// The answer to a read has a wrong checksum.
    Checksum,
    /// There is no answer, or the block did not accept the access.
    NotAcknowledged,
}

/// A register block behind SPI.
#[derive(Debug)]
pub struct SpiBus<S> {
    spi: S,
}

impl<S> SpiBus<S> {
    /// Creates the bus to the block that this device selects.
    pub const fn new(spi: S) -> Self {
        Self { spi }
    }

    /// Returns the SPI device.
    pub fn device(&mut self) -> &mut S {
        &mut self.spi
    }
}

impl<S: SpiDevice> ErrorType for SpiBus<S> {
    type Error = Failed<Cause<S::Error>>;
}

impl<S: SpiDevice> TryBus for SpiBus<S> {
    fn try_read32(&mut self, offset: u32) -> Result<u32, Self::Error> {
        let failed = |cause| Failed::new(offset, cause);
        let (asked, mut answer) = (request(READ, offset), [0; 6]);
        let mut operations = [Operation::Write(&asked), Operation::Read(&mut answer)];
        self.spi.transaction(&mut operations).map_err(|error| failed(Cause::Spi(error)))?;
        let [acknowledged, a, b, c, d, sum] = answer;
        let value = [a, b, c, d];
        match acknowledged {
            ACKNOWLEDGED if checksum(asked, value) == sum => Ok(u32::from_be_bytes(value)),
            ACKNOWLEDGED => Err(failed(Cause::Checksum)),
            _ => Err(failed(Cause::NotAcknowledged)),
        }
    }

    fn try_write32(&mut self, offset: u32, value: u32) -> Result<(), Self::Error> {
        let failed = |cause| Failed::new(offset, cause);
        let (asked, value, mut answer) = (request(WRITE, offset), value.to_be_bytes(), [0]);
        let sum = [checksum(asked, value)];
        let mut operations = [Operation::Write(&asked), Operation::Write(&value), Operation::Write(&sum), Operation::Read(&mut answer)];
        self.spi.transaction(&mut operations).map_err(|error| failed(Cause::Spi(error)))?;
        if answer == [ACKNOWLEDGED] { Ok(()) } else { Err(failed(Cause::NotAcknowledged)) }
    }
}

/// Returns the first bytes of an access. The map ends below 2^24.
fn request(kind: u8, offset: u32) -> [u8; 4] {
    let [_, a, b, c] = offset.to_be_bytes();
    [kind, a, b, c]
}

/// Returns the CRC-8 with the polynomial 0x07, from all ones.
#[must_use]
pub fn checksum(request: [u8; 4], value: [u8; 4]) -> u8 {
    let mut sum = u8::MAX;
    for byte in request.into_iter().chain(value) {
        sum ^= byte;
        for _ in 0..8 {
            sum = if sum & 0x80 == 0 { sum << 1 } else { sum << 1 ^ 0x07 };
        }
    }
    sum
}
