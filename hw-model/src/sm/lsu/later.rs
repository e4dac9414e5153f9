//! Results that complete at a known cycle: constant loads in the constant cache, and fetches in the
//! texture unit. They are written in that cycle, like an L1 hit, without arbitration with shared
//! memory for the write-back port. Own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Results by due cycle; within a cycle, in the order of insertion. Without results it costs one
/// comparison per cycle.
#[derive(Clone, Debug)]
pub(super) struct Later {
    /// Due cycle, number, warp and register; the numbers ascend.
    results: BinaryHeap<Reverse<(u64, u64, u8, u16)>>,
    added: u64,
}

impl Later {
    /// Creates a queue for up to `most` results.
    pub(super) fn new(most: usize) -> Self {
        Later { results: BinaryHeap::with_capacity(most), added: 0 }
    }

    /// Schedules the write of register `dst` of `warp` in cycle `due`.
    pub(super) fn add(&mut self, due: u64, warp: u8, dst: u16) {
        self.results.push(Reverse((due, self.added, warp, dst)));
        self.added += 1;
    }

    /// Warp and register of the next result that is due by cycle `now`.
    #[inline]
    pub(super) fn take(&mut self, now: u64) -> Option<(u8, u16)> {
        let &Reverse((due, _, warp, dst)) = self.results.peek()?;
        if due > now {
            return None;
        }
        self.results.pop();
        Some((warp, dst))
    }

    /// Cycle of the next result.
    #[inline]
    pub(super) fn next(&self) -> Option<u64> {
        self.results.peek().map(|&Reverse((due, ..))| due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The results equal those of a list sorted by cycle that keeps the order within a cycle.
        #[test]
        fn results_come_when_due_and_in_order(steps in prop::collection::vec(prop::collection::vec(1u64..20, 0..4), 1..60)) {
            let (mut later, mut plain) = (Later::new(4), Vec::new());
            let mut number = 0u16;
            for (now, latencies) in (0u64..).zip(steps) {
                plain.sort_by_key(|&(due, _)| due);
                prop_assert_eq!(later.next(), plain.first().map(|&(due, _)| due));
                while let Some(found) = later.take(now) {
                    let (due, number) = plain.remove(0);
                    prop_assert_eq!((found, due <= now), ((number as u8, number), true));
                }
                prop_assert!(plain.iter().all(|&(due, _)| due > now));
                for latency in latencies {
                    later.add(now + latency, number as u8, number);
                    plain.push((now + latency, number));
                    number += 1;
                }
            }
        }
    }
}
