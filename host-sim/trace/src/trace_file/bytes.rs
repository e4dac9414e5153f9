//! Byte encodings of numbers: LEB128 varints, zigzag, strings, and runs of predicted elements. See
//! `docs/reference/trace-format.md`, "Numbers".

use super::error::Fault;

/// Maximum number of elements that one run or copy represents.
///
/// It bounds the memory that a file can claim: 64 elements of at most 16 bytes per byte of the
/// file, for any claimed count.
pub const MOST_PER_RUN: u64 = 64;

/// Appends an unsigned number, seven bits per byte, lowest first.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a string: its length in bytes, then UTF-8.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Maps signed to unsigned numbers with small magnitudes first: 0, -1, 1, -2 to 0, 1, 2, 3.
pub fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Inverts [`zigzag`].
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Unread bytes of a section.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of a section.
    pub fn new(section: &'a [u8]) -> Self {
        Reader { rest: section }
    }

    /// Reads a number of bytes.
    ///
    /// # Errors
    /// [`Fault::Short`] if fewer are left.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(head)
    }

    /// Reads one byte.
    ///
    /// # Errors
    /// [`Fault::Short`] if none is left.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, Fault> {
        let (&first, rest) = self.rest.split_first().ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(first)
    }

    /// Reads an unsigned number written by [`put_varint`].
    ///
    /// # Errors
    /// [`Fault::Short`]; [`Fault::Number`] if it exceeds 64 bits.
    #[inline]
    pub fn varint(&mut self) -> Result<u64, Fault> {
        let first = self.byte()?;
        if first < 0x80 { Ok(first.into()) } else { self.long_varint(first) }
    }

    fn long_varint(&mut self, first: u8) -> Result<u64, Fault> {
        let mut value = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                break;
            }
            value |= part << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Fault::Number)
    }

    /// Reads a number of at most 32 bits; `what` names it in the message.
    ///
    /// # Errors
    /// As [`Reader::varint`]; [`Fault::Value`] if it exceeds 32 bits.
    pub fn u32(&mut self, what: &'static str) -> Result<u32, Fault> {
        let value = self.varint()?;
        u32::try_from(value).map_err(|_| Fault::Value { what, value })
    }

    /// Reads a string written by [`put_text`].
    ///
    /// # Errors
    /// As [`Reader::varint`]; [`Fault::Text`] if it is not UTF-8.
    pub fn text(&mut self) -> Result<&'a str, Fault> {
        let length = self.varint()?;
        let bytes = self.bytes(usize::try_from(length).map_err(|_| Fault::Short)?)?;
        std::str::from_utf8(bytes).map_err(|_| Fault::Text)
    }

    /// Returns the number of unread bytes.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Checks that the section has been read completely.
    ///
    /// # Errors
    /// [`Fault::Long`] if bytes are left.
    pub fn finish(self) -> Result<(), Fault> {
        if self.rest.is_empty() { Ok(()) } else { Err(Fault::Long(self.rest.len())) }
    }
}

/// Writer of a sequence whose elements are either as predicted (counted in runs) or given by a
/// code.
#[derive(Debug, Default)]
pub struct RunWriter {
    pending: u64,
}

impl RunWriter {
    /// Adds an element that is as predicted.
    pub fn hit(&mut self, out: &mut Vec<u8>) {
        self.pending += 1;
        if self.pending == MOST_PER_RUN {
            self.flush(out);
        }
    }

    /// Adds an element given by `code` (below 2^63).
    pub fn miss(&mut self, out: &mut Vec<u8>, code: u64) {
        self.flush(out);
        put_varint(out, code << 1 | 1);
    }

    /// Writes the pending run, if any. Call it after the last element.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        if self.pending > 0 {
            put_varint(out, (self.pending - 1) << 1);
            self.pending = 0;
        }
    }
}

/// Reader of a sequence written by [`RunWriter`].
#[derive(Debug, Default)]
pub struct RunReader {
    left: u64,
}

impl RunReader {
    /// Reads the next element: `None` if it is as predicted, and otherwise its code.
    #[inline]
    pub fn next(&mut self, reader: &mut Reader<'_>) -> Result<Option<u64>, Fault> {
        if self.left > 0 {
            self.left -= 1;
            return Ok(None);
        }
        let token = reader.varint()?;
        if token & 1 == 1 {
            return Ok(Some(token >> 1));
        }
        self.left = token >> 1;
        if self.left < MOST_PER_RUN { Ok(None) } else { Err(Fault::Value { what: "a run", value: self.left + 1 }) }
    }

    /// Checks that the last run does not exceed the sequence.
    pub fn finish(self) -> Result<(), Fault> {
        if self.left == 0 { Ok(()) } else { Err(Fault::Value { what: "a run past the end", value: self.left }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers have the values from the definition of LEB128 (DWARF 5, section 7.6), and the
    /// largest value.
    #[test]
    fn numbers_are_as_the_standard_has_them() {
        let known: [(u64, &[u8]); 6] = [
            (2, &[2]),
            (127, &[0x7f]),
            (128, &[0x80, 1]),
            (129, &[0x81, 1]),
            (12857, &[0xb9, 0x64]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        ];
        for (value, bytes) in known {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(out, bytes);
            assert_eq!(Reader::new(bytes).varint(), Ok(value));
        }
        assert_eq!(Reader::new(&[0xff; 11]).varint(), Err(Fault::Number));
        assert_eq!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).varint(), Err(Fault::Number));
        assert_eq!(Reader::new(&[0x80]).varint(), Err(Fault::Short));
        assert_eq!([0, -1, 1, -2, 2].map(zigzag), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn runs_have_a_limit_and_an_end() {
        let mut out = Vec::new();
        let mut runs = RunWriter::default();
        (0..65).for_each(|_| runs.hit(&mut out));
        runs.miss(&mut out, 5);
        runs.flush(&mut out);
        assert_eq!(out, [63 << 1, 0, 5 << 1 | 1]);
        assert!(RunReader::default().next(&mut Reader::new(&[0x80, 1])).is_err(), "65 at once");
        let mut cut_off = RunReader::default();
        cut_off.next(&mut Reader::new(&[2])).unwrap();
        assert!(cut_off.finish().is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(values in prop::collection::vec(any::<i64>(), 0..20)) {
            let mut out = Vec::new();
            values.iter().for_each(|&value| put_varint(&mut out, zigzag(value)));
            let mut reader = Reader::new(&out);
            for value in values {
                prop_assert_eq!(unzigzag(reader.varint().unwrap()), value);
            }
            prop_assert!(reader.finish().is_ok());
        }
    }
}
