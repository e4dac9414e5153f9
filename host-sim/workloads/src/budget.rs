//! Division of a kernel's memory budget among the data that its execution holds.
//!
//! | data | part of the budget |
//! |---|---|
//! | records of TBs under execution; one TB may take half of it | a quarter, at least 32 MiB |
//! | held parts of the trace; the others are on disk | a quarter of the rest |
//! | growing part, with its index of equal sequences | a quarter of the rest, at least 8 MiB |
//! | copy of the growing part, from which runs replay | the same |
//! | older parts that runs still replay: two per run | a quarter of the rest |
//!
//! The bytes are those of the recorded data. Overhead of the allocator is not counted, nor is a
//! buffer while a part is written to disk or read back.

use bytesize::MIB;
use mias_ptx::lower::record::RecordLimit;

/// Minimum bytes for the records of TBs under execution. Assumption: twice the record of the
/// longest TB of the built-in kernels, n-body with 8 warps of 464,328 instructions of 4 bytes.
const LEAST_RECORD_BYTES: u64 = 32 * MIB;

/// Minimum bytes for the growing part. Assumption: twice the size of that TB there, where its warps
/// share one shape.
const LEAST_GROWING_BYTES: u64 = 8 * MIB;

/// Smallest budget that covers the minimums of a kernel; below it, [`Budget::exceeded`] is true.
pub const LEAST_BYTES: u64 = 2 * LEAST_RECORD_BYTES;

/// Size of a part in bytes under a large budget. Assumption: written or read back in tenths of a
/// second.
const PART_BYTES: u64 = 64 * MIB;

/// Parts that a run replays from: it leaves one and enters the next. Assumption; long-lived TBs may
/// hold more.
const PARTS_OF_A_RUN: u64 = 2;

/// Memory budget of a kernel during its execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Total budget in bytes.
    pub bytes: u64,
    /// Bytes for held parts of the trace.
    pub(crate) held_bytes: u64,
    /// Limits for execution.
    pub(crate) room: RecordLimit,
}

impl Budget {
    /// Divides `bytes` for up to `runs` concurrent replays of a trace.
    pub fn new(bytes: u64, runs: usize) -> Self {
        let record_bytes = (bytes / 4).max(LEAST_RECORD_BYTES);
        // Below the minimum, records still get their share.
        let quarter = bytes.checked_sub(record_bytes).map_or(bytes / 2, |rest| rest.max(bytes / 2)) / 4;
        let part_bytes = (quarter / (PARTS_OF_A_RUN * runs.max(1) as u64)).min(PART_BYTES);
        Budget {
            bytes,
            held_bytes: quarter,
            room: RecordLimit { part_bytes, most_part_bytes: quarter.max(LEAST_GROWING_BYTES), record_bytes },
        }
    }

    /// Budget without a limit.
    pub const ANY: Budget = Budget { bytes: u64::MAX, held_bytes: u64::MAX, room: RecordLimit::ANY };

    /// Returns whether the minimums of a kernel may exceed the budget.
    pub fn exceeded(&self) -> bool {
        self.bytes < LEAST_BYTES
    }

    /// Returns the maximum bytes that an executed kernel takes: the sum of the table.
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
        /// The sum never exceeds the budget, except for a budget that is reported as too small.
        #[test]
        fn the_parts_are_within_the_whole(bytes in 1u64..1 << 44, runs in 0usize..300) {
            let budget = Budget::new(bytes, runs);
            prop_assert_eq!(budget.exceeded(), bytes < 64 * MIB);
            let most = if budget.exceeded() { 64 * MIB } else { bytes };
            prop_assert!(budget.most_bytes() <= most, "{} of {}", budget.most_bytes(), bytes);
            // The runs get the last quarter.
            prop_assert!(2 * runs as u64 * budget.room.part_bytes <= budget.held_bytes);
        }

        /// The sizes of a part and of a TB's record, at most half of the bytes for records, do not
        /// depend on the number of runs.
        #[test]
        fn what_a_tb_may_take_depends_on_the_budget_only(bytes in 1u64..1 << 44, runs in 1usize..300) {
            let (one, many) = (Budget::new(bytes, 1).room, Budget::new(bytes, runs).room);
            prop_assert_eq!((one.record_bytes, one.most_part_bytes), (many.record_bytes, many.most_part_bytes));
        }
    }
}
