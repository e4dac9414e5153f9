//! Instruction fetch: buffers that are filled for a few warps per cycle (sources.md D122).
//!
//! A warp's buffer is filled only when it is empty, with as many instructions as it holds. Warps
//! are served round robin by warp slot, from the one served last. Fetched instructions can issue in
//! the next cycle; those of the last warp served in a cycle are decoded one cycle later. The
//! instruction cache is perfect. A warp at a barrier is served like any other.
//!
//! On a GPU without fetch, instructions are always available.

use super::warp::{MAX_WARPS, Wait};
use super::{FETCH_CYCLES, Sm};
use crate::config::FetchConfig;

/// Instruction buffers of an SM.
#[derive(Clone, Debug)]
pub(super) struct Fetch {
    /// Buffers filled per cycle, and instructions per buffer.
    config: FetchConfig,
    /// Mask of warps whose buffer is empty and not requested yet, by warp slot.
    asking: u128,
    /// Mask of warps whose buffer is empty, requested or in flight.
    empty: u128,
    /// Warp slot served last.
    last: u32,
    /// Mask of warps that the round-robin search passed in the current cycle, by warp slot.
    passed: u128,
    /// Number of instructions in the buffers, by warp slot.
    held: [u8; MAX_WARPS],
}

impl Fetch {
    pub(super) fn new(config: FetchConfig) -> Self {
        Fetch { config, asking: 0, empty: 0, last: 0, passed: 0, held: [0; MAX_WARPS] }
    }

    /// Requests a fetch for a new warp or an empty buffer.
    pub(super) fn ask(&mut self, warp: u8) {
        self.asking |= 1 << warp;
        self.empty |= 1 << warp;
    }

    /// Cancels fetches for a warp that has issued everything or has left.
    pub(super) fn forget(&mut self, warp: u8) {
        self.asking &= !(1 << warp);
        self.empty &= !(1 << warp);
    }

    /// Records the issue of an instruction that is not the warp's last. Returns true if it was the
    /// last in the buffer, which then requests more.
    #[inline]
    pub(super) fn issued_last(&mut self, warp: u8) -> bool {
        let held = &mut self.held[usize::from(warp) & (MAX_WARPS - 1)];
        *held = held.saturating_sub(1);
        let dry = *held == 0;
        if dry {
            self.ask(warp);
        }
        dry
    }

    /// Records the arrival of the warp's instructions.
    pub(super) fn arrived(&mut self, warp: u8) {
        self.empty &= !(1 << warp);
        self.held[usize::from(warp) & (MAX_WARPS - 1)] = self.config.buffer as u8;
    }

    /// Serves the next warps in cycle `now`, and passes each to `arrives` with the first cycle in
    /// which it can issue.
    fn serve(&mut self, now: u64, mut arrives: impl FnMut(u64, u8)) {
        self.passed = 0;
        for served in 1..=self.config.warps_per_cycle {
            if self.asking == 0 {
                self.passed = u128::MAX;
                return;
            }
            let from = (self.last + 1) % MAX_WARPS as u32;
            let warp = (from + self.asking.rotate_right(from).trailing_zeros()) % MAX_WARPS as u32;
            self.asking &= !(1 << warp);
            self.passed |= (u128::MAX >> (127 - (warp + MAX_WARPS as u32 - from) % MAX_WARPS as u32)).rotate_left(from);
            self.last = warp;
            arrives(now + 1 + u64::from(served == self.config.warps_per_cycle && served > 1), warp as u8);
        }
    }
}

impl Sm {
    /// Fills the buffers of the next warps.
    pub(super) fn fetch(&mut self, now: u64) {
        let Some(fetch) = &mut self.fetch else { return };
        let fetching = &mut self.fetching;
        fetch.serve(now, |cycle, warp| fetching.push((cycle, warp)));
        self.to_fetch = fetch.asking != 0 || fetch.passed != u128::MAX;
    }

    /// Requests the first instructions of a warp that arrives in cycle `now`.
    pub(super) fn fetch_first(&mut self, number: u8, now: u64) {
        if let Some(fetch) = &mut self.fetch {
            fetch.ask(number);
            self.to_fetch = true;
        } else if self.warps[number].wait == Wait::Fetch {
            self.fetching.push((now + FETCH_CYCLES, number));
        }
    }

    /// Mask of warps that may leave now, by warp slot: a warp's end is noticed when the search
    /// serves or passes it.
    pub(super) fn may_be_seen(&self) -> u128 {
        self.fetch.as_ref().map_or(u128::MAX, |fetch| fetch.passed)
    }

    /// True if the warp's next instruction was not fetched yet.
    pub(super) fn lacks_instruction(&self, number: u8) -> bool {
        self.fetch.as_ref().is_some_and(|fetch| fetch.empty >> number & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reference: examines one warp after the other.
    fn plain(asking: &mut [bool; MAX_WARPS], last: &mut usize, warps_per_cycle: u32) -> (Vec<usize>, [bool; MAX_WARPS]) {
        let (mut served, mut passed) = (Vec::new(), [false; MAX_WARPS]);
        for _ in 0..warps_per_cycle {
            for step in 1..=MAX_WARPS {
                let warp = (*last + step) % MAX_WARPS;
                passed[warp] = true;
                if std::mem::take(&mut asking[warp]) {
                    served.push(warp);
                    *last = warp;
                    break;
                }
            }
        }
        (served, passed)
    }

    proptest! {
        /// Warps are served round robin, each requesting warp once. The last one per cycle waits a
        /// cycle longer. A search without a request passes all warps.
        #[test]
        fn warps_take_turns(
            cycles in prop::collection::vec(prop::collection::vec(0u8..MAX_WARPS as u8, 0..12), 1..60),
            warps_per_cycle in 1u32..6,
        ) {
            let mut fetch = Fetch::new(FetchConfig { warps_per_cycle, buffer: 2 });
            let (mut asking, mut last) = ([false; MAX_WARPS], 0);
            for (now, asks) in (0u64..).zip(cycles) {
                for warp in asks {
                    fetch.ask(warp);
                    asking[usize::from(warp)] = true;
                }
                let mut served = Vec::new();
                fetch.serve(now, |from, warp| served.push((from, usize::from(warp))));
                let (expected, passed) = plain(&mut asking, &mut last, warps_per_cycle);
                let late = |place: usize| u64::from(place + 1 == warps_per_cycle as usize && place > 0);
                let expected: Vec<_> = expected.into_iter().enumerate().map(|(place, warp)| (now + 1 + late(place), warp)).collect();
                prop_assert_eq!(served, expected);
                for (warp, passed) in passed.into_iter().enumerate() {
                    prop_assert_eq!(fetch.passed >> warp & 1 != 0, passed, "warp {}", warp);
                }
            }
        }
    }

    #[test]
    fn a_buffer_lasts_for_what_it_holds() {
        let mut fetch = Fetch::new(FetchConfig { warps_per_cycle: 1, buffer: 3 });
        fetch.ask(5);
        assert_eq!(fetch.empty, 1 << 5);
        fetch.arrived(5);
        assert_eq!([(); 3].map(|()| fetch.issued_last(5)), [false, false, true]);
        assert_eq!((fetch.empty, fetch.asking), (1 << 5, 1 << 5));
        fetch.forget(5);
        assert_eq!((fetch.empty, fetch.asking), (0, 0));
    }
}
