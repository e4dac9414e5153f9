//! Collection of TBs in the order of the file. A launch that exceeds its memory limit is delivered
//! in parts.

use mias_warp_trace::{KernelInfo, KernelTrace, TraceBuilder, TraceError};
use std::io;

/// Callback for a full part: its first TB and the trace of its TBs. A part that begins with TB 0
/// invalidates all earlier parts: the file is then read again from the start.
pub type Closed<'a> = dyn FnMut(u32, KernelTrace) -> io::Result<()> + 'a;

/// Memory limits of a launch during collection.
pub struct MemoryBudget<'a> {
    /// Size in bytes above which a launch is split; also the limit of its first part.
    pub whole_bytes: u64,
    /// Size in bytes above which a later part is delivered.
    pub part_bytes: u64,
    /// Receiver of full parts.
    pub closed: &'a mut Closed<'a>,
}

/// Last part of a launch, or the whole launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastPart {
    /// First TB of the part; 0 for a whole launch.
    pub first_tb: u32,
    /// TBs of the part, with the static instructions of the whole launch.
    pub trace: KernelTrace,
}

/// TBs collected so far.
pub(super) struct Gathering<'r, 'a> {
    room: &'r mut MemoryBudget<'a>,
    first_tb: u32,
}

impl<'r, 'a> Gathering<'r, 'a> {
    /// Creates an empty collection.
    pub(super) fn new(room: &'r mut MemoryBudget<'a>) -> Self {
        Gathering { room, first_tb: 0 }
    }

    /// Delivers the part in `builder` if it is full.
    pub(super) fn added(&mut self, builder: &mut TraceBuilder) -> io::Result<()> {
        let most_bytes = if self.first_tb == 0 { self.room.whole_bytes } else { self.room.part_bytes };
        if (builder.memory_bytes() as u64) < most_bytes {
            return Ok(());
        }
        let first_tb = std::mem::replace(&mut self.first_tb, builder.tbs());
        (self.room.closed)(first_tb, builder.take_part())
    }

    /// Returns the last part, once all TBs of the grid are present.
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
