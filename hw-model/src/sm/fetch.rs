//! Fetch: instruction buffers, which are filled for a few warps in each cycle (sources.md D122).
//!
//! A warp's buffer is filled when it is empty, not before, for as many instructions as it holds. Warps take turns by warp slot, from the one
//! that was served last. What is fetched in a cycle can issue in the next, but for the last that a cycle can serve: its instructions are
//! decoded one cycle later. The instruction cache is perfect. A warp at a barrier is served as any other.
//!
//! A machine without this has its instructions always there.

use super::warp::{MAX_WARPS, Wait};
use super::{FETCH_CYCLES, Sm};
use crate::config::FetchConfig;

/// The instruction buffers of an SM.
#[derive(Clone, Debug)]
pub(super) struct Fetch {
    /// Buffers filled per cycle, and instructions that a buffer holds.
    config: FetchConfig,
    /// Warps whose buffer is empty, a bit per warp slot: not asked for yet.
    asking: u128,
    /// Warps whose buffer is empty, asked for or on its way.
    empty: u128,
    /// The warp slot served last.
    last: u32,
    /// Warps that were passed in the current cycle when looking for whose turn it is, a bit per warp slot.
    passed: u128,
    /// Instructions in the buffers, by warp slot.
    held: [u8; MAX_WARPS],
}

impl Fetch {
    pub(super) fn new(config: FetchConfig) -> Self {
        Fetch { config, asking: 0, empty: 0, last: 0, passed: 0, held: [0; MAX_WARPS] }
    }

    /// A warp has come into the slot, or its buffer has become empty.
    pub(super) fn ask(&mut self, warp: u8) {
        self.asking |= 1 << warp;
        self.empty |= 1 << warp;
    }

    /// The warp has nothing left to issue, or has gone.
    pub(super) fn forget(&mut self, warp: u8) {
        self.asking &= !(1 << warp);
        self.empty &= !(1 << warp);
    }

    /// An instruction of the warp has issued, which is not its last. Whether that was the last in its buffer; then it asks for more.
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

    /// The warp's instructions are there.
    pub(super) fn arrived(&mut self, warp: u8) {
        self.empty &= !(1 << warp);
        self.held[usize::from(warp) & (MAX_WARPS - 1)] = self.config.buffer as u8;
    }

    /// Serves the warps whose turn it is in cycle `now`, and hands each with the cycle from which it can issue to `arrives`.
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
    /// Fills the buffers of the warps whose turn it is.
    pub(super) fn fetch(&mut self, now: u64) {
        let Some(fetch) = &mut self.fetch else { return };
        let fetching = &mut self.fetching;
        fetch.serve(now, |cycle, warp| fetching.push((cycle, warp)));
        self.to_fetch = fetch.asking != 0 || fetch.passed != u128::MAX;
    }

    /// The warp's first instructions are to be fetched: it has come in cycle `now`.
    pub(super) fn fetch_first(&mut self, number: u8, now: u64) {
        if let Some(fetch) = &mut self.fetch {
            fetch.ask(number);
            self.to_fetch = true;
        } else if self.warps[number].wait == Wait::Fetch {
            self.fetching.push((now + FETCH_CYCLES, number));
        }
    }

    /// Warps that may leave now, a bit per warp slot: a warp's end is seen when its turn to fetch comes or is passed.
    pub(super) fn may_be_seen(&self) -> u128 {
        self.fetch.as_ref().map_or(u128::MAX, |fetch| fetch.passed)
    }

    /// Whether the warp's next instruction is still to be fetched.
    pub(super) fn lacks_instruction(&self, number: u8) -> bool {
        self.fetch.as_ref().is_some_and(|fetch| fetch.empty >> number & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Who is served, plainly: look at one warp after the other.
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
        /// Warps take turns, each that asks is served once, the last that a cycle can serve waits a cycle longer, and a look around that
        /// finds nobody passes all.
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
