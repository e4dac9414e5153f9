//! Names of a kernel and their meanings, block by block (PTX ISA 7.8 section 5.4). Device functions
//! are expanded at their calls (`inline.rs`), each time with separate scopes.

use super::ast::{Opaque, Type, Variable};
use super::error::{Position, PtxError};
use super::program::{DoubleReg, PredReg, Reg, WordReg};
use std::collections::BTreeMap;

/// A run of numbered registers, or a single one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) first: u16,
    pub(super) count: Option<u32>,
    pub(super) ty: Type,
}

/// Meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    /// A register, or the prefix of numbered ones.
    Registers(Range),
    /// Index of an instruction.
    Label(u32),
    /// Indices of instructions.
    Table(Vec<u32>),
    /// Parameter of the kernel: byte offset in parameter memory, and size.
    Param(u32, u32),
    /// Parameter or result of a call, as an index of the cells.
    Cell(usize),
    /// Byte offset in shared memory.
    Shared(u32),
    /// Shared memory after the static part.
    DynamicShared,
    /// Byte offset in the thread's local memory.
    Local(u32),
    /// Byte offset in the frame of a recursive function, and the register with the frame's address.
    Frame(DoubleReg, u32),
    /// Address in device memory; true in constant memory.
    Device(u64, bool),
    /// Reference to a texture, sampler or surface, whose address is its handle.
    Opaque(u64, Opaque),
    /// Name that is declared but not defined.
    Undefined,
    /// Device function, and its address for pointers.
    Function(u64),
}

impl Symbol {
    /// Returns the index of a cell, if the symbol is one.
    pub(super) fn cell(self) -> Option<usize> {
        if let Symbol::Cell(cell) = self { Some(cell) } else { None }
    }
}

/// Names of one block.
#[derive(Debug, Default)]
pub(super) struct Level<'a> {
    pub(super) parent: Option<usize>,
    pub(super) symbols: BTreeMap<&'a str, Symbol>,
}

/// Scopes of an expanded kernel; the first holds the module's names.
#[derive(Debug)]
pub(super) struct Scopes<'m, 'a> {
    pub(super) file: &'m str,
    pub(super) levels: Vec<Level<'a>>,
    /// Number of registers per class: predicates, up to 32 bits, 64 bits.
    pub(super) counts: [u16; 3],
}

impl<'a> Scopes<'_, 'a> {
    /// Returns an error for invalid text.
    pub(super) fn syntax(&self, at: Position, message: impl Into<String>, found: &str) -> PtxError {
        PtxError::Syntax { file: self.file.into(), at, message: message.into(), found: found.into() }
    }

    /// Returns the levels from `scope` outwards.
    fn outwards(&self, scope: usize) -> impl Iterator<Item = &Level<'a>> {
        std::iter::successors(self.levels.get(scope), |level| level.parent.and_then(|parent| self.levels.get(parent)))
    }

    /// Returns the meaning of `name` in `scope`, except for numbered registers.
    pub(super) fn symbol(&self, scope: usize, name: &str) -> Option<&Symbol> {
        self.outwards(scope).find_map(|level| level.symbols.get(name))
    }

    /// Returns the register of a name.
    pub(super) fn register(&self, scope: usize, name: &str) -> Option<Reg> {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (range, index) = self.outwards(scope).find_map(|level| {
            if let Some(Symbol::Registers(range @ Range { count: None, .. })) = level.symbols.get(name) {
                return Some((*range, 0));
            }
            // A prefix may itself end in a digit, so the shortest number is tried last.
            (1..=digits).rev().find_map(|n| {
                let (prefix, number) = name.split_at(name.len() - n);
                let Some(Symbol::Registers(range)) = level.symbols.get(prefix) else { return None };
                let index: u32 = number.parse().ok()?;
                (index < range.count?).then_some((*range, index))
            })
        })?;
        Some(typed(range.ty, range.first + index as u16))
    }

    /// Creates an unnamed predicate.
    pub(super) fn hidden_predicate(&mut self) -> PredReg {
        let number = self.counts[0];
        self.counts[0] = number.saturating_add(1);
        PredReg(number)
    }

    /// Creates an unnamed 64-bit register.
    pub(super) fn hidden_double(&mut self) -> DoubleReg {
        let number = self.counts[2];
        self.counts[2] = number.saturating_add(1);
        DoubleReg(number)
    }

    /// Creates registers of a type.
    pub(super) fn registers(&mut self, ty: Type, count: Option<u32>, at: Position, name: &str) -> Result<Range, PtxError> {
        let used = &mut self.counts[class(ty)];
        let first = *used;
        match u16::try_from(count.unwrap_or(1)).ok().and_then(|n| first.checked_add(n)) {
            Some(next) => *used = next,
            None => return Err(self.syntax(at, "more than 65535 registers of one width", name)),
        }
        Ok(Range { first, count, ty })
    }
}

/// Returns the register class of a type: 0 for predicates, 1 for up to 32 bits, 2 for 64 bits.
fn class(ty: Type) -> usize {
    match ty {
        Type::Pred => 0,
        _ if ty.bytes() <= 4 => 1,
        _ => 2,
    }
}

/// Returns the register with a number in the class of a type.
pub(super) fn typed(ty: Type, number: u16) -> Reg {
    match class(ty) {
        0 => Reg::Pred(PredReg(number)),
        1 => Reg::Word(WordReg(number)),
        _ => Reg::Double(DoubleReg(number)),
    }
}

/// Memory that is allocated to variables one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Allocated bytes.
    pub(super) bytes: u32,
    most: u32,
    what: &'static str,
}

impl Frame {
    /// Parameters of a kernel: 4 KiB (PTX ISA section 5.1.6).
    pub(super) const PARAM: Frame = Frame { bytes: 0, most: 4 << 10, what: "4 KiB of parameters" };
    /// Static shared memory: 48 KiB (CUDA C programming guide, 16.7).
    pub(super) const SHARED: Frame = Frame { bytes: 0, most: 48 << 10, what: "48 KiB of static shared memory" };
    /// Local memory of one thread: 512 KiB (CUDA C programming guide, table "Technical
    /// specifications").
    pub(super) const LOCAL: Frame = Frame { bytes: 0, most: 512 << 10, what: "512 KiB of local memory per thread" };

    /// Allocates the next variable and returns its offset.
    pub(super) fn place(&mut self, scopes: &Scopes<'_, '_>, variable: &Variable<'_>) -> Result<u32, PtxError> {
        let start = u64::from(self.bytes).next_multiple_of(variable.align.into());
        let end = start + u64::from(variable.bytes());
        if end > u64::from(self.most) {
            let message = format!("a variable that does not fit {} with those before it", self.what);
            return Err(scopes.syntax(variable.at, message, variable.name));
        }
        self.bytes = end as u32;
        Ok(start as u32)
    }
}
