//! Calls of CUDA's run-time system: `vprintf`, `malloc`, `free` (CUDA C programming guide, sections
//! "Formatted Output" and "Dynamic Global Memory Allocation and Operations"). The calls are
//! expanded in `runtime.rs`, and output is formatted in `print.rs`.

use super::access::{LaneFault, Memories, Reach, lanes};
use super::memory::Target;
use crate::LANES;
use crate::error::PtxError;
use crate::memory::LocalMemory;
use crate::operands::Decoder;
use crate::print;
use crate::program::{Reg, Src, Src64};
use crate::registers::Lanes;
use crate::runtime::register;

/// Function of the run-time system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `vprintf`: prints by a format and the address of its values; returns the number of values.
    Print,
    /// `malloc`: allocates bytes; returns their address, or 0.
    Allocate,
    /// `free`: frees memory of `malloc`.
    Free,
}

/// A decoded call of the run-time system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System {
    /// Function to call.
    pub call: Call,
    arguments: [Src64; 2],
    to: Option<Target>,
}

/// Decodes call `number` of the run-time system.
pub(crate) fn decode(d: &mut Decoder<'_, '_>, number: usize) -> Result<super::Op, PtxError> {
    let tables = d.tables;
    let Some(call) = tables.runtime.get(number) else { return d.unsupported() };
    let mut arguments = [Src::Imm(0); 2];
    for (slot, &cell) in arguments.iter_mut().zip(&call.arguments) {
        match register(tables.cells.place(cell)) {
            Some(reg @ Reg::Double(double)) => {
                d.touch(reg, false);
                *slot = Src::Reg(double);
            }
            _ => return d.wrong("expected one value of 64 bits as argument", call.name.clone()),
        }
    }
    let to = match call.result.and_then(|cell| register(tables.cells.place(cell))) {
        None => None,
        Some(reg @ Reg::Word(word)) => {
            d.touch(reg, true);
            Some(Target::Word(word))
        }
        Some(reg @ Reg::Double(double)) => {
            d.touch(reg, true);
            Some(Target::Double(double))
        }
        Some(Reg::Pred(_)) => return d.unsupported(),
    };
    let call = match call.name.as_str() {
        "vprintf" => Call::Print,
        "malloc" => Call::Allocate,
        _ => Call::Free,
    };
    Ok(super::Op::System(System { call, arguments, to }))
}

/// Executes the call in the active lanes, one after the other, and returns their output.
pub(crate) fn execute(op: &System, l: &mut Lanes<'_>, m: &mut Memories<'_>, local: &mut LocalMemory) -> Result<String, LaneFault> {
    m.addresses.clear();
    let [first, second] = op.arguments.map(|source| l.regs.double(source));
    let mut results = [0u64; LANES];
    let mut printed = String::new();
    for lane in lanes(l.mask) {
        results[lane] = match op.call {
            Call::Print => {
                let mut reach = Reach::new(m, local);
                let mut read = |address: u64, bytes: u32| reach.read(lane, address, bytes);
                print::formatted(first[lane], second[lane], &mut read, &mut printed)?
            }
            Call::Allocate => m.device.heap_allocate(first[lane]),
            Call::Free => {
                m.device.heap_free(first[lane]);
                0
            }
        };
    }
    match op.to {
        Some(Target::Word(to)) => l.regs.set_word(to, l.mask, &results.map(|value| value as u32)),
        Some(Target::Double(to)) => l.regs.set_double(to, l.mask, &results),
        None => {}
    }
    Ok(printed)
}
