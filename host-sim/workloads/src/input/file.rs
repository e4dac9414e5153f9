//! Files that hold a kernel's input, graphs and images: reading them, and what is wrong with them. A message names the file, the
//! line where there are lines, and what to do.

use std::fs::File;
use std::io::{BufRead, ErrorKind, Read};
use std::path::Path;

/// Longest line of a text file in bytes (assumption: those read here have a few numbers per line, or a comment).
const LONGEST_LINE: usize = 1 << 16;

/// Longest text that people write, in bytes (assumption: a thousand times what the longest plan has).
const LONGEST_TEXT: u64 = 16 << 20;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {message}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct InputFileError {
    /// The file as named by the user.
    pub file: String,
    /// Line, from 1; none where the whole file is meant, or it has no lines.
    pub line: Option<usize>,
    /// What is wrong, and the remedy.
    pub message: String,
}

impl InputFileError {
    /// About a whole file.
    pub fn whole(file: &str, message: impl ToString) -> Self {
        InputFileError { file: file.into(), line: None, message: message.to_string() }
    }

    /// About a line.
    pub fn at(file: &str, line: usize, message: impl ToString) -> Self {
        InputFileError { file: file.into(), line: Some(line), message: message.to_string() }
    }
}

/// A line of a text file.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The file's name.
    pub file: &'a str,
    /// Number, from 1.
    pub number: usize,
    /// Without the end of line.
    pub text: &'a str,
}

impl<'a> Line<'a> {
    /// An error about this line.
    pub fn fail(&self, message: impl ToString) -> InputFileError {
        InputFileError::at(self.file, self.number, message)
    }

    /// The words, which must be as many as there are in `form`, such as `a FROM TO WEIGHT`.
    ///
    /// # Errors
    /// [`InputFileError`] that gives the form.
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

    /// A word as a whole number, not negative; `what` names it in the message.
    ///
    /// # Errors
    /// [`InputFileError`] if it is none.
    pub fn number(&self, what: &str, word: &str) -> Result<u64, InputFileError> {
        word.parse().map_err(|_| self.fail(format!("{what} `{word}`: expected a whole number, not negative")))
    }
}

/// Hands every line to `each`, in order, without its end (`\n` or `\r\n`).
///
/// # Errors
/// [`InputFileError`] of `each`, for a file that cannot be read, one that is not text, and one without a byte.
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
                return Err(InputFileError::at(file, number, format!("a line of more than {LONGEST_LINE} bytes: this is not such a file")));
            }
            _ => {}
        }
        let text =
            std::str::from_utf8(&buffer).map_err(|_| InputFileError::at(file, number, "not text; unpack a compressed file first"))?;
        each(Line { file, number, text: text.trim_end_matches(['\n', '\r']) })?;
    }
    Ok(())
}

/// Opens a file. A device or a pipe is none: it may have no end, and opening a pipe may wait for ever.
///
/// # Errors
/// Why not, as the end of a sentence.
pub fn open(file: &Path) -> Result<File, String> {
    let about = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if about.is_dir() {
        return Err(ErrorKind::IsADirectory.to_string());
    }
    if !about.is_file() {
        return Err("a device or a pipe, which may have no end; copy what is needed of it into a file".into());
    }
    File::open(file).map_err(|error| error.to_string())
}

/// The first bytes of a file: all of it if it has no more than `most`, else one more than that.
///
/// # Errors
/// As [`open`].
pub fn beginning(file: &Path, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    open(file)?.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// A text that people write, such as a machine or a plan. It may come from a pipe, of which no more is read than such a text has.
///
/// # Errors
/// Why there is none, as the end of a sentence.
pub fn text(file: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST_TEXT + 1).read_to_end(&mut bytes));
    match read {
        Err(error) => Err(error.to_string()),
        Ok(length) if length as u64 > LONGEST_TEXT => Err(format!("more than {LONGEST_TEXT} bytes: this is not such a file")),
        Ok(_) => String::from_utf8(bytes).map_err(|_| "it is not text".into()),
    }
}

/// The whole contents of a file of at most `most` bytes.
///
/// # Errors
/// [`InputFileError`] if it cannot be read, is empty or is larger.
pub fn bytes(file: &str, most: u64) -> Result<Vec<u8>, InputFileError> {
    let bytes = beginning(Path::new(file), most).map_err(|message| InputFileError::whole(file, message))?;
    match bytes.len() as u64 {
        0 => Err(InputFileError::whole(file, "the file is empty")),
        length if length > most => Err(InputFileError::whole(file, format!("the file has more than {most} bytes; give a smaller one"))),
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
            assert!(open(zeros).unwrap_err().starts_with("a device or a pipe, which may have no end"));
            assert_eq!(text(zeros).unwrap_err(), "more than 16777216 bytes: this is not such a file");
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
