//! A bus that can fail, such as a register block behind SPI, I2C or an on-chip network that returns
//! errors.
//!
//! The style is that of embedded-hal 1.0: an associated error type, with a trait for the data that
//! every error provides. [`Bus`] is to [`TryBus`] what `From` is to `TryFrom`: the error of a bus
//! that cannot fail is [`Infallible`]. No value of that type exists, so the compiler drops every
//! path that would return one.

use core::convert::Infallible;
use core::fmt::{self, Debug, Display, Formatter};

use super::Bus;
use crate::sm;

/// Properties of every bus error.
pub trait Error: Debug + Sized {
    /// Returns the byte offset of the register whose access failed.
    fn register(&self) -> u32;

    /// Returns the outcome of an access that was not made because the firmware has stopped: the
    /// error for it. `Ok` is for errors of which no value exists.
    ///
    /// # Errors
    /// The error for an access to the register at this offset that was not made.
    fn stopped(register: u32) -> Result<(), Self>;
}

impl Error for Infallible {
    fn register(&self) -> u32 {
        match *self {}
    }

    fn stopped(_: u32) -> Result<(), Self> {
        Ok(())
    }
}

/// Bus error that adds a register offset to a cause of type `E`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Failed<E> {
    /// Byte offset of the register.
    pub register: u32,
    /// Cause of the failure, such as the error of the SPI driver; `None` for an access that was not
    /// made because the firmware has stopped.
    pub cause: Option<E>,
}

impl<E> Failed<E> {
    /// Creates the error of an access to the register at a byte offset.
    #[must_use]
    pub const fn new(register: u32, cause: E) -> Self {
        Self { register, cause: Some(cause) }
    }
}

impl<E: Debug> Error for Failed<E> {
    fn register(&self) -> u32 {
        self.register
    }

    fn stopped(register: u32) -> Result<(), Self> {
        Err(Self { register, cause: None })
    }
}

impl<E: Debug> Display for Failed<E> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Some(cause) => write!(formatter, "the bus failed at register {:#x}: {cause:?}", self.register),
            None => write!(formatter, "register {:#x} was not accessed: the bus has failed before", self.register),
        }
    }
}

impl<E: Debug> core::error::Error for Failed<E> {}

/// Error type of a bus.
pub trait ErrorType {
    /// Error of a failed access.
    type Error: Error;
}

/// Access to the register block over a bus that can fail.
///
/// The driver does not retry a failed access. A bus that can retry does so before it reports an
/// error.
pub trait TryBus: ErrorType {
    /// Reads a register: [`Bus::read32`].
    ///
    /// # Errors
    /// The access failed; no value is known.
    fn try_read32(&mut self, offset: u32) -> Result<u32, Self::Error>;

    /// Writes a register: [`Bus::write32`].
    ///
    /// # Errors
    /// The access failed. The register may or may not hold the value.
    fn try_write32(&mut self, offset: u32, value: u32) -> Result<(), Self::Error>;

    /// Completes all earlier accesses before any later one: [`Bus::barrier`].
    ///
    /// # Errors
    /// An earlier access failed.
    #[inline(always)]
    fn try_barrier(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Reads registers of one SM: [`Bus::read_sm_registers`].
    ///
    /// Override this method if the bus can fetch several registers at once.
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
    /// An access failed. `each` has received the SMs before it.
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
    fn try_barrier(&mut self) -> Result<(), Infallible> {
        self.barrier();
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

/// Returns whether an access over a bus with errors of type `E` can fail.
///
/// It returns false if no value of `E` exists. The result then takes no space.
#[must_use]
pub const fn can_fail<E>() -> bool {
    size_of::<Result<(), E>>() != 0
}

/// Reads a register with an out-of-line [`TryBus::try_read32`], for code where size matters more
/// than speed.
///
/// An image contains one copy.
///
/// # Errors
/// The access failed.
#[inline(never)]
pub fn read<B: TryBus>(bus: &mut B, offset: u32) -> Result<u32, B::Error> {
    bus.try_read32(offset)
}

/// Writes a register with an out-of-line [`TryBus::try_write32`], for code where size matters more
/// than speed.
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
