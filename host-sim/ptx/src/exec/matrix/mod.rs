//! Matrix instructions of whole warps: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix` (PTX ISA
//! 7.8 section 9.7.13).
//!
//! ```text
//! element    types of elements, and which shapes they have
//! fragment   which lane holds which element
//! registers  a fragment's registers, and the matrix that they hold
//! multiply   mma, wmma.mma           tile  wmma.load, wmma.store           rows  ldmatrix, stmatrix, movmatrix
//! ```

pub mod element;
pub mod fragment;
pub mod multiply;
pub mod registers;
pub mod rows;
pub mod tile;

use super::access::{LaneFault, Memories};
use crate::error::PtxError;
use crate::memory::LocalMemory;
use crate::operands::Decoder;
use crate::program::{Src32, WordReg};
use crate::registers::Lanes;

/// A decoded matrix instruction. All lanes of a warp must execute it.
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix {
    /// Product and sum, d = a b + c.
    Multiply(Box<multiply::Multiply>),
    /// Move of a fragment between memory and registers.
    Tile(Box<tile::Tile>),
    /// Move of rows between shared memory and registers.
    Rows(Box<rows::Rows>),
    /// Transposition of 8 x 8 elements of 16 bits.
    Transpose(WordReg, Src32),
}

/// Decodes a matrix instruction.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Matrix, PtxError> {
    match d.parts[..] {
        ["mma", ..] => multiply::decode(d).map(|op| Matrix::Multiply(op.into())),
        ["wmma", "mma", ..] => multiply::decode_warp(d).map(|op| Matrix::Multiply(op.into())),
        ["wmma", ..] => tile::decode(d).map(|op| Matrix::Tile(op.into())),
        ["ldmatrix" | "stmatrix", ..] => rows::decode(d).map(|op| Matrix::Rows(op.into())),
        _ => rows::decode_move(d).map(|(to, from)| Matrix::Transpose(to, from)),
    }
}

/// Executes the instruction in a whole warp, or in no lane if its guard fails.
pub fn execute(op: &Matrix, l: &mut Lanes<'_>, m: &mut Memories<'_>, local: &mut LocalMemory) -> Result<(), LaneFault> {
    m.addresses.clear();
    if l.mask == 0 {
        return Ok(());
    }
    match op {
        Matrix::Multiply(op) => multiply::execute(op, l),
        Matrix::Tile(op) => tile::execute(op, l, m, local)?,
        Matrix::Rows(op) => rows::execute(op, l, m, local)?,
        Matrix::Transpose(to, from) => rows::transpose(*to, *from, l),
    }
    Ok(())
}
