//! Calls of device functions: the callee and the data passed (PTX ISA 7.8 section 9.7.12 "call").
//!
//! `subroutine.rs` handles recursive functions, `pointer.rs` calls through pointers, and
//! `runtime.rs` functions without a body.

use super::ast::{Function, Instruction, Operand, Variable};
use super::error::PtxError;
use super::inline::{Action, Flat};
use super::scope::Symbol;

/// Maximum nesting of calls. Assumption: far more than code without recursion has.
const MAX_DEPTH: usize = 64;

impl<'m, 'a> Flat<'m, 'a> {
    /// Expands a call.
    pub(super) fn call(&mut self, inst: &'m Instruction<'a>, scope: usize) -> Result<(), PtxError> {
        let operands = inst.operands.as_slice();
        let (results, operands) = match operands {
            [Operand::List(results), rest @ ..] => (results.as_slice(), rest),
            rest => (&[][..], rest),
        };
        let Some((Operand::Name(name), rest)) = operands.split_first() else {
            return Err(self.scopes.syntax(inst.at, "expected the name of a function", inst.opcode));
        };
        let arguments = match rest {
            [Operand::List(arguments), ..] => arguments.as_slice(),
            _ => &[],
        };
        if self.scopes.register(scope, name).is_some() {
            return self.call_by_pointer(inst, scope, results, arguments);
        }
        let named = |f: &&Function<'a>| f.name == *name;
        // A declaration may precede the body.
        let functions = &self.module.functions;
        let Some(function) = functions.iter().filter(named).find(|f| f.body.is_some()).or_else(|| functions.iter().find(named)) else {
            if let Some(refused) = self.module.refused.iter().find(|r| !r.entry && r.name == *name) {
                return Err(refused.error.clone());
            }
            return Err(self.scopes.syntax(inst.at, "expected a function of the module", name));
        };
        if function.body.is_none() {
            return match *name {
                "__assertfail" | "__assert_fail" => self.push(inst, scope, Action::Trap),
                "vprintf" | "malloc" | "free" => self.call_runtime(inst, scope, name, results, arguments),
                _ => Err(self.scopes.syntax(inst.at, "a function that is declared but not defined in this file", name)),
            };
        }
        if self.recursive.contains(function.name) {
            return self.enter(inst, scope, function, results, arguments);
        }
        if self.open.len() >= MAX_DEPTH {
            let (file, opcode) = (self.scopes.file.into(), (*name).into());
            return Err(PtxError::Unsupported { file, at: inst.at, what: "call nested in 64 others", opcode });
        }
        let mut bound = self.bind(inst, scope, "results", results, &function.returns)?;
        bound.extend(self.bind(inst, scope, "arguments", arguments, &function.params)?);
        let at = self.insts.len();
        self.push(inst, scope, Action::Call(0))?;
        self.expand(function, bound)?;
        self.insts[at].action = Action::Call(self.insts.len() as u32);
        Ok(())
    }

    /// Returns the cell of a `.param` variable.
    pub(super) fn cell(&self, inst: &Instruction<'a>, scope: usize, operand: &Operand<'a>) -> Result<usize, PtxError> {
        match operand {
            Operand::Name(name) => match self.scopes.symbol(scope, name) {
                Some(&Symbol::Cell(cell)) => Ok(cell),
                _ => Err(self.scopes.syntax(inst.at, "expected a `.param` variable", name)),
            },
            other => Err(self.scopes.syntax(inst.at, "expected a `.param` variable", &other.to_string())),
        }
    }

    /// Binds the cells of a call's operands to the names that the function declares.
    pub(super) fn bind(
        &self,
        inst: &Instruction<'a>,
        scope: usize,
        what: &str,
        given: &[Operand<'a>],
        declared: &[Variable<'a>],
    ) -> Result<Vec<(&'a str, Symbol)>, PtxError> {
        if given.len() != declared.len() {
            let message = format!("expected {} {what}, not {}", declared.len(), given.len());
            return Err(self.scopes.syntax(inst.at, message, inst.opcode));
        }
        let mut bound = Vec::new();
        for (operand, variable) in given.iter().zip(declared) {
            let cell = self.cell(inst, scope, operand)?;
            if self.cells.bytes(cell) != variable.bytes() {
                let message = format!("expected a parameter of {} bytes for `{}`", variable.bytes(), variable.name);
                return Err(self.scopes.syntax(inst.at, message, &operand.to_string()));
            }
            bound.push((variable.name, Symbol::Cell(cell)));
        }
        Ok(bound)
    }
}
