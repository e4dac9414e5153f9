//! Long trials (own; sources.md D213): arriving and returning TBs behave differently in their first
//! windows than later.
//!
//! The result therefore stays for a while. Then one kernel after the other gives the space of half
//! of its TBs to another, in long trials. The new result stays for longer. `trial.rs` defines which
//! result is better.

use super::trial::{BETTER_FOR_LONG_EIGHTHS, FLOOR_WHERE_FREED_PERMILLE, SAME_EIGHTHS, Trial, Tries, is_better_by, rates};
use crate::search::{Kernels, MOST_CYCLES, Search};
use mias_firmware::configs::TbVector;
use mias_firmware::policy::Next;

/// Factor by which long trials are longer.
///
/// Assumption, from the kernels of its design on 8 SMs of the GPU of Dai et al. 2018: windows
/// of 20,000 cycles differed from 2,000,000, and windows of 100,000 agreed in eight of ten pairs.
const LONG: u32 = 5;
/// Windows for which the result stays before a long trial.
///
/// Assumption: a kernel that gives in vain takes two of them, plus the arrival and departure of its
/// TBs. With a quarter of it, judged mixes lost in 2,000,000 cycles (docs/results/decisions.md).
const REST: u32 = 100;

/// Scales cycles to long trials.
pub(super) const fn long(cycles: u32) -> u32 {
    let long = cycles.saturating_mul(LONG);
    if long == 0 {
        1
    } else if long < MOST_CYCLES {
        long
    } else {
        MOST_CYCLES
    }
}

/// State of a round of exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exchanges {
    /// Distance from each giver to its taker, in kernels. The first follows the last.
    apart: u8,
    /// Kernel that gives.
    giver: u8,
    /// Kernels that gave TBs, and those that got some.
    gave: Kernels,
    got: Kernels,
}

impl Exchanges {
    /// State before the first round.
    pub(super) const NONE: Self = Self { apart: 0, giver: 0, gave: 0, got: 0 };

    /// Returns the next round among `kernels` kernels: the distance grows by one.
    fn next_round(self, kernels: usize) -> Self {
        let apart = self.apart.saturating_add(1);
        Self { apart: if usize::from(apart) < kernels { apart } else { 1 }, ..Self::NONE }
    }

    /// Returns the taker of what a kernel gives.
    fn taker(self, giver: usize, kernels: usize) -> usize {
        let taker = giver.saturating_add(self.apart.into());
        if taker < kernels { taker } else { taker.saturating_sub(kernels) }
    }

    /// Returns whether the exchange is allowed: a kernel that got TBs in this round does not give,
    /// and one that gave does not get.
    fn may(self, giver: usize, taker: usize) -> bool {
        giver != taker && self.got >> giver & 1 == 0 && self.gave >> taker & 1 == 0
    }
}

impl Trial {
    /// Keeps the result for a while: [`REST`] windows first, then four times the last rest; for
    /// good if no kernel has two TBs.
    pub(super) fn settle_for_a_while(&mut self, search: &mut Search) -> Next {
        self.tries = Tries::Rests;
        if (0..search.shares.kernels()).all(|kernel| self.best.get(kernel) < 2) {
            return search.settle();
        }
        let times = 1_u32.checked_shl(2 * u32::from(self.rests)).unwrap_or(u32::MAX);
        self.rests = self.rests.saturating_add(1);
        search.settle_for(search.parameters.window.saturating_mul(REST).saturating_mul(times))
    }

    /// Starts a long measurement of the result, as the reference of the exchanges.
    pub(super) fn begin_long(&mut self, search: &mut Search) -> Next {
        self.exchanges = self.exchanges.next_round(search.shares.kernels());
        self.try_on_all(search, self.best, Tries::Best)
    }

    /// Records the rates of the best so far, which no kernel may undercut too far.
    pub(super) fn note_best(&mut self, search: &Search) {
        self.rates = rates(search);
        self.usual = self.rates;
    }

    /// Returns the next giver and its taker; none if all had their turn.
    pub(super) fn next_exchange(&mut self, search: &Search) -> Option<(usize, usize)> {
        let (now, kernels) = (self.exchanges, search.shares.kernels());
        let all = (now.giver.into()..kernels).map(|giver| (giver, now.taker(giver, kernels)));
        let (giver, taker) = all.filter(|(giver, _)| self.best.get(*giver) > 1).find(|(giver, taker)| now.may(*giver, *taker))?;
        // At most four kernels.
        self.exchanges.giver = giver as u8;
        Some((giver, taker))
    }

    /// Skips an exchange that did not help, or whose space no kernel can use.
    pub(super) fn pass(&mut self) {
        self.exchanges.giver = self.exchanges.giver.saturating_add(1);
    }

    /// Tries a vector in which one kernel has given half of its TBs.
    pub(super) fn try_half(&mut self, search: &mut Search, vector: TbVector) -> Next {
        self.try_on_all(search, vector, Tries::Half)
    }

    /// Measures an exchange again for longer, if it was better; none if it was not.
    pub(super) fn look_longer(&mut self, search: &Search) -> Option<Next> {
        if is_better_by(search, SAME_EIGHTHS, &rates(search), &self.rates) {
            self.tries = Tries::Sure;
            return Some(Next::Measure);
        }
        self.pass();
        None
    }

    /// Keeps the exchange if the longer measurement is still better. The same kernel then gives
    /// half of its remaining TBs.
    pub(super) fn keep(&mut self, search: &Search) {
        let rates = rates(search);
        if !(is_better_by(search, BETTER_FOR_LONG_EIGHTHS, &rates, &self.rates)
            && self.is_above(search, FLOOR_WHERE_FREED_PERMILLE, &rates))
        {
            return self.pass();
        }
        (self.best, self.rates) = (search.on_all.unwrap_or(self.best), rates);
        let now = self.exchanges;
        let taker = now.taker(now.giver.into(), search.shares.kernels());
        self.exchanges.gave |= 1_u8.checked_shl(now.giver.into()).unwrap_or(0);
        self.exchanges.got |= 1_u8.checked_shl(taker as u32).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_as_many_rounds_as_there_are_others_everybody_gives_to_everybody() {
        for kernels in 2..5_usize {
            let mut round = Exchanges::NONE;
            for apart in 1..kernels {
                round = round.next_round(kernels);
                assert!((0..kernels).all(|giver| (round.taker(giver, kernels) + kernels - giver) % kernels == apart
                    && round.may(giver, round.taker(giver, kernels))));
            }
            assert_eq!(round.next_round(kernels), Exchanges::NONE.next_round(kernels));
        }
    }

    #[test]
    fn who_got_gives_nothing_and_who_gave_gets_nothing() {
        let round = Exchanges { gave: 0b0001, got: 0b0010, ..Exchanges::NONE.next_round(4) };
        let may = (0..4).filter(|giver| round.may(*giver, round.taker(*giver, 4)));
        // The first may give once more. The second has got TBs, and the fourth would give to the
        // first.
        assert!(may.eq([0, 2]));
    }
}
