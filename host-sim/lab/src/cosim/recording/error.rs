//! What can be wrong with a recording: one sentence each, with the place and the remedy.

use crate::fingerprint;
use mias_trace::trace_file::Fault;

/// Where in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The first bytes.
    Header,
    /// A run, which counts from 1.
    Run(usize),
    /// In a run, from 1, behind so many of its bytes and steps.
    Byte {
        /// The run.
        run: usize,
        /// Bytes before it, those of the number at fault included.
        byte: usize,
        /// Steps before it.
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

/// What is wrong with a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file does not begin with the format's magic.
    #[error("this is not a recording of mias (make one with `mias run KERNEL.. --record FILE` or `mias firmware generate FILE`)")]
    NotOurs,
    /// Another version of the format.
    #[error("this recording has format version {0}, this mias reads version {version}; {AGAIN}", version = super::VERSION)]
    Version(u32),
    /// Of another register map.
    #[error("this recording is of another register map ({0:016x}, that of this mias is {ours:016x}); {AGAIN}", ours = fingerprint::register_map())]
    Map(u64),
    /// Another length than the header says.
    #[error("the recording should have {expected} bytes and has {found}, it was cut short or damaged; {AGAIN}")]
    Length {
        /// Bytes that it should have.
        expected: u64,
        /// Bytes that it has.
        found: u64,
    },
    /// Other bytes than were written.
    #[error("{0}: the checksum does not match, the recording is damaged; {AGAIN}")]
    Checksum(Place),
    /// Bytes that mean nothing.
    #[error("{place}: {fault}; {AGAIN}")]
    Malformed {
        /// Where.
        place: Place,
        /// What.
        fault: Fault,
    },
    /// More than a recording may have.
    #[error("the recording would have {0} bytes or more, the most is {most}; record a shorter run, or fewer cases", most = super::MOST_BYTES)]
    TooLong(u64),
}

/// The remedy.
const AGAIN: &str = "make the recording again";
