//! Input files of kernels, such as graphs and images: reading and errors. A message names the file,
//! the line in text files, and the remedy.

use std::fs::File;
use std::io::{BufRead, ErrorKind, Read};
use std::path::Path;

/// Maximum length of a text line in bytes (assumption: the lines have a few numbers or a comment).
const LONGEST_LINE: usize = 1 << 16;

/// Maximum length of text written by people in bytes (assumption: a thousand times the longest
/// plan).
const LONGEST_TEXT: u64 = 16 << 20;

/// Error in an input file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {message}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct InputFileError {
    /// File name as given by the user.
    pub file: String,
    /// Line number from 1; `None` if the error concerns the whole file or the file has no lines.
    pub line: Option<usize>,
    /// Cause and remedy.
    pub message: String,
}

impl InputFileError {
    /// Creates an error about a whole file.
    pub fn whole(file: &str, message: impl ToString) -> Self {
        InputFileError { file: file.into(), line: None, message: message.to_string() }
    }

    /// Creates an error about a line.
    pub fn at(file: &str, line: usize, message: impl ToString) -> Self {
        InputFileError { file: file.into(), line: Some(line), message: message.to_string() }
    }
}

/// A line of a text file.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Line number, from 1.
    pub number: usize,
    /// Text without the line end.
    pub text: &'a str,
}

impl<'a> Line<'a> {
    /// Creates an error about this line.
    pub fn fail(&self, message: impl ToString) -> InputFileError {
        InputFileError::at(self.file, self.number, message)
    }

    /// Splits the line into words, as many as in `form`, such as `a FROM TO WEIGHT`.
    ///
    /// # Errors
    /// [`InputFileError`] with the form.
    pub fn words<const N: usize>(&self, form: &str) -> Result<[&'a str; N], InputFileError> {
        let mut words = [""; N];
        let mut found = 0;
        for word in self.text.split_ascii_whitespace() {
            if let Some(place) = words.get_mut(found) {
                *place = word;
            }
            found += 1;
        }
        if found == N { Ok(words) } else { Err(self.fail(format!("{found} fields, expected the {N} of `{form}`"))) }
    }

    /// Parses a word as a nonnegative integer; `what` names it in the message.
    ///
    /// # Errors
    /// [`InputFileError`] for another word.
    pub fn number(&self, what: &str, word: &str) -> Result<u64, InputFileError> {
        word.parse().map_err(|_| self.fail(format!("{what} `{word}`: expected a whole number, not negative")))
    }
}

/// Passes every line to `each`, in order, without its end (`\n` or `\r\n`).
///
/// # Errors
/// [`InputFileError`] of `each`, or for a file that is unreadable, not text, or empty.
pub fn lines(
    file: &str,
    mut reader: impl BufRead,
    mut each: impl FnMut(Line<'_>) -> Result<(), InputFileError>,
) -> Result<(), InputFileError> {
    let mut buffer = Vec::new();
    for number in 1.. {
        buffer.clear();
        let mut limited = reader.by_ref().take(LONGEST_LINE as u64 + 1);
        let length = limited.read_until(b'\n', &mut buffer).map_err(|error| InputFileError::whole(file, error))?;
        match length {
            0 if number == 1 => return Err(InputFileError::whole(file, "the file is empty")),
            0 => break,
            length if length > LONGEST_LINE => {
                return Err(InputFileError::at(file, number, format!("a line of more than {LONGEST_LINE} bytes: wrong file format")));
            }
            _ => {}
        }
        let text =
            std::str::from_utf8(&buffer).map_err(|_| InputFileError::at(file, number, "not text; unpack a compressed file first"))?;
        each(Line { file, number, text: text.trim_end_matches(['\n', '\r']) })?;
    }
    Ok(())
}

/// Opens a regular file. Devices and pipes are refused: they may have no end, and opening a pipe
/// may block forever.
///
/// # Errors
/// The cause, as the end of a sentence.
pub fn open(file: &Path) -> Result<File, String> {
    let about = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if about.is_dir() {
        return Err(ErrorKind::IsADirectory.to_string());
    }
    if !about.is_file() {
        return Err("a device or a pipe of unknown length; copy its data into a file".into());
    }
    File::open(file).map_err(|error| error.to_string())
}

/// Reads the first `most` bytes of a file, plus one more if the file is longer.
///
/// # Errors
/// As [`open`].
pub fn beginning(file: &Path, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    open(file)?.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Reads text written by people, such as a GPU file or a plan. It may come from a pipe, which is
/// read only up to the maximum length of such text.
///
/// # Errors
/// The cause, as the end of a sentence.
pub fn text(file: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST_TEXT + 1).read_to_end(&mut bytes));
    match read {
        Err(error) => Err(error.to_string()),
        Ok(length) if length as u64 > LONGEST_TEXT => Err(format!("more than {LONGEST_TEXT} bytes: wrong file format")),
        Ok(_) => String::from_utf8(bytes).map_err(|_| "it is not text".into()),
    }
}

/// Reads a whole file of at most `most` bytes.
///
/// # Errors
/// [`InputFileError`] if it cannot be read, is empty or is larger.
pub fn bytes(file: &str, most: u64) -> Result<Vec<u8>, InputFileError> {
    let bytes = beginning(Path::new(file), most).map_err(|message| InputFileError::whole(file, message))?;
    match bytes.len() as u64 {
        0 => Err(InputFileError::whole(file, "the file is empty")),
        length if length > most => Err(InputFileError::whole(file, format!("the file has more than {most} bytes; use a smaller one"))),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        let each = |line: Line<'_>| {
            found.push(format!("{} {}", line.number, line.text));
            Ok(())
        };
        lines("f", text, each).map_err(|error| error.to_string())?;
        Ok(found)
    }

    #[test]
    fn lines_are_numbered_and_ends_taken_off() {
        assert_eq!(read(b"a b\r\n\nc"), Ok(vec!["1 a b".into(), "2 ".into(), "3 c".into()]));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(read(b""), Err("f: the file is empty".into()));
        assert_eq!(read(b"a\n\xff\xfe\n"), Err("f:2: not text; unpack a compressed file first".into()));
        assert!(read(&vec![b'x'; 100_000]).unwrap_err().starts_with("f:1: a line of more than 65536 bytes"));
        assert!(bytes("/", 1).unwrap_err().to_string().starts_with("/: "));
    }

    #[test]
    fn no_more_is_read_than_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, [7; 10]).unwrap();
        let length = |most| beginning(&path, most).unwrap().len();
        assert_eq!([length(0), length(4), length(9), length(10), length(u64::MAX)], [1, 5, 10, 10, 10]);
        let zeros = Path::new("/dev/zero");
        if zeros.exists() {
            assert!(open(zeros).unwrap_err().starts_with("a device or a pipe of unknown length"));
            assert_eq!(text(zeros).unwrap_err(), "more than 16777216 bytes: wrong file format");
        }
        assert_eq!(open(folder.path()).unwrap_err(), "is a directory");
    }

    #[test]
    fn fields_are_counted() {
        let line = Line { file: "f", number: 7, text: "a  1\tx" };
        assert_eq!(line.words::<3>("a B C"), Ok(["a", "1", "x"]));
        assert_eq!(line.words::<2>("a B").unwrap_err().to_string(), "f:7: 3 fields, expected the 2 of `a B`");
        assert_eq!(line.number("B", "x").unwrap_err().to_string(), "f:7: B `x`: expected a whole number, not negative");
    }
}
