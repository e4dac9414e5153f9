//! Fixed-point types of registers with fractions, from the crate [`fixed`].

use fixed::types::U16F16;

/// Coefficient of Linear: stall cycles per accumulated outstanding miss, in per-SM units (Nasef
/// 2023, eq. 3.8).
///
/// Range 0 to 2^16; the register `LINEAR_COEFFICIENT`. Fitted values are below 2^-7 (`mias gpu
/// fit`).
pub type Coefficient = U16F16;

/// Peak bandwidth of the whole GPU in sectors of 32 bytes per core cycle.
///
/// Range 0 to 2^16, 0 if unknown; the registers `REPLY_SECTORS` and `DRAM_SECTORS`.
pub type SectorRate = U16F16;
