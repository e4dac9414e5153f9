//! Expansion of calls to CUDA's run-time system: `vprintf`, `malloc`, `free` (CUDA C programming
//! guide, sections "Formatted Output" and "Dynamic Global Memory Allocation and Operations").
//! `exec/system.rs` executes them.

use super::ast::{Instruction, Operand};
use super::cells::Place;
use super::error::PtxError;
use super::inline::{Action, Flat};

/// A call of the run-time system.
#[derive(Clone, Debug)]
pub(super) struct RuntimeCall {
    pub(super) name: String,
    /// Cells of the arguments.
    pub(super) arguments: Vec<usize>,
    /// Cell of the result, if any.
    pub(super) result: Option<usize>,
}

impl<'m, 'a> Flat<'m, 'a> {
    /// Appends a call of the run-time system.
    pub(super) fn call_runtime(
        &mut self,
        inst: &'m Instruction<'a>,
        scope: usize,
        name: &str,
        results: &[Operand<'a>],
        arguments: &[Operand<'a>],
    ) -> Result<(), PtxError> {
        let expected = match name {
            "vprintf" => (1, 2),
            "malloc" => (1, 1),
            _ => (0, 1),
        };
        if (results.len(), arguments.len()) != expected {
            let message = format!("expected {} results and {} arguments", expected.0, expected.1);
            return Err(self.scopes.syntax(inst.at, message, name));
        }
        let cells =
            |operands: &[Operand<'a>]| operands.iter().map(|operand| self.cell(inst, scope, operand)).collect::<Result<Vec<_>, _>>();
        let (result, arguments) = (cells(results)?.first().copied(), cells(arguments)?);
        let number = self.runtime.len();
        self.runtime.push(RuntimeCall { name: name.to_owned(), arguments, result });
        self.push(inst, scope, Action::Runtime(number))
    }
}

/// Returns the register of a cell with one value, if it is accessed.
pub(super) fn register(place: &Place) -> Option<super::program::Reg> {
    match place {
        Place::Registers(registers) => registers.get(&0).map(|&(reg, _)| reg),
        Place::Local(_) | Place::Frame(..) => None,
    }
}
