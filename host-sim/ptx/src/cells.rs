//! Cells: `.param` variables inside of functions, which pass data in calls. The GPU passes them in
//! registers, so they are registers here too, one for each accessed place. Cells with overlapping
//! accesses, which registers cannot represent, are in local memory.
//!
//! Cells of a recursive function are copied from and to those of the call, and therefore have the
//! same layout.

use super::ast::{Instruction, Operand, Type, Variable};
use super::error::{Position, PtxError};
use super::program::{DoubleReg, Reg};
use super::scope::{Frame, Scopes, typed};
use std::collections::{BTreeMap, BTreeSet};

/// An access: offset, bytes per element, and whether it writes.
type Access = (i64, u8, bool);

/// A parameter or result of a call.
#[derive(Debug)]
struct Cell {
    name: String,
    bytes: u32,
    align: u32,
    at: Position,
    /// Number of the recursive function that owns the cell; `None` for the kernel and the functions
    /// expanded in it.
    owner: Option<usize>,
    accesses: Vec<Access>,
    place: Place,
}

/// Storage of a cell.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Registers by byte offset, with the number of bytes in each.
    Registers(BTreeMap<i64, (Reg, u8)>),
    /// Byte offset in local memory.
    Local(u32),
    /// Byte offset in the frame of a recursive function, whose address is in a register.
    Frame(DoubleReg, u32),
}

/// Local memory of a recursive function.
pub(super) struct OwnFrame {
    /// Register with the address of the frame.
    pub(super) base: DoubleReg,
    /// Contents of the frame.
    pub(super) frame: Frame,
}

/// All cells of an expanded kernel.
#[derive(Debug, Default)]
pub(super) struct Cells {
    cells: Vec<Cell>,
    /// Pairs of cells that are copied to each other and have the same layout.
    alike: Vec<(usize, usize)>,
}

impl Cells {
    /// Creates a cell for a `.param` variable of the kernel or of a recursive function.
    pub(super) fn add(&mut self, variable: &Variable<'_>, owner: Option<usize>) -> usize {
        let place = Place::Registers(BTreeMap::new());
        let (bytes, align) = (variable.bytes(), variable.align);
        self.cells.push(Cell { name: variable.name.into(), bytes, align, at: variable.at, owner, accesses: Vec::new(), place });
        self.cells.len() - 1
    }

    /// Returns the size in bytes.
    pub(super) fn bytes(&self, cell: usize) -> u32 {
        self.cells[cell].bytes
    }

    /// Returns the storage of a cell, once settled.
    pub(super) fn place(&self, cell: usize) -> &Place {
        &self.cells[cell].place
    }

    /// Records an instruction that names a cell. Accesses at variable addresses are refused when
    /// the instruction is decoded.
    pub(super) fn note(&mut self, cell: usize, inst: &Instruction<'_>, operand: &Operand<'_>) {
        let Operand::Address { offset, .. } = operand else { return };
        let mut parts = inst.opcode.split('.');
        let store = parts.next() == Some("st");
        let count = parts.clone().find_map(|part| part.strip_prefix('v')).and_then(|n| n.parse().ok()).unwrap_or(1);
        let Some(ty) = parts.next_back().and_then(Type::parse) else { return };
        for index in 0..i64::min(count, 4) {
            let offset = offset.wrapping_add(index * i64::from(ty.bytes()));
            if offset >= 0 && offset.saturating_add(ty.bytes().into()) <= i64::from(self.cells[cell].bytes) {
                self.cells[cell].accesses.push((offset, ty.bytes(), store));
            }
        }
    }

    /// Records that one cell is copied to another.
    pub(super) fn alike(&mut self, one: usize, other: usize) {
        self.alike.push((one, other));
    }

    /// Unites the accesses of cells that are copied to each other, directly or indirectly.
    fn unite(&mut self) {
        let mut group: Vec<usize> = (0..self.cells.len()).collect();
        for &(one, other) in &self.alike {
            let (from, to) = (group[one].max(group[other]), group[one].min(group[other]));
            group.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
        }
        let mut united: BTreeMap<usize, Vec<Access>> = BTreeMap::new();
        for &cell in self.alike.iter().flat_map(|(one, other)| [one, other]).collect::<BTreeSet<_>>() {
            united.entry(group[cell]).or_default().append(&mut self.cells[cell].accesses);
        }
        for (cell, group) in self.cells.iter_mut().zip(group) {
            if let Some(accesses) = united.get(&group) {
                cell.accesses.clone_from(accesses);
            }
        }
    }

    /// Assigns the storage of every cell: in `local` for the kernel, in `own` for recursive
    /// functions.
    pub(super) fn settle(&mut self, scopes: &mut Scopes<'_, '_>, local: &mut Frame, own: &mut [OwnFrame]) -> Result<(), PtxError> {
        self.unite();
        for cell in &mut self.cells {
            let mut widths: BTreeMap<i64, u8> = BTreeMap::new();
            for &(offset, bytes, _) in &cell.accesses {
                let width = widths.entry(offset).or_default();
                *width = bytes.max(*width);
            }
            // Reads may take the lower bytes of a register; writes set all of it.
            let whole = cell.accesses.iter().all(|&(offset, bytes, store)| !store || widths[&offset] == bytes);
            let apart = widths.iter().zip(widths.keys().skip(1)).all(|((&at, &bytes), &next)| at + i64::from(bytes) <= next);
            if whole && apart {
                let mut registers = BTreeMap::new();
                for (&offset, &bytes) in &widths {
                    let ty = Type::Bits(bytes);
                    let range = scopes.registers(ty, None, cell.at, &cell.name)?;
                    registers.insert(offset, (typed(ty, range.first), bytes));
                }
                cell.place = Place::Registers(registers);
            } else {
                let variable = Variable {
                    name: &cell.name,
                    space: super::ast::StateSpace::Param,
                    ty: Type::Bits(1),
                    count: Some(cell.bytes),
                    align: cell.align,
                    external: false,
                    initial: Vec::new(),
                    opaque: None,
                    at: cell.at,
                };
                cell.place = match cell.owner.and_then(|owner| own.get_mut(owner)) {
                    Some(own) => Place::Frame(own.base, own.frame.place(scopes, &variable)?),
                    None => Place::Local(local.place(scopes, &variable)?),
                };
            }
        }
        Ok(())
    }
}
