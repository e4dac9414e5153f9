//! How the memory that a kernel's trace may take is divided among what is in memory while the kernel is executed.
//!
//! | what | part of the budget |
//! |---|---|
//! | records of TBs under execution; one TB may take half of it | a quarter, at least 32 MiB |
//! | parts of the trace that are held, the others being on disk | a quarter of the rest |
//! | the part that grows, with what finds equal sequences in it | a quarter of the rest, at least 8 MiB |
//! | its copy, from which runs replay | the same |
//! | older parts that runs still replay from: two for each run | a quarter of the rest |
//!
//! Bytes are those of what is noted. What the allocator adds is not counted, nor is a buffer while a part is written to disk or read back.

use bytesize::MIB;
use mias_ptx::lower::record::Room;

/// Least bytes for the records of TBs under execution. Assumption: twice the record of the longest TB of the built-in kernels, n-body's with
/// 8 warps of 464,328 instructions of 4 bytes.
const LEAST_RECORD_BYTES: u64 = 32 * MIB;

/// Least bytes for the part that grows. Assumption: twice what that TB takes there, where its warps are one shape.
const LEAST_GROWING_BYTES: u64 = 8 * MIB;

/// A budget below this does not hold what a kernel is given at least: then [`Budget::exceeded`].
pub const LEAST_BYTES: u64 = 2 * LEAST_RECORD_BYTES;

/// Bytes of a part, if the budget is large. Assumption: written or read back in tenths of a second.
const PART_BYTES: u64 = 64 * MIB;

/// Parts that a run replays from: it leaves one and enters the next. Assumption; TBs that live long may keep it at more.
const PARTS_OF_A_RUN: u64 = 2;

/// What a kernel may take in memory while it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// All of it.
    pub bytes: u64,
    /// Parts of the trace that are held.
    pub(crate) held_bytes: u64,
    /// What executing takes.
    pub(crate) room: Room,
}

impl Budget {
    /// Divides `bytes`, where up to `runs` runs replay a trace at a time.
    pub fn new(bytes: u64, runs: usize) -> Self {
        let record_bytes = (bytes / 4).max(LEAST_RECORD_BYTES);
        // Below the least, records have theirs whatever it is.
        let quarter = bytes.checked_sub(record_bytes).map_or(bytes / 2, |rest| rest.max(bytes / 2)) / 4;
        let part_bytes = (quarter / (PARTS_OF_A_RUN * runs.max(1) as u64)).min(PART_BYTES);
        Budget { bytes, held_bytes: quarter, room: Room { part_bytes, most_part_bytes: quarter.max(LEAST_GROWING_BYTES), record_bytes } }
    }

    /// No bound.
    pub const ANY: Budget = Budget { bytes: u64::MAX, held_bytes: u64::MAX, room: Room::ANY };

    /// Whether what a kernel is given at least may take more than the budget.
    pub fn exceeded(&self) -> bool {
        self.bytes < LEAST_BYTES
    }

    /// What a kernel that is executed takes at most: the table's sum.
    #[cfg(test)]
    fn most_bytes(&self) -> u64 {
        let growing = self.room.most_part_bytes;
        self.room.record_bytes + 2 * self.held_bytes + 2 * growing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The sum is never above the budget, but for one that is too small, which is told.
        #[test]
        fn the_parts_are_within_the_whole(bytes in 1u64..1 << 44, runs in 0usize..300) {
            let budget = Budget::new(bytes, runs);
            prop_assert_eq!(budget.exceeded(), bytes < 64 * MIB);
            let most = if budget.exceeded() { 64 * MIB } else { bytes };
            prop_assert!(budget.most_bytes() <= most, "{} of {}", budget.most_bytes(), bytes);
            // What the runs have is the last quarter.
            prop_assert!(2 * runs as u64 * budget.room.part_bytes <= budget.held_bytes);
        }

        /// A part and the TB's record, of at most half of the room for records, never depend on the number of runs.
        #[test]
        fn what_a_tb_may_take_depends_on_the_budget_only(bytes in 1u64..1 << 44, runs in 1usize..300) {
            let (one, many) = (Budget::new(bytes, 1).room, Budget::new(bytes, runs).room);
            prop_assert_eq!((one.record_bytes, one.most_part_bytes), (many.record_bytes, many.most_part_bytes));
        }
    }
}
