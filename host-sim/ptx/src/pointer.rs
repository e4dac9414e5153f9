//! Calls through pointers (PTX ISA 7.8 section 9.7.12 "call"). The possible callees are the
//! functions of the module whose address is taken and whose parameters and results fit the call.
//!
//! Such a call becomes one guarded call per function, one after the other, each for the lanes that
//! point to it. Any other pointer ends the kernel.

use super::ast::{Function, Initial, Instruction, Module, Operand, Variable};
use super::error::PtxError;
use super::inline::{Action, Flat};

/// Address of the first function, for pointers. Assumption: any address outside of all memory.
const FUNCTIONS: u64 = 0x0004_0000_0000;

/// Distance between functions in bytes. Assumption: the alignment of code.
const STEP: u64 = 128;

/// Returns the address of a device function.
pub(super) fn address(module: &Module<'_>, name: &str) -> Option<u64> {
    module.functions.iter().position(|function| function.name == name).map(|index| FUNCTIONS + STEP * index as u64)
}

/// Returns whether the address of a function is taken: it is named other than in a call.
fn is_taken(module: &Module<'_>, function: &str) -> bool {
    let in_operand = |inst: &Instruction<'_>| {
        let is_call = inst.opcode == "call" || inst.opcode.starts_with("call.");
        let named = |operand: &Operand<'_>| match operand {
            Operand::Name(name) | Operand::Address { base: Some(name), .. } => *name == function,
            _ => false,
        };
        !is_call && inst.operands.iter().any(named)
    };
    let bodies = module.entries.iter().chain(&module.functions).flat_map(|f| f.body.iter().flatten());
    let initial = |value: &Initial<'_>| matches!(value, Initial::Address { name, .. } if *name == function);
    bodies.into_iter().any(in_operand) || module.variables.iter().any(|variable| variable.initial.iter().any(initial))
}

/// Returns whether the operands of a call, by size in bytes, match the declaration of a function.
fn fits(given: &[u32], declared: &[Variable<'_>]) -> bool {
    given.iter().copied().eq(declared.iter().map(Variable::bytes))
}

/// Returns the possible callees of a call through a pointer, by the sizes in bytes of its arguments
/// and results.
pub(super) fn candidates<'m, 'a>(module: &'m Module<'a>, given: &[u32], expected: &[u32]) -> Vec<&'m Function<'a>> {
    (module.functions.iter())
        .filter(|f| f.body.is_some() && fits(given, &f.params) && fits(expected, &f.returns))
        .filter(|f| is_taken(module, f.name))
        .collect()
}

impl<'m, 'a> Flat<'m, 'a> {
    /// Expands a call through a pointer.
    pub(super) fn call_by_pointer(
        &mut self,
        inst: &'m Instruction<'a>,
        scope: usize,
        results: &[Operand<'a>],
        arguments: &[Operand<'a>],
    ) -> Result<(), PtxError> {
        let (given, expected) = (self.sizes(inst, scope, arguments)?, self.sizes(inst, scope, results)?);
        let module = self.module;
        let mut addresses = Vec::new();
        for function in candidates(module, &given, &expected) {
            let Some(address) = address(module, function.name) else { continue };
            addresses.push(address);
            self.push(inst, scope, Action::Choose(address))?;
            let at = self.insts.len();
            self.push(inst, scope, Action::Chosen(0))?;
            if self.recursive.contains(function.name) {
                self.enter(inst, scope, function, results, arguments)?;
            } else {
                let mut bound = self.bind(inst, scope, "results", results, &function.returns)?;
                bound.extend(self.bind(inst, scope, "arguments", arguments, &function.params)?);
                self.expand(function, bound)?;
            }
            self.insts[at].action = Action::Chosen(self.insts.len() as u32);
        }
        let number = self.candidates.len();
        self.candidates.push(addresses.into());
        self.push(inst, scope, Action::Unknown(number))
    }

    /// Returns the sizes in bytes of the `.param` variables of a call.
    fn sizes(&self, inst: &Instruction<'a>, scope: usize, operands: &[Operand<'a>]) -> Result<Vec<u32>, PtxError> {
        operands.iter().map(|operand| self.cell(inst, scope, operand).map(|cell| self.cells.bytes(cell))).collect()
    }
}

/// Returns the pointer operand of a call.
pub(super) fn pointer<'i, 'a>(inst: &'i Instruction<'a>) -> Option<&'i Operand<'a>> {
    inst.operands.iter().find(|operand| matches!(operand, Operand::Name(_)))
}
