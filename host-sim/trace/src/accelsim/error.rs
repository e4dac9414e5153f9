//! Errors of the trace reader: one sentence each, with file and line.

use mias_warp_trace::TraceError;
use std::path::{Path, PathBuf};

/// Cause of a read error in a trace or a kernel list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened or read, or its compressed data are damaged or cut short.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Compressed data end too early.
    #[error("the compressed file is truncated here; copy or trace it again")]
    CutOff,
    /// The list names no kernel.
    #[error("the list names no kernel trace (a line `kernel-N.traceg` or `kernel-N.traceg.xz` each)")]
    EmptyList,
    /// The file is a kernel trace instead of a list.
    #[error("this is the trace of a launch, not a list; use the list that names it, usually `kernelslist.g`")]
    NoList,
    /// The path is a folder.
    #[error("this is a folder; use a file in it, for a list usually `kernelslist.g`")]
    Folder,
    /// The compressed data do not match their checksum, or are not in the `.xz` format.
    #[error("the compressed data are damaged ({0}); copy or trace the file again")]
    Damaged(std::io::Error),
    /// The list names a file that does not exist.
    #[error("`{0}` is named here, but missing from the folder of the list")]
    MissingKernel(String),
    /// A copy command that is not `MemcpyHtoD,0x<address>,<bytes>`.
    #[error("malformed copy `{0}`: expected `MemcpyHtoD,0x<hex address>,<decimal bytes>`")]
    Copy(String),
    /// A header line whose value is impossible.
    #[error("header `{key}`: `{value}` is not {expected}")]
    HeaderValue {
        /// Key of the line.
        key: &'static str,
        /// Text of the value.
        value: String,
        /// Expected value.
        expected: &'static str,
    },
    /// A header without a required line.
    #[error("the header has no `-{0} = ...` line before the first `#` line")]
    HeaderMissing(&'static str),
    /// A field of an instruction line is missing or malformed.
    #[error("{what} expected{}, in `{line}`", if found.is_empty() { String::from(" before the end of the line") } else { format!(", found `{found}`") })]
    Field {
        /// Expected field.
        what: &'static str,
        /// Text found; empty at the end of the line.
        found: String,
        /// Instruction line, cut to a readable length.
        line: String,
    },
    /// A line in the wrong place.
    #[error("{0}")]
    Structure(String),
    /// A line too long to be part of a trace.
    #[error("a line of more than {0} bytes: this is not a trace")]
    LineTooLong(usize),
    /// The receiver of the lines stopped the reader.
    #[error("stopped")]
    Stopped,
    /// The trace is inconsistent, or exceeds the packed form.
    #[error("{0}")]
    Trace(#[from] TraceError),
}

/// A [`Problem`] with its location.
#[derive(Debug)]
pub struct ReadError {
    /// Path of the file.
    pub path: PathBuf,
    /// Line number from 1; `None` if the problem concerns the whole file.
    pub line: Option<u64>,
    /// Cause of the error.
    pub problem: Problem,
}

impl ReadError {
    pub(super) fn new(path: &Path, line: Option<u64>, problem: impl Into<Problem>) -> Self {
        ReadError { path: path.to_owned(), line, problem: problem.into() }
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path.display(), self.problem),
            None => write!(f, "{}: {}", self.path.display(), self.problem),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.problem)
    }
}

/// Returns the text of the file for a message: cut to 80 bytes, with bytes that are not UTF-8
/// replaced.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const LIMIT: usize = 80;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LIMIT)]).trim_end().to_owned();
    if bytes.len() > LIMIT { text + "..." } else { text }
}
