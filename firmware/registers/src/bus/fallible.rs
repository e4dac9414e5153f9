//! A bus that can fail: a register block behind SPI, I2C or a network on the chip that answers with errors.
//!
//! The style is that of embedded-hal 1.0: an associated error type, with a trait that says what every error can tell. [`Bus`] is to
//! [`TryBus`] what `From` is to `TryFrom`: a bus that cannot fail is one whose error is [`Infallible`]. No value of that type exists, so
//! the compiler drops every path on which one would be handed on.

use core::convert::Infallible;
use core::fmt::Debug;

use super::Bus;
use crate::sm;

/// What every error of a bus can tell.
pub trait Error: Debug {
    /// Byte offset of the register whose access failed.
    fn register(&self) -> u32;
}

impl Error for Infallible {
    fn register(&self) -> u32 {
        match *self {}
    }
}

/// The error of an access whose cause is of type `E`, for a bus that has a cause and wants a register beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed<E> {
    /// Byte offset of the register.
    pub register: u32,
    /// What went wrong: the error of the SPI driver, say.
    pub cause: E,
}

impl<E: Debug> Error for Failed<E> {
    fn register(&self) -> u32 {
        self.register
    }
}

/// The error of a bus.
pub trait ErrorType {
    /// The error.
    type Error: Error;
}

/// Access to the register block over a bus that can fail. An access that fails is tried no second time: a bus that can repeat one does
/// so before it reports an error.
pub trait TryBus: ErrorType {
    /// Reads a register: [`Bus::read32`].
    ///
    /// # Errors
    /// The access failed; no value is known.
    fn try_read32(&mut self, offset: u32) -> Result<u32, Self::Error>;

    /// Writes a register: [`Bus::write32`].
    ///
    /// # Errors
    /// The access failed; the register holds the value or does not.
    fn try_write32(&mut self, offset: u32, value: u32) -> Result<(), Self::Error>;

    /// Reads registers of one SM: [`Bus::read_sm_registers`]. A bus that can fetch several registers at once says so here.
    ///
    /// # Errors
    /// An access failed.
    #[inline(always)]
    fn try_read_sm_registers<const N: usize>(&mut self, sm: usize, registers: [u32; N]) -> Result<[u32; N], Self::Error> {
        let mut values = [0; N];
        for (value, register) in values.iter_mut().zip(registers) {
            *value = self.try_read32(sm::at(sm, register))?;
        }
        Ok(values)
    }

    /// Reads registers of SMs `first`, `first + step`, ... below `end`: [`Bus::read_sms`].
    ///
    /// # Errors
    /// An access failed; `each` was told of the SMs before.
    #[inline(always)]
    fn try_read_sms<const N: usize>(
        &mut self,
        (first, step, end): (usize, usize, usize),
        registers: [u32; N],
        mut each: impl FnMut([u32; N]),
    ) -> Result<usize, Self::Error> {
        let mut sms = 0_usize;
        for sm in (first..end).step_by(step.max(1)) {
            each(self.try_read_sm_registers(sm, registers)?);
            sms = sms.wrapping_add(1);
        }
        Ok(sms)
    }
}

impl<B: Bus> ErrorType for B {
    type Error = Infallible;
}

impl<B: Bus> TryBus for B {
    #[inline(always)]
    fn try_read32(&mut self, offset: u32) -> Result<u32, Infallible> {
        Ok(self.read32(offset))
    }

    #[inline(always)]
    fn try_write32(&mut self, offset: u32, value: u32) -> Result<(), Infallible> {
        self.write32(offset, value);
        Ok(())
    }

    #[inline(always)]
    fn try_read_sm_registers<const N: usize>(&mut self, sm: usize, registers: [u32; N]) -> Result<[u32; N], Infallible> {
        Ok(self.read_sm_registers(sm, registers))
    }

    #[inline(always)]
    fn try_read_sms<const N: usize>(
        &mut self,
        sms: (usize, usize, usize),
        registers: [u32; N],
        each: impl FnMut([u32; N]),
    ) -> Result<usize, Infallible> {
        Ok(self.read_sms(sms, registers, each))
    }
}

/// Whether an access over a bus with errors of type `E` can fail: false where no value of `E` exists, and the result takes no space.
#[must_use]
pub const fn can_fail<E>() -> bool {
    size_of::<Result<(), E>>() != 0
}

/// [`TryBus::try_read32`] out of line, for where code is better small than fast: one copy in an image.
///
/// # Errors
/// The access failed.
#[inline(never)]
pub fn read<B: TryBus>(bus: &mut B, offset: u32) -> Result<u32, B::Error> {
    bus.try_read32(offset)
}

/// [`TryBus::try_write32`] likewise.
///
/// # Errors
/// The access failed.
#[inline(never)]
pub fn write<B: TryBus>(bus: &mut B, offset: u32, value: u32) -> Result<(), B::Error> {
    bus.try_write32(offset, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_fail_takes_no_space() {
        assert_eq!(size_of::<Result<u32, Infallible>>(), size_of::<u32>());
        assert!(!can_fail::<Infallible>());
        assert!(can_fail::<()>() && can_fail::<Failed<u8>>());
    }
}
