//! What can be wrong with a trace file: one sentence each, with the section and the remedy.

use mias_warp_trace::PartsError;
use std::path::{Path, PathBuf};

/// A part of a launch, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Stream, name, geometry, resources.
    Launch,
    /// Static instructions.
    Statics,
    /// Shapes: the orders in which warps execute them.
    Shapes,
    /// Sector patterns.
    Patterns,
    /// The shape of each warp.
    Warps,
    /// The memory references of each warp.
    Memory,
}

impl Part {
    /// All parts, in the order of the file.
    pub const ALL: [Part; 6] = [Part::Launch, Part::Statics, Part::Shapes, Part::Patterns, Part::Warps, Part::Memory];
}

/// A section of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Magic, version, lengths and checksums.
    Directory,
    /// Name and warnings of the list that was converted.
    List,
    /// A part of a launch, which counts from 1.
    Launch(usize, Part),
    /// A launch as a whole, which counts from 1.
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

/// What is wrong inside a section whose checksum holds: another program wrote it wrongly, or on purpose.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// It ends where something must follow.
    #[error("it ends too soon")]
    Short,
    /// Bytes follow where it must end.
    #[error("{0} bytes too many")]
    Long(usize),
    /// A varint of more than 64 bits.
    #[error("a number of more than 64 bits")]
    Number,
    /// A string that is not UTF-8.
    #[error("a name that is not UTF-8")]
    Text,
    /// A number that cannot be there.
    #[error("{what} cannot be {value}")]
    Value {
        /// What it should be.
        what: &'static str,
        /// The number.
        value: u64,
    },
    /// More than the reader has room for.
    #[error("it takes more memory than there is for it")]
    Room,
    /// The parts do not fit together.
    #[error("{0}")]
    Parts(#[from] PartsError),
}

/// What is wrong with a trace file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened or mapped.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file does not begin with the format's magic.
    #[error("this is not a trace file of mias (make one with `mias trace convert LIST FILE`)")]
    NotOurs,
    /// Another version of the format.
    #[error("this trace file has format version {0}, this mias reads version {version}; {AGAIN}", version = super::VERSION)]
    Version(u32),
    /// Another length than the header says.
    #[error("the trace file should have {expected} bytes and has {found}, it was cut short or damaged; {AGAIN}")]
    Length {
        /// Bytes that it should have.
        expected: u64,
        /// Bytes that it has.
        found: u64,
    },
    /// Other bytes than were written.
    #[error("{0}: the checksum does not match, the trace file is damaged; {AGAIN}")]
    Checksum(Section),
    /// It is whole, but takes more memory than the reader may.
    #[error("the trace takes more memory than there is for it")]
    Room,
    /// Bytes that mean nothing.
    #[error("{section}: {fault}; {AGAIN}")]
    Malformed {
        /// Where.
        section: Section,
        /// What.
        fault: Fault,
    },
}

/// The remedy.
const AGAIN: &str = "convert the kernel list again with `mias trace convert`";

/// A [`Problem`] and the file that has it.
#[derive(Debug)]
pub struct TraceFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
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
