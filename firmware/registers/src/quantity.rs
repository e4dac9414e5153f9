//! The numbers with a fraction that registers hold, as types of the crate [`fixed`].

use fixed::types::U16F16;

/// Linear's coefficient: stall cycles per accumulated outstanding miss, in per-SM units (Nasef 2023, eq. 3.8). 0 to 2^16; the register
/// `LINEAR_COEFFICIENT`. Fitted ones are below 2^-7 (`mias gpu fit`).
pub type Coefficient = U16F16;

/// Sectors of 32 bytes per core cycle that the whole machine moves at most: 0 to 2^16, 0 if it is not known; the registers
/// `REPLY_SECTORS` and `DRAM_SECTORS`.
pub type SectorRate = U16F16;
