//! Timing wheel (Varghese and Lauck 1987) of the results of fixed-latency units in flight to the
//! register file, by cycle of arrival.

/// Result: the warp, and the register to write if any.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitResult {
    pub warp: u8,
    pub dst: u16,
}

const NONE: u16 = u16::MAX;

/// Ring of cycles, each with a list of results; the lists share one pool of nodes.
#[derive(Clone, Debug)]
pub(super) struct TimingWheel {
    heads: Vec<u16>,
    nodes: Vec<(UnitResult, u16)>,
    free: u16,
    len: u32,
    mask: u64,
}

impl TimingWheel {
    /// Creates a wheel for results up to `horizon` cycles ahead, at most `capacity` at a time.
    pub(super) fn new(horizon: u32, capacity: u16) -> Self {
        let slots = (horizon as usize + 1).next_power_of_two();
        let nodes = (0..capacity).map(|i| (UnitResult { warp: 0, dst: 0 }, if i + 1 < capacity { i + 1 } else { NONE })).collect();
        TimingWheel { heads: vec![NONE; slots], nodes, free: 0, len: 0, mask: slots as u64 - 1 }
    }

    /// Schedules a result for `cycle`, which must be within the horizon.
    pub(super) fn add(&mut self, cycle: u64, result: UnitResult) {
        let node = self.free;
        debug_assert!(node != NONE, "more results in flight than units can hold");
        self.free = self.nodes[usize::from(node)].1;
        let head = &mut self.heads[(cycle & self.mask) as usize];
        self.nodes[usize::from(node)] = (result, *head);
        *head = node;
        self.len += 1;
    }

    /// Takes one of the results that arrive in `cycle`.
    pub(super) fn take(&mut self, cycle: u64) -> Option<UnitResult> {
        let head = &mut self.heads[(cycle & self.mask) as usize];
        let node = *head;
        if node == NONE {
            return None;
        }
        let (result, next) = self.nodes[usize::from(node)];
        *head = next;
        self.nodes[usize::from(node)].1 = self.free;
        self.free = node;
        self.len -= 1;
        Some(result)
    }

    /// First cycle from `now` on with a result.
    pub(super) fn next(&self, now: u64) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        (now..=now + self.mask).find(|cycle| self.heads[(cycle & self.mask) as usize] != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_out_in_their_cycle_and_nodes_are_reused() {
        let mut wheel = TimingWheel::new(10, 4);
        for cycle in 0..100u64 {
            wheel.add(cycle + 3, UnitResult { warp: cycle as u8, dst: 7 });
            if cycle >= 3 {
                assert_eq!(wheel.next(cycle), Some(cycle));
                assert_eq!(wheel.take(cycle).map(|r| r.warp), Some(cycle as u8 - 3));
            }
            assert!(wheel.take(cycle).is_none());
        }
        assert_eq!(wheel.len, 3, "three are still on their way");
    }
}
