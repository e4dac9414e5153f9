//! Matrix instructions of whole warps: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`. PTX ISA 7.8 section 9.7.13.
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

/// A decoded instruction. All lanes of a warp must execute it.
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix {
    /// d = a b + c.
    Multiply(Box<multiply::Multiply>),
    /// A fragment between memory and registers.
    Tile(Box<tile::Tile>),
    /// Rows between shared memory and registers.
    Rows(Box<rows::Rows>),
    /// 8 x 8 elements of 16 bits, transposed.
    Transpose(WordReg, Src32),
}

/// Decodes.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Matrix, PtxError> {
    match d.parts[..] {
        ["mma", ..] => multiply::decode(d).map(|op| Matrix::Multiply(op.into())),
        ["wmma", "mma", ..] => multiply::decode_warp(d).map(|op| Matrix::Multiply(op.into())),
        ["wmma", ..] => tile::decode(d).map(|op| Matrix::Tile(op.into())),
        ["ldmatrix" | "stmatrix", ..] => rows::decode(d).map(|op| Matrix::Rows(op.into())),
        _ => rows::decode_move(d).map(|(to, from)| Matrix::Transpose(to, from)),
    }
}

/// Executes on a whole warp, or, where its guard fails, on none.
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
