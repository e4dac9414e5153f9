//! Parser of function headers: results, name, parameters, hints (PTX ISA 7.8 sections 7.1 and 11.2
//! to 11.4).

use super::{Parser, PtxError};
use crate::ast::{Function, Module, Refused, Scope, StateSpace, Variable};
use crate::lexer::TokenKind;

impl<'a> Parser<'_, 'a> {
    /// Parses a function after `.entry` or `.func`. An invalid one is recorded with its error, so
    /// that the other functions of the module remain usable.
    pub(super) fn entry_or_function(&mut self, entry: bool, module: &mut Module<'a>) -> Result<(), PtxError> {
        let start = self.next;
        match self.function(entry) {
            Ok(function) if entry => module.entries.push(function),
            Ok(function) => module.functions.push(function),
            Err(error) => {
                self.next = start;
                let Some(name) = self.skip_function(entry) else { return Err(error) };
                module.refused.push(Refused { name, entry, error });
            }
        }
        Ok(())
    }

    /// Skips a function up to the brace that closes its body, or the semicolon after its header.
    /// Returns its name, if the text is complete.
    fn skip_function(&mut self, entry: bool) -> Option<&'a str> {
        if !entry && self.accept("(") {
            self.skip_past(")")?;
        }
        let name = self.word("a name").ok()?.text;
        loop {
            if self.is("{") {
                break;
            } else if self.is(";") {
                self.take();
                return Some(name);
            } else if self.at_end() {
                return None;
            }
            self.take();
        }
        let mut depth = 0usize;
        loop {
            let token = self.take();
            match token.text {
                _ if token.kind == TokenKind::Text => {}
                _ if token.kind == TokenKind::End => return None,
                "{" => depth += 1,
                "}" if depth <= 1 => return Some(name),
                "}" => depth -= 1,
                _ => {}
            }
        }
    }

    fn skip_past(&mut self, text: &str) -> Option<()> {
        while !self.accept(text) {
            if self.at_end() {
                return None;
            }
            self.take();
        }
        Some(())
    }

    /// Parses a function after `.entry` or `.func`.
    fn function(&mut self, entry: bool) -> Result<Function<'a>, PtxError> {
        let returns = if entry { Vec::new() } else { self.parameters()? };
        let name = self.word(if entry { "the entry's name" } else { "the function's name" })?;
        self.source.unknown(name.at);
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

    /// Parses optional parameters such as `(.param .u64 a, .param .u32 b)`.
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

    /// Skips hints such as `.maxntid 256, 1, 1`, which address the compiler, not the GPU.
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
