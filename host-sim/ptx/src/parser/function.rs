//! Heads of functions: results, name, parameters, hints. PTX ISA 7.8 sections 7.1 and 11.2 to 11.4.

use super::{Parser, PtxError};
use crate::ast::{Function, Scope, StateSpace, Variable};

impl<'a> Parser<'_, 'a> {
    /// After `.entry` or `.func`.
    pub(super) fn function(&mut self, entry: bool) -> Result<Function<'a>, PtxError> {
        let returns = if entry { Vec::new() } else { self.parameters()? };
        let name = self.word(if entry { "the entry's name" } else { "the function's name" })?;
        let params = self.parameters()?;
        let mut function = Function { name: name.text, at: name.at, params, returns, scopes: vec![Scope::default()], body: None };
        loop {
            if self.accept("{") {
                break;
            }
            if !entry && self.accept(";") {
                return Ok(function);
            }
            self.hint()?;
        }
        function.body = Some(Vec::new());
        self.block(&mut function, 0)?;
        Ok(function)
    }

    /// `(.param .u64 a, .param .u32 b)`, or nothing.
    fn parameters(&mut self) -> Result<Vec<Variable<'a>>, PtxError> {
        let mut params = Vec::new();
        if self.accept("(") && !self.accept(")") {
            loop {
                if self.is(".reg") {
                    return Err(self.unsupported(self.peek(), "parameter in a register"));
                }
                self.expect(".param")?;
                params.push(self.variable(StateSpace::Param)?);
                if self.accept(")") {
                    break;
                }
                self.expect(",")?;
            }
        }
        Ok(params)
    }

    /// `.maxntid 256, 1, 1` and its kin tell the compiler, not the machine.
    fn hint(&mut self) -> Result<(), PtxError> {
        let token = self.word("`{`")?;
        match token.text {
            ".noreturn" => return Ok(()),
            ".pragma" => return self.skip_statement(),
            ".maxntid" | ".reqntid" | ".minnctapersm" | ".maxnctapersm" | ".maxnreg" => {}
            _ => return Err(self.unsupported(token, "directive")),
        }
        self.count("a number")?;
        while self.accept(",") {
            self.count("a number")?;
        }
        Ok(())
    }
}
