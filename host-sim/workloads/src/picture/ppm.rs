//! Reader of portable pixel maps (Netpbm, `ppm(5)`): P6, bytes, and P3, numbers as text. Comments
//! run from `#` to the end of the line, in P6 only in the header. Of several pictures in one file,
//! it reads the first.

use super::{Picture, Pixel, size_error};
use crate::input::file::InputFileError;

/// Words of the header and the rest of the file.
struct Words<'a> {
    file: &'a str,
    rest: &'a [u8],
    line: usize,
}

impl<'a> Words<'a> {
    fn fail(&self, message: impl ToString) -> InputFileError {
        InputFileError::at(self.file, self.line, message)
    }

    fn skip(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        self.line += usize::from(byte == b'\n');
        Some(byte)
    }

    /// Reads the next word, after white space and comments; the byte that ends it stays.
    fn next(&mut self) -> &'a [u8] {
        loop {
            match self.rest.first() {
                Some(b'#') => while self.skip().is_some_and(|byte| byte != b'\n') {},
                Some(byte) if byte.is_ascii_whitespace() => _ = self.skip(),
                _ => break,
            }
        }
        let end = self.rest.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'#').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn number(&mut self, what: &str) -> Result<u64, InputFileError> {
        let word = self.next();
        if word.is_empty() {
            return Err(self.fail(format!("the file ends before the {what}; use the complete file")));
        }
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        // A word of a damaged file may be long.
        let shown = || String::from_utf8_lossy(&word[..word.len().min(20)]).into_owned();
        number.ok_or_else(|| self.fail(format!("{what} `{}`: expected a whole number, not negative", shown())))
    }
}

pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Picture, InputFileError> {
    let mut words = Words { file, rest: bytes, line: 1 };
    let text = match words.next() {
        b"P3" => true,
        b"P6" => false,
        _ => return Err(InputFileError::whole(file, "neither PNG nor PPM (P6, P3), by its first bytes; convert it to one of them")),
    };
    let (width, height) = (words.number("width")?, words.number("height")?);
    if let Some(message) = size_error([width, height]) {
        return Err(words.fail(message));
    }
    let most = match words.number("largest value")? {
        0 => return Err(words.fail("largest value 0: expected 1 to 255")),
        most @ 1..=255 => most,
        most => return Err(words.fail(format!("largest value {most}, 16 bits per channel; write it with 255"))),
    };
    let (width, height) = (width as usize, height as usize);
    let scaled = |words: &Words<'_>, value: u64| {
        if value > most {
            return Err(words.fail(format!("value {value} is above the largest, {most}; write the file again")));
        }
        Ok(((value * 255 + most / 2) / most) as u8)
    };
    let mut pixels: Vec<Pixel> = Vec::new();
    if text {
        for _ in 0..width * height {
            let mut pixel = [0; 3];
            for channel in &mut pixel {
                let value = words.number("last pixel")?;
                *channel = scaled(&words, value)?;
            }
            pixels.push(pixel);
        }
    } else {
        // One byte of white space, then the pixels.
        words.skip();
        let needed = 3 * width * height;
        let Some(data) = words.rest.get(..needed) else {
            let found = words.rest.len();
            return Err(InputFileError::whole(
                file,
                format!("{found} bytes of pixels, {width} x {height} take {needed}; use the complete file"),
            ));
        };
        for pixel in data.as_chunks().0 {
            let [r, g, b]: [u8; 3] = *pixel;
            pixels.push([scaled(&words, r.into())?, scaled(&words, g.into())?, scaled(&words, b.into())?]);
        }
    }
    Ok(Picture { width, height, pixels })
}
