//! Errors in a recording: one sentence each, with the position and the remedy.

use crate::fingerprint;
use mias_trace::trace_file::Fault;

/// Position in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Header: the first bytes.
    Header,
    /// Run, counted from 1.
    Run(usize),
    /// Position within a run.
    Byte {
        /// Run, counted from 1.
        run: usize,
        /// Number of bytes up to the invalid number, inclusive.
        byte: usize,
        /// Number of steps before it.
        steps: usize,
    },
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Header => f.write_str("header"),
            Place::Run(run) => write!(f, "run {run}"),
            Place::Byte { run, byte, steps: 0 } => write!(f, "run {run}, byte {byte}"),
            Place::Byte { run, byte, steps: 1 } => write!(f, "run {run}, byte {byte}, after its start"),
            Place::Byte { run, byte, steps } => write!(f, "run {run}, byte {byte}, after interrupt {}", steps - 1),
        }
    }
}

/// Error in a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file does not begin with the format's magic.
    #[error("this is not a recording of mias (make one with `mias run KERNEL.. --record FILE` or `mias firmware generate FILE`)")]
    NotOurs,
    /// Unsupported version of the format.
    #[error("this recording has format version {0}, this mias reads version {version}; {AGAIN}", version = super::VERSION)]
    Version(u32),
    /// Different register map.
    #[error("this recording is of another register map ({0:016x}, that of this mias is {ours:016x}); {AGAIN}", ours = fingerprint::register_map())]
    Map(u64),
    /// Length that differs from the header.
    #[error("the recording should have {expected} bytes and has {found}: it is truncated or damaged; {AGAIN}")]
    Length {
        /// Expected number of bytes.
        expected: u64,
        /// Actual number of bytes.
        found: u64,
    },
    /// Checksum mismatch.
    #[error("{0}: the checksum does not match: the recording is damaged; {AGAIN}")]
    Checksum(Place),
    /// Malformed bytes.
    #[error("{place}: {fault}; {AGAIN}")]
    Malformed {
        /// Position of the bytes.
        place: Place,
        /// Kind of fault.
        fault: Fault,
    },
    /// Length beyond the limit of a recording.
    #[error("the recording would have {0} bytes or more, the limit is {most}; record a shorter run, or fewer cases", most = super::MOST_BYTES)]
    TooLong(u64),
}

/// Remedy for damaged recordings.
const AGAIN: &str = "record it again";
