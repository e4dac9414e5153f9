//! Errors of the trace reader: one sentence each, with file and line.

use mias_warp_trace::TraceError;
use std::path::{Path, PathBuf};

/// What is wrong with a trace or a kernel list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened or read, or its compressed data are damaged or cut short.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Compressed data end too early.
    #[error("the compressed file ends here, in the middle of its data; copy or trace it again")]
    CutOff,
    /// The list names no kernel at all.
    #[error("the list names no kernel trace (a line `kernel-N.traceg` or `kernel-N.traceg.xz` each)")]
    EmptyList,
    /// It is what a list would name.
    #[error("this is the trace of a launch, not a list; give the list that names it, `kernelslist.g` as a rule")]
    NoList,
    /// It has no lines.
    #[error("this is a folder; give the file, `kernelslist.g` as a rule where a list is wanted")]
    Folder,
    /// Compressed data are not what their checksum says, or no such data.
    #[error("the compressed data are damaged ({0}); copy or trace the file again")]
    Damaged(std::io::Error),
    /// The list names a file that is not there.
    #[error("`{0}` is named here, but there is no such file beside the list")]
    MissingKernel(String),
    /// A copy command that is not `MemcpyHtoD,0x<address>,<bytes>`.
    #[error("malformed copy `{0}`: expected `MemcpyHtoD,0x<hex address>,<decimal bytes>`")]
    Copy(String),
    /// A header line whose value cannot be what it says.
    #[error("header `{key}`: `{value}` is not {expected}")]
    HeaderValue {
        /// The key.
        key: &'static str,
        /// Its text.
        value: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A header without a line that the reader needs.
    #[error("the header has no `-{0} = ...` line before the first `#` line")]
    HeaderMissing(&'static str),
    /// A field of an instruction line is missing or malformed.
    #[error("{what} expected{}, in `{line}`", if found.is_empty() { String::from(" before the end of the line") } else { format!(", found `{found}`") })]
    Field {
        /// What should be there.
        what: &'static str,
        /// What is there; empty at the end of the line.
        found: String,
        /// The line, cut to a readable length.
        line: String,
    },
    /// A line that cannot come here.
    #[error("{0}")]
    Structure(String),
    /// A line too long to be part of a trace.
    #[error("a line of more than {0} bytes: this is not a trace")]
    LineTooLong(usize),
    /// Who is told of the lines asked to stop.
    #[error("stopped")]
    Stopped,
    /// The trace does not fit together, or not into the packed form.
    #[error("{0}")]
    Trace(#[from] TraceError),
}

/// A [`Problem`] and where it is.
#[derive(Debug)]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; none where the file as a whole is meant.
    pub line: Option<u64>,
    /// What is wrong there.
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

/// Text of the file for a message: cut to 80 bytes, bytes that are not UTF-8 replaced.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const LIMIT: usize = 80;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LIMIT)]).trim_end().to_owned();
    if bytes.len() > LIMIT { text + "..." } else { text }
}
