//! Moves and transposition of 8 x 8 matrices of 16 bits by `ldmatrix`, `stmatrix`, `movmatrix` (PTX
//! ISA 7.8 sections 9.7.13.4.15 "ldmatrix", 9.7.13.4.16 "stmatrix" and 9.7.13.4.17 "movmatrix").
//!
//! A lane provides the address of each row of 16 bytes: lanes 0 to 7 for the first matrix, and so
//! on. A lane holds two adjacent elements of a row per matrix, as for a tile (`fragment.rs`). For
//! timing, the rows are divided into 32 pieces in lane order, and each lane accesses one, of 4, 8
//! or 16 bytes. Rows of one matrix in the same banks of shared memory are therefore served one
//! after the other.

use crate::LANES;
use crate::ast::{Operand, Type};
use crate::error::{AccessFault, PtxError};
use crate::exec::access::{LaneFault, Memories, Spot, addresses, faulty};
use crate::exec::memory::{self, Access, Space};
use crate::memory::LocalMemory;
use crate::operands::Decoder;
use crate::program::{Src32, WordReg};
use crate::registers::Lanes;

/// Rows of a matrix, and elements per row.
const SIDE: usize = 8;

/// Returns the row and column of a lane's element in a matrix.
fn place(lane: usize, element: usize, transposed: bool) -> (usize, usize) {
    let (row, column) = (lane / 4, 2 * (lane % 4) + element);
    if transposed { (column, row) } else { (row, column) }
}

/// A decoded load or store of 1, 2 or 4 matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Access to one row of 16 bytes, by the lane with its address.
    pub access: Access,
    /// Destination registers, one per matrix; empty for a store.
    to: Vec<WordReg>,
    /// Source registers; empty for a load.
    from: Vec<Src32>,
    transposed: bool,
}

impl Rows {
    /// Returns true for a load.
    pub fn loads(&self) -> bool {
        !self.to.is_empty()
    }

    /// Returns the number of matrices.
    pub fn count(&self) -> usize {
        self.to.len().max(self.from.len())
    }

    /// Returns the bytes that one lane moves in an access of the warp.
    pub fn bytes_per_lane(&self) -> usize {
        self.count() * 2 * SIDE * SIDE / LANES
    }
}

/// Decodes `ldmatrix` and `stmatrix`.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Rows, PtxError> {
    let parts = d.parts.clone();
    let [mnemonic @ ("ldmatrix" | "stmatrix"), "sync", "aligned", "m8n8", count, ref rest @ ..] = parts[..] else { return d.unsupported() };
    let count = match count {
        "x1" => 1,
        "x2" => 2,
        "x4" => 4,
        _ => return d.unsupported(),
    };
    let (transposed, rest) = if let ["trans", rest @ ..] = rest { (true, rest) } else { (false, rest) };
    let space = match rest {
        ["b16"] => None,
        ["shared" | "shared::cta", "b16"] => Some(Space::Shared),
        _ => return d.unsupported(),
    };
    d.arity(2)?;
    let loads = mnemonic == "ldmatrix";
    let (value, at) = if loads { (0, 1) } else { (1, 0) };
    let value = d.operand(value)?;
    let elements = match value {
        Operand::Vector(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    if elements.len() != count {
        return d.wrong(format!("expected a vector of {count} registers"), value.to_string());
    }
    let (base, offset, space) = memory::address(d, d.operand(at)?, space)?;
    let access = Access { space, base, offset, ty: Type::Bits(4), count: 4, bypass_l1: false };
    let (mut to, mut from) = (Vec::new(), Vec::new());
    for element in elements {
        if loads {
            to.push(d.dst32(element)?);
        } else {
            from.push(d.src32(element)?);
        }
    }
    Ok(Rows { access, to, from, transposed })
}

/// Executes the move in a whole warp.
pub(super) fn execute(op: &Rows, l: &mut Lanes<'_>, m: &mut Memories<'_>, local: &mut LocalMemory) -> Result<(), LaneFault> {
    let at = addresses(&op.access, l);
    let (mut reach, noted) = m.reach(local);
    let rows = SIDE * op.count();
    let mut spots = Vec::with_capacity(rows);
    for (lane, &address) in at.iter().enumerate().take(rows) {
        let spot = Spot::new(op.access.space, address);
        if spot.space != Space::Shared {
            return Err(faulty(&op.access, lane, spot)(AccessFault::NotShared));
        }
        spots.push(spot);
    }
    let piece = op.bytes_per_lane();
    noted.extend((0..LANES).map(|lane| spots[lane * piece / 16].address + (lane * piece % 16) as u64));
    let elements = (0..op.count()).flat_map(|matrix| (0..LANES).flat_map(move |lane| [(matrix, lane, 0), (matrix, lane, 1)]));
    let mut values = vec![[0u32; LANES]; op.count()];
    for (value, &from) in values.iter_mut().zip(&op.from) {
        *value = l.regs.word(from);
    }
    for (matrix, lane, element) in elements {
        let (row, column) = place(lane, element, op.transposed);
        let giver = matrix * SIDE + row;
        let (spot, skip, shift) = (spots[giver], 2 * column as u32, 16 * element as u32);
        let fault = faulty(&op.access, giver, spot);
        if op.loads() {
            let half = reach.load_part(giver, spot, op.access.bytes(), skip, 2).map_err(fault)?;
            values[matrix][lane] |= (half as u32) << shift;
        } else {
            let half = values[matrix][lane] >> shift & 0xffff;
            reach.store_part(giver, spot, op.access.bytes(), skip, 2, half.into()).map_err(fault)?;
        }
    }
    for (&to, value) in op.to.iter().zip(&values) {
        l.regs.set_word(to, l.mask, value);
    }
    Ok(())
}

/// Decodes `movmatrix.sync.aligned.m8n8.trans.b16`.
pub(super) fn decode_move(d: &mut Decoder<'_, '_>) -> Result<(WordReg, Src32), PtxError> {
    if d.parts[..] != ["movmatrix", "sync", "aligned", "m8n8", "trans", "b16"] {
        return d.unsupported();
    }
    d.arity(2)?;
    let from = d.src32(d.operand(1)?)?;
    Ok((d.dst32(d.operand(0)?)?, from))
}

/// Transposes a matrix in registers.
pub(super) fn transpose(to: WordReg, from: Src32, l: &mut Lanes<'_>) {
    let from = l.regs.word(from);
    let half = |lane: usize, element: usize| {
        let (row, column) = place(lane, element, true);
        from[row * 4 + column / 2] >> (16 * (column % 2)) & 0xffff
    };
    let values = std::array::from_fn(|lane| half(lane, 0) | half(lane, 1) << 16);
    l.regs.set_word(to, l.mask, &values);
}
