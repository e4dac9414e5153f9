//! Lines of a plain or `.xz` file through one reused buffer.

use super::error::{Problem, ReadError};
use liblzma::read::XzDecoder;
use liblzma::stream::Stream;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Bytes asked of the file at a time (assumption: well above the longest line, well within the second-level cache).
const CHUNK_BYTES: usize = 256 << 10;

/// Longest line accepted; 32 addresses take under 1 KiB.
const LINE_LIMIT_BYTES: usize = 1 << 20;

/// Memory that the decompressor may take; `xz -9` needs 65 MiB, a damaged header may ask for gigabytes.
const XZ_MEMORY_BYTES: u64 = 512 << 20;

/// The lines of a file, without their line ends.
pub(super) struct Lines {
    input: Box<dyn Read + Send>,
    path: PathBuf,
    buffer: Vec<u8>,
    /// Where the line last returned begins, and where the next one does.
    last: usize,
    start: usize,
    end: usize,
    line: u64,
    at_end: bool,
}

impl Lines {
    /// Opens `path`; a name that ends in `.xz` is decompressed.
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(|error| ReadError::new(path, None, error))?;
        if path.is_dir() {
            return Err(ReadError::new(path, None, Problem::Folder));
        }
        let input: Box<dyn Read + Send> = match path.extension() {
            Some(extension) if extension == "xz" => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES, liblzma::stream::CONCATENATED);
                let stream = stream.map_err(|error| ReadError::new(path, None, std::io::Error::from(error)))?;
                Box::new(XzDecoder::new_stream(file, stream))
            }
            _ => Box::new(file),
        };
        Ok(Lines::over(input, path))
    }

    /// The lines of plain bytes; `path` is their name in messages.
    pub(super) fn over(input: Box<dyn Read + Send>, path: &Path) -> Self {
        let buffer = vec![0; CHUNK_BYTES];
        Lines { input, path: path.to_owned(), buffer, last: 0, start: 0, end: 0, line: 0, at_end: false }
    }

    /// The lines of a text: `end` bytes of `text`.
    pub(super) fn of(text: Vec<u8>, end: usize, path: &Path) -> Self {
        Lines { input: Box::new(std::io::empty()), path: path.to_owned(), buffer: text, last: 0, start: 0, end, line: 0, at_end: true }
    }

    /// The buffer, whatever is in it.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// What follows the line last returned: what has been read of it, and what has not.
    pub(super) fn into_rest(mut self) -> (Box<dyn Read + Send>, Vec<u8>) {
        self.buffer.truncate(self.end);
        self.buffer.drain(..self.start);
        (self.input, self.buffer)
    }

    /// The next line, none at the end of the file. The last line needs no line end.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, ReadError> {
        let mut searched = 0;
        let length = loop {
            let rest = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &rest[searched..]) {
                break searched + at;
            }
            searched = rest.len();
            if self.at_end {
                if rest.is_empty() {
                    return Ok(None);
                }
                break searched;
            }
            self.refill()?;
        };
        self.line += 1;
        let start = self.start;
        self.last = start;
        self.start = (start + length + 1).min(self.end);
        let line = &self.buffer[start..start + length];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// What has been read of the file and not been returned, as far as it goes.
    #[inline]
    pub(super) fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The line last returned, with its line end; only until the next call.
    #[inline]
    pub(super) fn last_raw(&self) -> &[u8] {
        &self.buffer[self.last..self.start]
    }

    /// Goes over `bytes` of what is buffered, which are so many whole lines.
    pub(super) fn skip(&mut self, bytes: usize, lines: u64) {
        self.line += lines;
        self.start = (self.start + bytes).min(self.end);
    }

    #[cold]
    fn refill(&mut self) -> Result<(), ReadError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end > LINE_LIMIT_BYTES {
            return Err(ReadError::new(&self.path, Some(self.line + 1), Problem::LineTooLong(LINE_LIMIT_BYTES)));
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.end + CHUNK_BYTES, 0);
        }
        let read = self.input.read(&mut self.buffer[self.end..]);
        let count = read.map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => ReadError::new(&self.path, Some(self.line + 1), Problem::CutOff),
            ErrorKind::InvalidData => ReadError::new(&self.path, Some(self.line + 1), Problem::Damaged(error)),
            _ => ReadError::new(&self.path, Some(self.line + 1), error),
        })?;
        self.at_end = count == 0;
        self.end += count;
        Ok(())
    }

    /// An error at the line last returned; about the file as a whole before the first.
    pub(super) fn error(&self, problem: impl Into<Problem>) -> ReadError {
        ReadError::new(&self.path, Some(self.line).filter(|&line| line > 0), problem)
    }

    /// An error about the file as a whole.
    pub(super) fn error_in_file(&self, problem: impl Into<Problem>) -> ReadError {
        ReadError::new(&self.path, None, problem)
    }

    /// Number of the line last returned, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }
}
