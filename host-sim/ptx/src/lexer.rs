//! Lexer from PTX text to tokens (PTX ISA 7.8, section 4 "Syntax").
//!
//! Opcodes, directives, registers and labels are words. Dots, `%` and `$` count as letters, so
//! `ld.global.f32`, `.reg` and `%tid.x` are one token each. The parser splits them where needed.

use super::error::{Position, PtxError};

/// A token with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Kind of the token.
    pub kind: TokenKind,
    /// Text, without the quotes of a string.
    pub text: &'a str,
    /// Position of the first character.
    pub at: Position,
}

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Opcode, directive, register, label or symbol.
    Word,
    /// A number, which starts with a digit.
    Number,
    /// Text in double quotes.
    Text,
    /// One character of punctuation.
    Punctuation,
    /// After the last token.
    End,
}

/// Splits `text` into tokens; the last is [`TokenKind::End`].
///
/// # Errors
/// [`PtxError`] for a character outside of PTX, or an unclosed string or comment.
pub fn tokenize<'a>(file: &str, text: &'a str) -> Result<Vec<Token<'a>>, PtxError> {
    let mut lexer = Lexer { file, text, offset: 0, at: Position { line: 1, column: 1 } };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        tokens.push(token);
        if token.kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'f, 'a> {
    file: &'f str,
    text: &'a str,
    offset: usize,
    at: Position,
}

impl<'a> Lexer<'_, 'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.offset..]
    }

    fn advance(&mut self, bytes: usize) -> &'a str {
        let taken = &self.rest()[..bytes];
        for c in taken.chars() {
            if c == '\n' {
                self.at.line += 1;
                self.at.column = 1;
            } else {
                self.at.column += 1;
            }
        }
        self.offset += bytes;
        taken
    }

    fn error(&self, message: &str) -> PtxError {
        let found = self.rest().lines().next().unwrap_or_default().chars().take(40).collect();
        PtxError::Syntax { file: self.file.into(), at: self.at, message: message.into(), found }
    }

    fn skip_blanks(&mut self) -> Result<(), PtxError> {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").ok_or_else(|| self.error("unclosed comment"))? + 2
            } else {
                0
            };
            if blanks + comment == 0 {
                return Ok(());
            }
            self.advance(blanks.max(comment));
        }
    }

    fn next(&mut self) -> Result<Token<'a>, PtxError> {
        self.skip_blanks()?;
        let (rest, at) = (self.rest(), self.at);
        let Some(first) = rest.chars().next() else {
            return Ok(Token { kind: TokenKind::End, text: "end of file", at });
        };
        if first == '"' {
            let close = rest[1..].find('"').ok_or_else(|| self.error("unclosed string"))?;
            let text = &self.advance(close + 2)[1..=close];
            return Ok(Token { kind: TokenKind::Text, text, at });
        }
        let (kind, length) = if first.is_ascii_digit() {
            (TokenKind::Number, run(rest, |c| c.is_ascii_alphanumeric() || c == '.'))
        } else if is_word(first) {
            (TokenKind::Word, word(rest))
        } else if ",;:{}()[]<>+-@!|=".contains(first) {
            (TokenKind::Punctuation, 1)
        } else {
            return Err(self.error("a character that is not valid in PTX"));
        };
        Ok(Token { kind, text: self.advance(length), at })
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_$%.".contains(c)
}

/// Returns the length of a word. `L1::no_allocate` is one; a label before its colon is not.
fn word(text: &str) -> usize {
    let mut length = run(text, is_word);
    while let Some(rest) = text[length..].strip_prefix("::").filter(|rest| rest.starts_with(is_word)) {
        length += 2 + run(rest, is_word);
    }
    length
}

fn run(text: &str, accept: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accept(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_keep_their_dots_and_positions_count_from_one() {
        let tokens = tokenize("k.ptx", "// c\n@%p1 bra \t$L;\n/* a\nb */ mov.f32 %f1, 0f00000000;").unwrap();
        let texts: Vec<&str> = tokens.iter().map(|t| t.text).collect();
        assert_eq!(texts, ["@", "%p1", "bra", "$L", ";", "mov.f32", "%f1", ",", "0f00000000", ";", "end of file"]);
        assert_eq!(tokens[0].at, Position { line: 2, column: 1 });
        assert_eq!(tokens[3].at, Position { line: 2, column: 11 });
        assert_eq!(tokens[5].at, Position { line: 4, column: 6 });
        assert_eq!(tokens[8].kind, TokenKind::Number);
    }

    #[test]
    fn foreign_characters_are_named() {
        let error = tokenize("k.ptx", "ret;\n  # hello").unwrap_err().to_string();
        assert_eq!(error, "k.ptx:2:3: a character that is not valid in PTX, found `# hello`");
        assert!(tokenize("k.ptx", "/* no end").unwrap_err().to_string().contains("unclosed comment"));
    }

    proptest! {
        #[test]
        fn any_text_is_tokens_or_an_error(text in "\\PC*") {
            let _ = tokenize("k.ptx", &text);
        }
    }
}
