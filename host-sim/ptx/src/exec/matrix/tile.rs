//! Fragment loads and stores `wmma.load` and `wmma.store` between memory and the registers of a
//! warp (PTX ISA 7.8 sections 9.7.13.3.3 "wmma.load" and 9.7.13.3.4 "wmma.store").
//!
//! The elements move by tiles (`fragment.rs`): one access of the warp for each, 4 to 16 bytes per
//! lane, in memory order. As on a GPU, the distribution over the lanes affects only registers.

use super::element::{FACTORS, Kind};
use super::fragment::{Fragment, Order, Place, Role, Shape};
use super::multiply::order;
use super::registers::{Held, gather, scatter, sources, targets};
use crate::LANES;
use crate::ast::Type;
use crate::error::PtxError;
use crate::exec::access::{LaneFault, Memories, Spot, addresses, faulty};
use crate::exec::memory::{self, Access, Source, Space, Target};
use crate::memory::LocalMemory;
use crate::operands::Decoder;
use crate::program::Src32;
use crate::registers::Lanes;

/// A decoded load or store of a fragment.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// Access of one lane to its piece of one tile.
    pub access: Access,
    /// Operand that is moved.
    pub matrix: Held,
    order: Order,
    /// Distance between rows (or columns) in elements.
    stride: Src32,
    /// Destination registers; empty for a store.
    to: Vec<Target>,
    /// Source registers; empty for a load.
    from: Vec<Source>,
}

impl Tile {
    /// Returns true for a load.
    pub fn loads(&self) -> bool {
        !self.to.is_empty()
    }
}

/// Decodes `wmma.load.a`, `.b`, `.c` and `wmma.store.d`.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Tile, PtxError> {
    let parts = d.parts.clone();
    let (role, rest) = match parts[..] {
        ["wmma", "load", "a", ref rest @ ..] => (Role::A, rest),
        ["wmma", "load", "b", ref rest @ ..] => (Role::B, rest),
        ["wmma", "load", "c", ref rest @ ..] | ["wmma", "store", "d", ref rest @ ..] => (Role::C, rest),
        _ => return d.unsupported(),
    };
    let (layout, shape, space, kind) = match *rest {
        ["sync", "aligned", layout, shape, kind] | ["sync", layout, shape, kind] => (layout, shape, None, kind),
        ["sync", "aligned", layout, shape, space, kind] | ["sync", layout, shape, space, kind] => (layout, shape, Some(space), kind),
        _ => return d.unsupported(),
    };
    let (Some(order), Some(shape), Some(kind)) = (order(layout), Shape::parse(shape), Kind::parse(kind)) else { return d.unsupported() };
    let named = space.map(Space::parse);
    let known = match role {
        Role::C => FACTORS.iter().any(|factor| factor.multiplies_by_warp(shape) && factor.adds_to(kind)),
        _ => kind.multiplies_by_warp(shape),
    };
    let usual = !matches!(kind, Kind::Integer(1 | 4, _)) || (role == Role::A) == (order == Order::Row);
    if !known || !usual || !matches!(named, None | Some(Some(Space::Global | Space::Shared))) {
        return d.unsupported();
    }
    let loads = parts[1] == "load";
    let count = d.operands();
    if !(2..=3).contains(&count) {
        return d.wrong(format!("expected 2 or 3 operands, not {count}"), d.opcode());
    }
    let matrix = Held { kind, fragment: Fragment::tiled(role, shape, kind.run(role)) };
    let place = d.operand(if loads { 1 } else { 0 })?;
    let (base, offset, space) = memory::address(d, place, named.flatten())?;
    let stride = match count {
        3 => d.src32(d.operand(2)?)?,
        // The length of a row (or a column).
        _ => crate::program::Src::Imm(if order == Order::Row { matrix.fragment.columns } else { matrix.fragment.rows } as u32),
    };
    let bytes = matrix.fragment.run() * kind.bits() / 8;
    let (ty, count) = if bytes == 4 { (Type::Bits(4), 1) } else { (Type::Bits(8), bytes / 8) };
    let access = Access { space, base, offset, ty, count: count as u8, bypass_l1: false };
    let (mut to, mut from) = (Vec::new(), Vec::new());
    if loads {
        to = targets(d, matrix, 0)?;
    } else {
        from = sources(d, matrix, 1)?;
    }
    Ok(Tile { access, matrix, order, stride, to, from })
}

/// Piece of a tile that one lane moves, and its place in memory.
struct Piece {
    lane: usize,
    spot: Spot,
    /// Index of the first element in row order, and the distance to the next.
    first: usize,
    step: usize,
}

/// Returns all pieces in the order of the moves: tile by tile, with the lanes of each in ascending
/// order.
fn pieces(op: &Tile, l: &Lanes<'_>, noted: &mut Vec<u64>) -> Vec<Piece> {
    let (f, bits) = (&op.matrix.fragment, op.matrix.kind.bits() as u64);
    let (at, stride) = (addresses(&op.access, l), l.regs.word(op.stride));
    let mut pieces = Vec::with_capacity(f.tiles() * LANES);
    for (tile, lane) in (0..f.tiles()).flat_map(|tile| (0..LANES).map(move |lane| (tile, lane))) {
        let Place { row, column, .. } = f.piece(op.order, lane, tile);
        let (major, minor, step) = if op.order == Order::Row { (row, column, 1) } else { (column, row, f.columns) };
        let elements = (major as u64).wrapping_mul(stride[lane].into()).wrapping_add(minor as u64);
        let address = at[lane].wrapping_add(elements.wrapping_mul(bits) / 8);
        noted.push(address);
        pieces.push(Piece { lane, spot: Spot::new(op.access.space, address), first: row * f.columns + column, step });
    }
    pieces
}

/// Executes the move in a whole warp.
pub(super) fn execute(op: &Tile, l: &mut Lanes<'_>, m: &mut Memories<'_>, local: &mut LocalMemory) -> Result<(), LaneFault> {
    let (mut reach, noted) = m.reach(local);
    let pieces = pieces(op, l, noted);
    let (bits, run) = (op.matrix.kind.bits(), op.matrix.fragment.run());
    let element = u32::from(op.access.ty.bytes());
    // Number of elements in one part of the access.
    let held = 8 * element as usize / bits;
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let mut all = if op.loads() { vec![0; op.matrix.fragment.rows * op.matrix.fragment.columns] } else { gather(&op.matrix, &op.from, l) };
    for Piece { lane, spot, first, step } in pieces {
        for part in 0..op.access.count.into() {
            let slots = (part * held..((part + 1) * held).min(run)).map(|at| first + at * step);
            let skip = part as u32 * element;
            let fault = faulty(&op.access, lane, spot);
            if op.loads() {
                let word = reach.load_part(lane, spot, op.access.bytes(), skip, element).map_err(fault)?;
                slots.enumerate().for_each(|(at, slot)| all[slot] = word >> (at * bits) & mask);
            } else {
                let word = slots.enumerate().fold(0, |word, (at, slot)| word | all[slot] << (at * bits));
                reach.store_part(lane, spot, op.access.bytes(), skip, element, word).map_err(fault)?;
            }
        }
    }
    if op.loads() {
        scatter(&op.matrix, &op.to, &all, l);
    }
    Ok(())
}
