//! Errors of trace files, one sentence each, with the section and the remedy.

use mias_warp_trace::PartsError;
use std::path::{Path, PathBuf};

/// A section of a launch, in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Stream, name, geometry and resources.
    Launch,
    /// Static instructions.
    Statics,
    /// Shapes: orders in which warps execute the static instructions.
    Shapes,
    /// Sector patterns.
    Patterns,
    /// Shape of each warp.
    Warps,
    /// Memory references of each warp.
    Memory,
}

impl Part {
    /// All parts of a launch, in file order.
    pub const ALL: [Part; 6] = [Part::Launch, Part::Statics, Part::Shapes, Part::Patterns, Part::Warps, Part::Memory];
}

/// A section of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Magic, version, lengths and checksums.
    Directory,
    /// Name and warnings of the converted list.
    List,
    /// A part of a launch; launches are numbered from 1.
    Launch(usize, Part),
    /// A whole launch; launches are numbered from 1.
    WholeLaunch(usize),
}

impl std::fmt::Display for Section {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Section::Directory => f.write_str("section `directory`"),
            Section::List => f.write_str("section `list`"),
            Section::Launch(launch, part) => write!(f, "launch {launch}, section `{}`", format!("{part:?}").to_lowercase()),
            Section::WholeLaunch(launch) => write!(f, "launch {launch}"),
        }
    }
}

/// Fault inside a section whose checksum is correct: another program wrote it incorrectly, or on
/// purpose.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The section ends too early.
    #[error("it is truncated")]
    Short,
    /// Bytes follow the end of the section.
    #[error("{0} bytes too many")]
    Long(usize),
    /// A varint of more than 64 bits.
    #[error("a number of more than 64 bits")]
    Number,
    /// A string that is not UTF-8.
    #[error("a name that is not UTF-8")]
    Text,
    /// A number out of range.
    #[error("{what} cannot be {value}")]
    Value {
        /// Expected value.
        what: &'static str,
        /// Number found.
        value: u64,
    },
    /// The section exceeds the reader's memory limit.
    #[error("it exceeds the available memory")]
    MemoryLimit,
    /// The parts are inconsistent.
    #[error("{0}")]
    Parts(#[from] PartsError),
}

/// Cause of a trace file error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened or mapped.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file does not begin with the magic of the format.
    #[error("this is not a trace file of mias (make one with `mias trace convert LIST FILE`)")]
    NotOurs,
    /// The file has another version of the format.
    #[error("this trace file has format version {0}, this mias reads version {version}; {AGAIN}", version = super::VERSION)]
    Version(u32),
    /// The length differs from that in the header.
    #[error("the trace file should have {expected} bytes and has {found}: it is truncated or damaged; {AGAIN}")]
    Length {
        /// Length by the header in bytes.
        expected: u64,
        /// Actual length in bytes.
        found: u64,
    },
    /// The checksum of a section is wrong.
    #[error("{0}: the checksum does not match: the trace file is damaged; {AGAIN}")]
    Checksum(Section),
    /// The file is valid but exceeds the reader's memory limit.
    #[error("the trace exceeds the available memory")]
    MemoryLimit,
    /// A section is malformed.
    #[error("{section}: {fault}; {AGAIN}")]
    Malformed {
        /// Malformed section.
        section: Section,
        /// Fault in the section.
        fault: Fault,
    },
}

/// Remedy in messages.
const AGAIN: &str = "convert the kernel list again with `mias trace convert`";

/// A [`Problem`] with its file.
#[derive(Debug)]
pub struct TraceFileError {
    /// Path of the file.
    pub path: PathBuf,
    /// Cause of the error.
    pub problem: Problem,
}

impl TraceFileError {
    pub(super) fn new(path: &Path, problem: impl Into<Problem>) -> Self {
        TraceFileError { path: path.to_owned(), problem: problem.into() }
    }
}

impl std::fmt::Display for TraceFileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)
    }
}

impl std::error::Error for TraceFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.problem)
    }
}
