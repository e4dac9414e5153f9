//! Line reader for plain and `.xz` files, with one reused buffer.

use super::error::{Problem, ReadError};
use liblzma::read::XzDecoder;
use liblzma::stream::Stream;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Bytes per read from the file (assumption: far above the longest line, and within the
/// second-level cache).
const CHUNK_BYTES: usize = 256 << 10;

/// Length limit of a line in bytes; 32 addresses take less than 1 KiB.
const LINE_LIMIT_BYTES: usize = 1 << 20;

/// Memory limit of the decompressor in bytes; `xz -9` needs 65 MiB, while a damaged header may
/// request gigabytes.
const XZ_MEMORY_BYTES: u64 = 512 << 20;

/// Lines of a file, without their line ends.
pub(super) struct Lines {
    input: Box<dyn Read + Send>,
    path: PathBuf,
    buffer: Vec<u8>,
    /// Start of the last returned line, and of the next one.
    last: usize,
    start: usize,
    end: usize,
    line: u64,
    at_end: bool,
}

impl Lines {
    /// Opens `path`; a name ending in `.xz` is decompressed.
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

    /// Creates the lines of plain bytes; `path` is the file name in messages.
    pub(super) fn over(input: Box<dyn Read + Send>, path: &Path) -> Self {
        let buffer = vec![0; CHUNK_BYTES];
        Lines { input, path: path.to_owned(), buffer, last: 0, start: 0, end: 0, line: 0, at_end: false }
    }

    /// Creates the lines of the first `end` bytes of `text`.
    pub(super) fn of(text: Vec<u8>, end: usize, path: &Path) -> Self {
        Lines { input: Box::new(std::io::empty()), path: path.to_owned(), buffer: text, last: 0, start: 0, end, line: 0, at_end: true }
    }

    /// Takes the buffer for reuse.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Splits the reader into the unread input and the buffered bytes after the last returned line.
    pub(super) fn into_rest(mut self) -> (Box<dyn Read + Send>, Vec<u8>) {
        self.buffer.truncate(self.end);
        self.buffer.drain(..self.start);
        (self.input, self.buffer)
    }

    /// Reads the next line, or `None` at the end of the file. The last line may lack a line end.
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

    /// Returns the buffered bytes that have not been returned.
    #[inline]
    pub(super) fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Returns the last returned line with its line end; valid until the next call.
    #[inline]
    pub(super) fn last_raw(&self) -> &[u8] {
        &self.buffer[self.last..self.start]
    }

    /// Skips `bytes` buffered bytes, which are `lines` whole lines.
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

    /// Creates an error at the last returned line, or for the whole file before the first.
    pub(super) fn error(&self, problem: impl Into<Problem>) -> ReadError {
        ReadError::new(&self.path, Some(self.line).filter(|&line| line > 0), problem)
    }

    /// Creates an error for the whole file.
    pub(super) fn error_in_file(&self, problem: impl Into<Problem>) -> ReadError {
        ReadError::new(&self.path, None, problem)
    }

    /// Returns the number of the last returned line, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }
}
