//! Results that are complete at a known cycle: constant loads on their way through the constant cache, and fetches in the texture unit.
//! They are written in that cycle, as an L1 hit is, and do not take turns with shared memory for the write-back port. Own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Results by the cycle in which they are due, those of one cycle in the order in which they were added. Without any it costs a
/// comparison per cycle.
#[derive(Clone, Debug)]
pub(super) struct Later {
    /// Cycle due, number, warp, register; the numbers ascend.
    results: BinaryHeap<Reverse<(u64, u64, u8, u16)>>,
    added: u64,
}

impl Later {
    /// With room for `most` results.
    pub(super) fn new(most: usize) -> Self {
        Later { results: BinaryHeap::with_capacity(most), added: 0 }
    }

    /// The register `dst` of `warp` is written in cycle `due`.
    pub(super) fn add(&mut self, due: u64, warp: u8, dst: u16) {
        self.results.push(Reverse((due, self.added, warp, dst)));
        self.added += 1;
    }

    /// Warp and register of the next result that is due in cycle `now` or was before.
    #[inline]
    pub(super) fn take(&mut self, now: u64) -> Option<(u8, u16)> {
        let &Reverse((due, _, warp, dst)) = self.results.peek()?;
        if due > now {
            return None;
        }
        self.results.pop();
        Some((warp, dst))
    }

    /// The cycle of the next result.
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
        /// A list that is sorted by cycle, and keeps the order of what is due together, gives the same.
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
