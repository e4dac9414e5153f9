//! Fixed-point types of decisions: fraction bits, range and source of each.
//!
//! Each is a type of the crate [`fixed`], so a sum of numbers with different fractions does not
//! compile. A product is taken at its full width ([`FixedU32::wide_mul`], [`product`]) and has the
//! fraction bits of both. [`saturating`] and [`wrapping`] reduce it again. The crate's own
//! conversions use 128 bits, and are avoided. Counts (cycles, instructions, sectors) are plain
//! integers of at most [`mias_registers::counters::Counter::width`] bits per SM and window.
//!
//! The metrics' scores are compared exactly: each is a ratio of two wide numbers of the same
//! fraction ([`crate::metric::wide`]).

use core::ops::Add;

use fixed::types::extra::{LeEqU32, LeEqU64, Unsigned};
use fixed::types::{U8F24, U12F20, U16F16, U17F15, U19F13, U20F12, U22F10, U24F40, U28F4, U32F0, U40F24, U48F16};
use fixed::{FixedU32, FixedU64};
pub use mias_registers::quantity::{Coefficient, SectorRate};

/// Count as a factor of a product, without fraction bits.
pub type Count = U32F0;

/// Cycles with the fraction bits of Linear's coefficient: sums over SMs, times at most 256 SMs.
/// Below 2^(32 + 8).
pub type Cycles = U48F16;

/// Fraction of a whole, 0 to 1: roofline's share of DRAM (docs/results/roofline.md), accurate to 5
/// parts of 2^16.
pub type Share = U16F16;

/// Fraction of a peak in sixteenths, 0 to 1.
pub type Sixteenths = U28F4;

/// Speedup or progress: instructions over those of a kernel alone in the same time.
///
/// S and STP consist of such terms (docs/reference/glossary.md). Range 0 to 2^16, saturating: about
/// 1 for each of 4 kernels, summed over at most 256 SMs.
pub type Gain = U16F16;

/// Gain per instruction: the reciprocal of a kernel's isolated instructions in a window, of at most
/// 24 bits.
///
/// Range 0 to 1 + 2^-40. It is rounded up, so that the isolated number of instructions gives a gain
/// of 1.
pub type GainRate = U24F40;

/// Roofline score `speedup^2 progress` (docs/results/roofline.md): 0 to 2^8, saturating.
pub type Worth = U8F24;

/// Roofline score before saturation: 0 to 2^12, of a speedup and a progress of at most 16 each.
pub type WideWorth = U40F24;

/// Utilization of one of the GPU's resources (Lin et al. 2018): 0 to 2^22, saturating; 1 is
/// full utilization.
pub type Utilization = U22F10;

/// Sectors per cycle of one SM: below 2^19, the width of its counters.
pub type SmSectorRate = U19F13;

/// Sectors per cycle of all SMs together: 0 to 2^12, saturating.
pub type AllSectorRate = U12F20;

/// Average TBs per SM over those of a point, in Warped-Slicer's scaling
/// (docs/explanation/policies-mias.md): 0 to 2^8, of at most 255 TBs.
pub type TbRatio = U20F12;

/// Warped-Slicer's scaling factor from an IPC to the bandwidth that remains when all SMs are full:
/// 0 to 2^17.
pub type Scale = U17F15;

/// Converts a count to a fixed-point number. The caller ensures that it fits.
#[inline(always)]
#[must_use]
pub const fn whole<F: Unsigned>(count: u32) -> FixedU32<F> {
    FixedU32::from_bits(count << F::U32)
}

/// Returns the product of a wide and a narrow number, modulo 2^64. The caller ensures that it fits.
#[inline(always)]
#[must_use]
pub fn product<F: Add<G>, G>(wide: FixedU64<F>, narrow: FixedU32<G>) -> FixedU64<F::Output> {
    FixedU64::from_bits(wide.to_bits().wrapping_mul(narrow.to_bits().into()))
}

/// Multiplies a number by a count, saturating. [`FixedU32::saturating_mul_int`] takes more
/// instructions.
#[inline(always)]
#[must_use]
pub const fn times<F>(number: FixedU32<F>, count: u32) -> FixedU32<F> {
    FixedU32::from_bits(number.to_bits().saturating_mul(count))
}

/// Converts a wide number to fewer fraction bits, truncated toward 0 and saturating.
#[inline(always)]
#[must_use]
pub fn saturating<F: LeEqU64, G: LeEqU32>(wide: FixedU64<F>) -> FixedU32<G> {
    FixedU32::from_bits((wide.to_bits() >> const { F::U32 - G::U32 }).min(u32::MAX.into()) as u32)
}

/// Converts a wide number to fewer fraction bits, truncated toward 0. The caller ensures that it
/// fits; otherwise upper bits are lost.
#[inline(always)]
#[must_use]
pub fn wrapping<F: LeEqU64, G: LeEqU32>(wide: FixedU64<F>) -> FixedU32<G> {
    FixedU32::from_bits((wide.to_bits() >> const { F::U32 - G::U32 }) as u32)
}
