//! Where TBs are put together in the order of the file. A launch that takes too much memory is handed on in parts.

use mias_warp_trace::{KernelInfo, KernelTrace, TraceBuilder, TraceError};
use std::io;

/// Is handed a part that is full: its first TB, and the trace of its TBs. A part that begins with TB 0 makes all before it void: then the
/// file is read again from its beginning.
pub type Closed<'a> = dyn FnMut(u32, KernelTrace) -> io::Result<()> + 'a;

/// How much of a launch may be in memory while it is put together.
pub struct Room<'a> {
    /// A launch that takes so many bytes is in parts, the first of which this is.
    pub whole_bytes: u64,
    /// A later part that takes so many is handed on.
    pub part_bytes: u64,
    /// To whom.
    pub closed: &'a mut Closed<'a>,
}

/// What is left when all TBs have been read: the last part, or the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastPart {
    /// Its first TB; 0 if it is the whole.
    pub first_tb: u32,
    /// Its TBs. It has the static instructions of the whole launch.
    pub trace: KernelTrace,
}

/// The TBs so far.
pub(super) struct Gathering<'r, 'a> {
    room: &'r mut Room<'a>,
    first_tb: u32,
}

impl<'r, 'a> Gathering<'r, 'a> {
    /// No TB yet.
    pub(super) fn new(room: &'r mut Room<'a>) -> Self {
        Gathering { room, first_tb: 0 }
    }

    /// Hands the part on that `builder` has, if it is full.
    pub(super) fn added(&mut self, builder: &mut TraceBuilder) -> io::Result<()> {
        let most_bytes = if self.first_tb == 0 { self.room.whole_bytes } else { self.room.part_bytes };
        if (builder.memory_bytes() as u64) < most_bytes {
            return Ok(());
        }
        let first_tb = std::mem::replace(&mut self.first_tb, builder.tbs());
        (self.room.closed)(first_tb, builder.take_part())
    }

    /// What is left, if all TBs of the grid are there.
    pub(super) fn last(self, info: &KernelInfo, mut builder: TraceBuilder) -> Result<LastPart, TraceError> {
        let (found, expected) = (u64::from(builder.tbs()), info.tbs());
        let first_tb = self.first_tb;
        match first_tb {
            0 => Ok(LastPart { first_tb, trace: builder.finish()? }),
            _ if found != expected => Err(TraceError::TbCount { found, expected }),
            _ => Ok(LastPart { first_tb, trace: builder.take_part() }),
        }
    }
}
