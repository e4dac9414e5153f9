//! The numbers with a fraction that decisions are made of: how many bits each has behind its point, how large it can be, and where that
//! comes from.
//!
//! Each is a type of the crate [`fixed`], so that a sum of numbers with different fractions does not compile. A product is taken at its
//! full width ([`FixedU32::wide_mul`], [`product`]) and has the fraction bits of both; [`saturating`] and [`wrapping`] cut it down again.
//! The crate's own conversions go through 128 bits, and are not used. What is counted (cycles, instructions, sectors) is a plain integer of at most [`mias_registers::counters::Counter::width`]
//! bits per SM and window.
//!
//! The metrics' scores are compared exactly: each is a ratio of two wide numbers of the same fraction ([`crate::metric::wide`]).

use core::ops::Add;

use fixed::types::extra::{LeEqU32, LeEqU64, Unsigned};
use fixed::types::{U8F24, U12F20, U16F16, U17F15, U19F13, U20F12, U22F10, U24F40, U28F4, U32F0, U40F24, U48F16};
use fixed::{FixedU32, FixedU64};
pub use mias_registers::quantity::{Coefficient, SectorRate};

/// A count as a factor of a product: no fraction.
pub type Count = U32F0;

/// Cycles with the fraction bits of Linear's coefficient: sums over SMs, times at most 256 SMs. Below 2^(32 + 8).
pub type Cycles = U48F16;

/// A part of a whole: 0 to 1. Roofline's share of DRAM (docs/roofline.md), right to 5 parts of 2^16.
pub type Share = U16F16;

/// A part of a peak, in sixteenths: 0 to 1.
pub type Sixteenths = U28F4;

/// Speedup or progress: instructions over those of a kernel alone in the same time, the terms of which S and STP are made
/// (docs/glossary.md). 0 to 2^16, saturating: about 1 of each of 4 kernels, added up over at most 256 SMs.
pub type Gain = U16F16;

/// Gain per instruction: one over the instructions that a kernel makes alone in a window, of at most 24 bits. 0 to 1 + 2^-40: rounded
/// up, so that as many instructions as alone make a gain of 1.
pub type GainRate = U24F40;

/// Roofline's score `speedup^2 progress` (docs/roofline.md): 0 to 2^8, saturating.
pub type Worth = U8F24;

/// The same before it saturates: 0 to 2^12, of a speedup and a progress of at most 16 each.
pub type WideWorth = U40F24;

/// What is used of one of the machine's resources (Lin et al. 2018): 0 to 2^22, saturating; 1 is all of it.
pub type Utilisation = U22F10;

/// Sectors per cycle of one SM: below 2^19, the width of its counters.
pub type SmSectorRate = U19F13;

/// Sectors per cycle of all SMs together: 0 to 2^12, saturating.
pub type AllSectorRate = U12F20;

/// TBs per SM on the average over those of a point, in Warped-Slicer's scaling (docs/policies.md): 0 to 2^8, of at most 255 TBs.
pub type TbRatio = U20F12;

/// Warped-Slicer's scaling of an IPC to the bandwidth that is left when all SMs are full: 0 to 2^17.
pub type Scale = U17F15;

/// A count as a number with a fraction. The caller knows that it fits.
#[inline(always)]
#[must_use]
pub const fn whole<F: Unsigned>(count: u32) -> FixedU32<F> {
    FixedU32::from_bits(count << F::U32)
}

/// The product of a wide number and a narrow one, modulo 2^64: the caller knows that it fits.
#[inline(always)]
#[must_use]
pub fn product<F: Add<G>, G>(wide: FixedU64<F>, narrow: FixedU32<G>) -> FixedU64<F::Output> {
    FixedU64::from_bits(wide.to_bits().wrapping_mul(narrow.to_bits().into()))
}

/// So many times a number; at most the largest. [`FixedU32::saturating_mul_int`] takes more instructions.
#[inline(always)]
#[must_use]
pub const fn times<F>(number: FixedU32<F>, count: u32) -> FixedU32<F> {
    FixedU32::from_bits(number.to_bits().saturating_mul(count))
}

/// A wide number with fewer fraction bits, cut off towards 0; at most the largest.
#[inline(always)]
#[must_use]
pub fn saturating<F: LeEqU64, G: LeEqU32>(wide: FixedU64<F>) -> FixedU32<G> {
    FixedU32::from_bits((wide.to_bits() >> const { F::U32 - G::U32 }).min(u32::MAX.into()) as u32)
}

/// A wide number with fewer fraction bits, cut off towards 0. The caller knows that it fits: if not, upper bits are lost.
#[inline(always)]
#[must_use]
pub fn wrapping<F: LeEqU64, G: LeEqU32>(wide: FixedU64<F>) -> FixedU32<G> {
    FixedU32::from_bits((wide.to_bits() >> const { F::U32 - G::U32 }) as u32)
}
