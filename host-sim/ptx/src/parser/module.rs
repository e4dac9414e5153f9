//! Parser of text outside of functions: version, target, variables, functions, debug information
//! (PTX ISA 7.8 section 11).

use super::{Parser, PtxError, number};
use crate::ast::{Module, Operand, StateSpace};
use crate::lexer::{Token, TokenKind};
use crate::source::{SourceLine, SourceMap};

impl<'a> Parser<'_, 'a> {
    pub(super) fn module(mut self) -> Result<Module<'a>, PtxError> {
        let mut module = Module {
            file: self.file.into(),
            variables: Vec::new(),
            entries: Vec::new(),
            functions: Vec::new(),
            refused: Vec::new(),
            source: SourceMap::default(),
        };
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
                ".file" | ".section" | ".loc" => self.debug_directive(token)?,
                ".pragma" => self.skip_statement()?,
                text if text.starts_with('.') => return Err(self.unsupported(token, "directive")),
                _ => return Err(self.syntax(token, "expected a directive")),
            }
            external = false;
        }
        if !versioned {
            return Err(self.syntax(self.peek(), "expected `.version`"));
        }
        module.source = self.source;
        Ok(module)
    }

    /// Parses debug information: `.file 1 "a.cu"`, `.loc 1 2 3, inlined_at 1 5 6`, and `.section
    /// name { .. }`, which is skipped.
    pub(super) fn debug_directive(&mut self, directive: Token<'a>) -> Result<(), PtxError> {
        if directive.text == ".section" {
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
        let (mut name, mut own, mut inlined) = (None, Vec::new(), Vec::new());
        let mut is_inlined = false;
        loop {
            while matches!(self.peek().kind, TokenKind::Number | TokenKind::Text) {
                let token = self.take();
                match number::literal(token.text) {
                    _ if token.kind == TokenKind::Text => name = name.or(Some(token.text)),
                    Some(Operand::Integer(value)) => if is_inlined { &mut inlined } else { &mut own }.push(value),
                    _ => return Err(self.syntax(token, "expected a whole number")),
                }
            }
            if !self.accept(",") {
                break;
            }
            // `function_name $L__info_string0` and `inlined_at`.
            if self.accept("function_name") {
                self.word("a name")?;
                if self.accept("+") {
                    self.take();
                }
            } else {
                is_inlined |= self.accept("inlined_at");
            }
        }
        let number = |value: u64| u32::try_from(value).ok();
        let line = |list: &[u64]| match list {
            [file, line, ..] => Some(SourceLine { file: number(*file)?, line: number(*line)? }),
            _ => None,
        };
        match (directive.text, name) {
            (".file", Some(name)) => own.first().copied().and_then(number).into_iter().for_each(|number| self.source.file(number, name)),
            _ => line(&own).into_iter().for_each(|own| self.source.mark(directive.at, own, line(&inlined))),
        }
        Ok(())
    }
}
