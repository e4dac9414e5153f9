//! Trials for long (own; sources.md D213): TBs that come, and come back, do other things in their first windows than later. So what was found stays for a while, then one kernel after the other gives half
//! of its TBs' room to another, for long, and what was found then stays for longer. What is better is said in `trial.rs`.

use super::trial::{BETTER_FOR_LONG_EIGHTHS, FLOOR_WHERE_FREED_PERMILLE, SAME_EIGHTHS, Trial, Tries, is_better_by, rates};
use crate::search::{Kernels, MOST_CYCLES, Search};
use mias_firmware::configs::TbVector;
use mias_firmware::policy::Next;

/// How many times longer long trials are (assumption: on kernels that it was made from, on 8 SMs of the machine of Dai et al. 2018, windows of 20,000 cycles said other things than 2,000,000 did, and
/// windows of 100,000 the same in eight of ten pairs).
const LONG: u32 = 5;
/// Windows that what was found stays for before anything is tried for long (assumption: a kernel that gives in vain takes two of them, and what comes and goes for it; with a quarter of it judged mixes
/// lost in 2,000,000 cycles, docs/evaluation-decisions.md).
const REST: u32 = 100;

/// So many cycles in long trials.
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

/// Where a round of exchanges stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exchanges {
    /// Everybody gives to the kernel that is so many behind it; the first again behind the last.
    apart: u8,
    /// Who gives.
    giver: u8,
    /// Kernels that gave something, and those that got something.
    gave: Kernels,
    got: Kernels,
}

impl Exchanges {
    /// None yet.
    pub(super) const NONE: Self = Self { apart: 0, giver: 0, gave: 0, got: 0 };

    /// The next round, among so many kernels: everybody gives to one further than in the last.
    fn next_round(self, kernels: usize) -> Self {
        let apart = self.apart.saturating_add(1);
        Self { apart: if usize::from(apart) < kernels { apart } else { 1 }, ..Self::NONE }
    }

    /// Who gets what a kernel gives.
    fn taker(self, giver: usize, kernels: usize) -> usize {
        let taker = giver.saturating_add(self.apart.into());
        if taker < kernels { taker } else { taker.saturating_sub(kernels) }
    }

    /// Whether it may: who got something in this round does not give, and who gave does not get.
    fn may(self, giver: usize, taker: usize) -> bool {
        giver != taker && self.got >> giver & 1 == 0 && self.gave >> taker & 1 == 0
    }
}

impl Trial {
    /// What was found stays for a while: [`REST`] windows first, then four times as long as the last time; for good if nobody has two TBs.
    pub(super) fn settle_for_a_while(&mut self, search: &mut Search) -> Next {
        self.tries = Tries::Rests;
        if (0..search.shares.kernels()).all(|kernel| self.best.get(kernel) < 2) {
            return search.settle();
        }
        let times = 1_u32.checked_shl(2 * u32::from(self.rests)).unwrap_or(u32::MAX);
        self.rests = self.rests.saturating_add(1);
        search.settle_for(search.parameters.window.saturating_mul(REST).saturating_mul(times))
    }

    /// What was found has stayed for a while: it is measured for long, as what others are held against.
    pub(super) fn begin_long(&mut self, search: &mut Search) -> Next {
        self.exchanges = self.exchanges.next_round(search.shares.kernels());
        self.try_on_all(search, self.best, Tries::Best)
    }

    /// Notes what kernels do with the best so far, of which nobody is to give up too much.
    pub(super) fn note_best(&mut self, search: &Search) {
        self.rates = rates(search);
        self.usual = self.rates;
    }

    /// Who gives next, and to whom; none if all had their turn.
    pub(super) fn next_exchange(&mut self, search: &Search) -> Option<(usize, usize)> {
        let (now, kernels) = (self.exchanges, search.shares.kernels());
        let all = (now.giver.into()..kernels).map(|giver| (giver, now.taker(giver, kernels)));
        let (giver, taker) = all.filter(|(giver, _)| self.best.get(*giver) > 1).find(|(giver, taker)| now.may(*giver, *taker))?;
        // Of four.
        self.exchanges.giver = giver as u8;
        Some((giver, taker))
    }

    /// The exchange was in vain, or nobody has room for what is given.
    pub(super) fn pass(&mut self) {
        self.exchanges.giver = self.exchanges.giver.saturating_add(1);
    }

    /// Tries a vector in which somebody has given half of its TBs.
    pub(super) fn try_half(&mut self, search: &mut Search, vector: TbVector) -> Next {
        self.try_on_all(search, vector, Tries::Half)
    }

    /// Half of the TBs of a kernel were measured: longer if that was better. None if it was not.
    pub(super) fn look_longer(&mut self, search: &Search) -> Option<Next> {
        if is_better_by(search, SAME_EIGHTHS, &rates(search), &self.rates) {
            self.tries = Tries::Sure;
            return Some(Next::Measure);
        }
        self.pass();
        None
    }

    /// They were measured longer: they are the best so far if they are still better, and the same kernel gives half of what it has still.
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
        // The first may give once more; the second has got something, and the fourth would give to the first.
        assert!(may.eq([0, 2]));
    }
}
