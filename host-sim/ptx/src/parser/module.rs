//! What stands outside of functions: version, target, variables, functions, debug information. PTX ISA 7.8 section 11.

use super::{Parser, PtxError};
use crate::ast::{Module, StateSpace};
use crate::lexer::TokenKind;

impl<'a> Parser<'_, 'a> {
    pub(super) fn module(mut self) -> Result<Module<'a>, PtxError> {
        let mut module =
            Module { file: self.file.into(), variables: Vec::new(), entries: Vec::new(), functions: Vec::new(), refused: Vec::new() };
        let mut versioned = false;
        let mut external = false;
        loop {
            let token = self.take();
            match token.text {
                _ if token.kind == TokenKind::End => break,
                ".version" => {
                    let version = self.take();
                    let major = version.text.split('.').next().and_then(|m| m.parse::<u32>().ok());
                    match major {
                        Some(1..=8) => versioned = true,
                        _ => return Err(self.unsupported(version, "PTX version")),
                    }
                }
                ".target" => {
                    self.word("a target")?;
                    while self.accept(",") {
                        self.word("a target")?;
                    }
                }
                ".address_size" => {
                    let size = self.take();
                    if size.text != "64" {
                        return Err(self.unsupported(size, "address size"));
                    }
                }
                ".visible" | ".weak" | ".common" => continue,
                ".extern" => {
                    external = true;
                    continue;
                }
                ".entry" | ".func" if !versioned => {
                    return Err(self.syntax(token, format!("expected `.version` before the first `{}`", token.text)));
                }
                ".entry" | ".func" => self.entry_or_function(token.text == ".entry", &mut module)?,
                ".global" => self.variables(StateSpace::Global, external, &mut module.variables)?,
                ".const" => self.variables(StateSpace::Const, external, &mut module.variables)?,
                ".shared" => self.variables(StateSpace::Shared, external, &mut module.variables)?,
                ".file" | ".section" | ".loc" => self.debug_directive(token.text)?,
                ".pragma" => self.skip_statement()?,
                text if text.starts_with('.') => return Err(self.unsupported(token, "directive")),
                _ => return Err(self.syntax(token, "expected a directive")),
            }
            external = false;
        }
        if !versioned {
            return Err(self.syntax(self.peek(), "expected `.version`"));
        }
        Ok(module)
    }

    /// Debug information, for humans: `.file 1 "a.cu"`, `.loc 1 2 3, inlined_at 1 5 6`, `.section name { .. }`.
    pub(super) fn debug_directive(&mut self, directive: &str) -> Result<(), PtxError> {
        if directive == ".section" {
            self.word("a section")?;
            self.expect("{")?;
            while !self.accept("}") {
                if self.at_end() {
                    return Err(self.syntax(self.peek(), "expected `}`"));
                }
                self.take();
            }
            return Ok(());
        }
        loop {
            while matches!(self.peek().kind, TokenKind::Number | TokenKind::Text) {
                self.take();
            }
            if !self.accept(",") {
                return Ok(());
            }
            // `function_name $L__info_string0` and `inlined_at`.
            if self.accept("function_name") {
                self.word("a name")?;
                if self.accept("+") {
                    self.take();
                }
            } else {
                self.accept("inlined_at");
            }
        }
    }
}
