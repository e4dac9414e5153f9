//! A cursor over the blank-separated fields of one line.

use super::error::{Problem, excerpt};

/// Unread fields of a line.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// Creates a cursor at the first field of `line`.
    pub(super) fn new(line: &'a [u8]) -> Self {
        Fields { line, at: 0 }
    }

    /// Returns the offset of the next byte in the line.
    #[inline]
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Skips blanks; afterwards [`Fields::rest`] starts with a field or is empty.
    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.line.get(self.at) {
            self.at += 1;
        }
    }

    /// Returns the rest of the line from the next byte on.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.line[self.at..]
    }

    /// Advances by `count` bytes, at most to the end of the line.
    #[inline]
    pub(super) fn advance(&mut self, count: usize) {
        self.at = (self.at + count).min(self.line.len());
    }

    /// Reads the next field; empty at the end of the line.
    pub(super) fn word(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let rest = self.rest();
        let length = rest.iter().position(|b| matches!(b, b' ' | b'\t')).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Reads a hexadecimal number of at most 64 bits, with or without `0x`.
    #[inline]
    pub(super) fn hex(&mut self, what: &'static str) -> Result<u64, Problem> {
        self.skip_blanks();
        let begin = self.at;
        if let [b'0', b'x' | b'X', ..] = self.rest() {
            self.at += 2;
        }
        let digits = self.at;
        let mut value = 0u64;
        while let Some(&byte) = self.line.get(self.at) {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                b'A'..=b'F' => byte - b'A' + 10,
                _ => break,
            };
            value = value << 4 | u64::from(digit);
            self.at += 1;
        }
        let length = self.at - digits;
        if length == 0 || length > 16 || !self.at_field_end() {
            return Err(self.fail(begin, what));
        }
        Ok(value)
    }

    /// Reads a decimal number with an optional sign, within 62 bits.
    #[inline]
    pub(super) fn decimal(&mut self, what: &'static str) -> Result<i64, Problem> {
        self.skip_blanks();
        let begin = self.at;
        let negative = match self.rest().first() {
            Some(b'-') => {
                self.at += 1;
                true
            }
            _ => false,
        };
        let digits = self.at;
        let mut value = 0i64;
        while let Some(&byte @ b'0'..=b'9') = self.line.get(self.at) {
            value = value.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
            self.at += 1;
        }
        let length = self.at - digits;
        if length == 0 || length > 18 || !self.at_field_end() {
            return Err(self.fail(begin, what));
        }
        Ok(if negative { -value } else { value })
    }

    /// Reads a decimal count of at most `limit`.
    pub(super) fn count(&mut self, what: &'static str, limit: u32) -> Result<u32, Problem> {
        let mut copy = *self;
        copy.skip_blanks();
        let begin = copy.at;
        let value = self.decimal(what)?;
        u32::try_from(value).ok().filter(|&count| count <= limit).ok_or_else(|| self.fail(begin, what))
    }

    /// Reads a register, `R0` to `R255`.
    pub(super) fn register(&mut self) -> Result<u8, Problem> {
        let what = "a register R0 to R255";
        self.skip_blanks();
        let begin = self.at;
        match self.word() {
            [b'R', digits @ ..] => std::str::from_utf8(digits).ok().and_then(|d| d.parse().ok()).ok_or_else(|| self.fail(begin, what)),
            _ => Err(self.fail(begin, what)),
        }
    }

    /// Creates the error that `what` was expected at byte `begin`.
    #[cold]
    pub(super) fn fail(&self, begin: usize, what: &'static str) -> Problem {
        let found = Fields { line: self.line, at: begin.min(self.line.len()) }.word();
        Problem::Field { what, found: excerpt(found), line: excerpt(self.line) }
    }

    #[inline]
    fn at_field_end(&self) -> bool {
        matches!(self.line.get(self.at), None | Some(b' ' | b'\t'))
    }
}
