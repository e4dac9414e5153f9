//! Registers of matrix fragments, and the conversion between them and a matrix in row order.

use super::element::Kind;
use super::fragment::{Fragment, Role};
use crate::LANES;
use crate::ast::Operand;
use crate::error::PtxError;
use crate::exec::memory::{Source, Target};
use crate::operands::Decoder;
use crate::registers::Lanes;

/// Operand of a matrix instruction: its type and its distribution over the warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Type of the elements.
    pub kind: Kind,
    /// Distribution of the elements over the lanes.
    pub fragment: Fragment,
}

impl Held {
    /// Returns the number of registers of the fragment. `wmma` loads of halves fill eight registers
    /// for either factor, even for a smaller one: the tiles are then repeated.
    fn registers(&self) -> usize {
        self.fragment.slots() * self.kind.bits() / self.kind.register_bits()
    }

    /// Returns the index of an element in row order, with all products one after the other.
    fn index(&self, lane: usize, slot: usize) -> usize {
        let (f, place) = (&self.fragment, self.fragment.place(lane, slot));
        (place.product * f.rows + place.row) * f.columns + place.column
    }

    /// Returns the register and first bit of a lane's element.
    fn slot(&self, slot: usize) -> (usize, usize) {
        let bit = slot * self.kind.bits();
        (bit / self.kind.register_bits(), bit % self.kind.register_bits())
    }
}

/// Returns the registers of a fragment, as written: a vector, or a single register.
fn elements<'t, 'a>(d: &Decoder<'t, 'a>, matrix: Held, index: usize) -> Result<&'t [Operand<'a>], PtxError> {
    let operand = d.operand(index)?;
    let found = match operand {
        Operand::Vector(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    let warp_halves = d.parts[0] == "wmma" && matrix.kind == Kind::F16 && matrix.fragment.role != Role::C;
    // PTX ISA 7.8 section 9.7.13.3.1: eight registers of two halves.
    let expected = if warp_halves { 8 } else { matrix.registers() };
    if found.len() != expected {
        return d.wrong(format!("expected a vector of {expected} registers"), operand.to_string());
    }
    Ok(found)
}

/// Reads operand `index` as the source registers of a fragment.
pub(super) fn sources(d: &mut Decoder<'_, '_>, matrix: Held, index: usize) -> Result<Vec<Source>, PtxError> {
    let wide = matrix.kind == Kind::F64;
    let elements = elements(d, matrix, index)?;
    elements.iter().map(|e| if wide { d.src64(e).map(Source::Double) } else { d.src32(e).map(Source::Word) }).collect()
}

/// Reads operand `index` as the destination registers of a fragment.
pub(super) fn targets(d: &mut Decoder<'_, '_>, matrix: Held, index: usize) -> Result<Vec<Target>, PtxError> {
    let wide = matrix.kind == Kind::F64;
    let elements = elements(d, matrix, index)?;
    elements.iter().map(|e| if wide { d.dst64(e).map(Target::Double) } else { d.dst32(e).map(Target::Word) }).collect()
}

/// Returns the bits of all elements in row order.
pub(super) fn gather(matrix: &Held, from: &[Source], l: &Lanes<'_>) -> Vec<u64> {
    let f = &matrix.fragment;
    let mut all = vec![0; f.products() * f.rows * f.columns];
    let mask = if matrix.kind.bits() == 64 { u64::MAX } else { (1 << matrix.kind.bits()) - 1 };
    let mut held = (usize::MAX, [0; LANES]);
    for slot in 0..f.slots() {
        let (register, bit) = matrix.slot(slot);
        if held.0 != register {
            let values = match from[register] {
                Source::Word(src) => l.regs.word(src).map(u64::from),
                Source::Double(src) => l.regs.double(src),
            };
            held = (register, values);
        }
        for lane in 0..LANES {
            all[matrix.index(lane, slot)] = held.1[lane] >> bit & mask;
        }
    }
    all
}

/// Writes all elements, given in row order, to the active lanes.
pub(super) fn scatter(matrix: &Held, to: &[Target], all: &[u64], l: &mut Lanes<'_>) {
    let registers = matrix.registers();
    let mut values = vec![[0u64; LANES]; registers];
    for slot in 0..matrix.fragment.slots() {
        let (register, bit) = matrix.slot(slot);
        for lane in 0..LANES {
            values[register][lane] |= all[matrix.index(lane, slot)] << bit;
        }
    }
    for (target, values) in to.iter().zip(values.iter().cycle()) {
        match *target {
            Target::Word(dst) => l.regs.set_word(dst, l.mask, &values.map(|v| v as u32)),
            Target::Double(dst) => l.regs.set_double(dst, l.mask, values),
        }
    }
}
