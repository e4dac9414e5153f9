//! Parser from tokens to a [`Module`] (PTX ISA 7.8, sections 4 "Syntax", 5 "State Spaces" and 11
//! "Directives").
//!
//! `module.rs` parses text outside of functions, `function.rs` function headers, and `body.rs`
//! function bodies. `variable.rs` parses declarations with their initial values, `opaque.rs`
//! textures and surfaces, `number.rs` literals.

mod body;
mod function;
mod module;
mod number;
mod opaque;
#[cfg(test)]
mod tests;
mod variable;

use super::ast::{Module, Operand};
use super::error::{Position, PtxError};
use super::lexer::{Token, TokenKind, tokenize};
use super::source::SourceMap;

/// Position before the first character, for errors about a whole file.
pub const START: Position = Position { line: 1, column: 1 };

/// Parses a PTX text; `file` is its name in messages.
///
/// # Errors
/// [`PtxError::Syntax`], or [`PtxError::Unsupported`] for PTX directives that are not supported.
pub fn parse<'a>(file: &str, text: &'a str) -> Result<Module<'a>, PtxError> {
    let tokens = tokenize(file, text)?;
    Parser { file, tokens, next: 0, source: SourceMap::default() }.module()
}

/// Position in the tokens of a file.
struct Parser<'f, 'a> {
    file: &'f str,
    tokens: Vec<Token<'a>>,
    next: usize,
    source: SourceMap,
}

impl<'a> Parser<'_, 'a> {
    fn peek(&self) -> Token<'a> {
        // The last token is End and is never consumed.
        self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn syntax(&self, token: Token<'a>, message: impl Into<String>) -> PtxError {
        PtxError::Syntax { file: self.file.into(), at: token.at, message: message.into(), found: token.text.into() }
    }

    fn unsupported(&self, token: Token<'a>, what: &'static str) -> PtxError {
        PtxError::Unsupported { file: self.file.into(), at: token.at, what, opcode: token.text.into() }
    }

    fn is(&self, text: &str) -> bool {
        self.peek().kind != TokenKind::Text && self.peek().text == text
    }

    fn at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Result<(), PtxError> {
        if self.accept(text) { Ok(()) } else { Err(self.syntax(self.peek(), format!("expected `{text}`"))) }
    }

    fn word(&mut self, what: &str) -> Result<Token<'a>, PtxError> {
        let token = self.peek();
        if token.kind == TokenKind::Word { Ok(self.take()) } else { Err(self.syntax(token, format!("expected {what}"))) }
    }

    fn count(&mut self, what: &str) -> Result<u32, PtxError> {
        let token = self.take();
        match number::literal(token.text) {
            Some(Operand::Integer(value)) if u32::try_from(value).is_ok() => Ok(value as u32),
            _ => Err(self.syntax(token, format!("expected {what}"))),
        }
    }

    /// Skips everything up to the next `;`.
    fn skip_statement(&mut self) -> Result<(), PtxError> {
        while !self.accept(";") {
            if self.at_end() {
                return Err(self.syntax(self.peek(), "expected `;`"));
            }
            self.take();
        }
        Ok(())
    }
}
