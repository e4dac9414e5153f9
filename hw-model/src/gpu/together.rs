//! A cycle of the SMs on several threads, with the same result as on one.
//!
//! SMs of other groups are run by the team, those of the first group here, and beside them the slices and channels of the memory system
//! run their part of the next cycle. Only the crossbar joins them: it moves when all are done. TB issue and the register block follow as
//! ever, here.
//!
//! Who runs which SMs changes seldom, since an SM's state is in the cache of the core that ran it last. How many the first group has is
//! found while it runs: one fewer when the others mostly wait for it, one more when it mostly waits for them.

use super::Gpu;
use super::group::Group;
use super::handover::Patience;
use super::sms::Sms;
use super::team::{Order, Team};
use std::sync::OnceLock;

/// With fewer SMs awake, a group is run here, unless it has no more: handing it over would take longer than running it (assumption: a
/// handover takes about as long as three SMs).
const LEAST_AWAKE: usize = 3;
/// With fewer SMs awake in all, every group is.
const LEAST_AWAKE_IN_ALL: usize = 2 * LEAST_AWAKE;

/// Cycles by which one side has to be late more often than the other before the first group changes (assumption).
const FIRST_PATIENCE: i32 = 64;
/// At most: one SM to and fro costs nothing then.
const MOST_PATIENCE: i32 = 1 << 14;

/// A cycle is lost if it waits for a thread that has no core. It costs a time slice, as long as so many cycles (assumption: a millisecond).
const LOST: u32 = 256;
/// So many cycles without a loss make up for those that were lost, at most (assumption).
const MOST_CREDIT: u32 = 4 * LOST;
/// When there were more, others need the cores, and one thread runs so many cycles before the next trial; twice as many if that soon fails,
/// too, and so on (assumption: some ten milliseconds, up to some seconds).
const ALONE: u32 = 1 << 13;
const MOST_ALONE: u32 = ALONE << 6;

/// How many SMs the first group has, and who was late.
#[derive(Clone, Debug)]
pub(super) struct Balance {
    /// SMs of the first group.
    first: usize,
    /// Cycles in which it waited for the others, less those in which they waited for it.
    waited: i32,
    /// Such a difference that it is given more or fewer SMs. Doubles with every change.
    patience: i32,
    /// Cycles together that have not been lost, and make up for some that may be.
    credit: u32,
    /// Cycles since several threads took over.
    together: u32,
    /// Cycles that one thread is still to run.
    alone: u32,
    /// So many it will run the next time.
    next_alone: u32,
}

impl Balance {
    /// `sms` SMs, evenly among `groups`.
    pub(super) fn even(sms: usize, groups: usize) -> Self {
        let first = sms / groups;
        Balance { first, waited: 0, patience: FIRST_PATIENCE, credit: MOST_CREDIT, together: 0, alone: 0, next_alone: ALONE }
    }

    /// After a cycle in which the first group `waited`, or was waited for: whether it gets more or fewer of the SMs.
    fn tip(&mut self, waited: bool, sms: usize, groups: usize) -> bool {
        self.waited += if waited { 1 } else { -1 };
        if self.waited.abs() < self.patience {
            return false;
        }
        self.waited = 0;
        self.patience = (2 * self.patience).min(MOST_PATIENCE);
        // Every other group has an SM.
        let first = if waited { (self.first + 1).min(sms + 1 - groups) } else { self.first.saturating_sub(1) };
        std::mem::replace(&mut self.first, first) != first
    }

    /// Whether a cycle that several threads might run is to be run by one, since others need the cores.
    fn is_alone(&mut self) -> bool {
        let alone = self.alone > 0;
        self.alone -= u32::from(alone);
        alone
    }

    /// After a cycle of several threads, which was `lost` or not.
    fn try_on(&mut self, lost: bool) {
        self.together = self.together.saturating_add(1);
        if self.together == ALONE {
            self.next_alone = ALONE;
        }
        if !lost {
            self.credit = (self.credit + 1).min(MOST_CREDIT);
        } else if let Some(credit) = self.credit.checked_sub(LOST) {
            self.credit = credit;
        } else {
            self.alone = self.next_alone;
            self.next_alone = (2 * self.next_alone).min(MOST_ALONE);
            (self.credit, self.together) = (MOST_CREDIT, 0);
        }
    }

    /// SMs of each group: the others share evenly what the first one leaves.
    fn sizes(&self, sms: usize, groups: usize) -> impl Iterator<Item = usize> {
        let (first, others, rest) = (self.first, groups - 1, sms - self.first);
        std::iter::once(first).chain((0..others).map(move |group| rest * (group + 1) / others - rest * group / others))
    }
}

impl Sms {
    /// Makes so many groups, at least 1, unless there are so many.
    pub(super) fn share(&mut self, groups: usize) {
        if self.others.len() + 1 != groups {
            let (count, balance) = (self.len(), Balance::even(self.len(), groups));
            self.regroup(balance.sizes(count, groups));
            self.balance = balance;
        }
    }

    /// Shares anew if one side is late too often.
    fn rebalance(&mut self, waited: bool) {
        let (count, groups) = (self.len(), self.others.len() + 1);
        if self.balance.tip(waited, count, groups) {
            let balance = self.balance.clone();
            self.regroup(balance.sizes(count, groups));
        }
    }
}

/// How long threads wait for each other: whether each of `threads` has a core.
pub(super) fn patience(threads: usize) -> Patience {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
    if threads <= cores { Patience::LONG } else { Patience::SHORT }
}

impl Gpu {
    /// Whether there is so much to do in this cycle that other threads should help.
    pub(super) fn pays_together(&mut self) -> bool {
        let enough = !self.skip || self.sms.groups().map(Group::awake).sum::<usize>() >= LEAST_AWAKE_IN_ALL;
        enough && !self.sms.balance.is_alone()
    }

    /// Runs this cycle of the SMs with `team`. Returns whether TBs have ended. Unless `last`, what can be done of the next cycle of the
    /// memory system is done, too.
    pub(super) fn run_sms_together(&mut self, team: &mut Team<'_, '_>, last: bool) -> bool {
        let (now, skip) = (self.now, self.skip);
        for (worker, place) in self.sms.others.iter_mut().enumerate() {
            let Some(mut group) = place.take_if(|group| !skip || group.awake() >= LEAST_AWAKE.min(group.sms.len())) else { continue };
            group.look_for_room(&self.memory);
            let order = Order { group, programs: self.programs.clone(), now, skip };
            *place = team.post(worker, order).err().map(|order| order.group);
        }
        let (mut ended, mut lost) = (self.sms.run(now, &self.programs, &mut self.memory, skip), false);
        if !last {
            self.memory.begin_tick();
        }
        let away = |(_, place): &(usize, &mut Option<_>)| place.is_none();
        let waited = self.sms.others.iter_mut().enumerate().filter(away).any(|(worker, _)| !team.has_answered(worker));
        for (worker, place) in self.sms.others.iter_mut().enumerate().filter(away) {
            let (mut group, late) = team.collect(worker);
            lost |= late;
            self.memory.inject_all(group.outbox());
            ended |= group.ended();
            *place = Some(group);
            self.sms.orders += 1;
        }
        self.sms.balance.try_on(lost);
        self.sms.rebalance(waited);
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whoever is late, each SM is in one group, every other group has some, and these differ by one at most.
        #[test]
        fn shares_are_even(sms in 2usize..257, groups in 2usize..20, late in prop::collection::vec(any::<bool>(), 0..40)) {
            let groups = groups.min(sms);
            let mut balance = Balance::even(sms, groups);
            for waited in late {
                // Late so often in a row that something is done about it.
                (0..MOST_PATIENCE).any(|_| balance.tip(waited, sms, groups));
                let sizes: Vec<usize> = balance.sizes(sms, groups).collect();
                prop_assert_eq!((sizes.len(), sizes.iter().sum::<usize>()), (groups, sms));
                let others = &sizes[1..];
                let (least, most) = (others.iter().min().copied().unwrap_or(1), others.iter().max().copied().unwrap_or(1));
                prop_assert!(least >= 1 && most - least <= 1, "{:?}", sizes);
            }
        }
    }

    /// Cycles that one thread runs, of so many, where every so many-th that several run is lost.
    fn alone(cycles: u32, every: u32) -> u32 {
        let (mut balance, mut together, mut alone) = (Balance::even(30, 2), 0, 0);
        for _ in 0..cycles {
            if balance.is_alone() {
                alone += 1;
            } else {
                together += 1;
                balance.try_on(together % every == 0);
            }
        }
        alone
    }

    #[test]
    fn threads_without_cores_are_left_alone() {
        // A loss now and then is made up for.
        assert_eq!(alone(1_000_000, LOST + 1), 0);
        // The credit is 4 losses: the fifth ends the first trial, and every later one. Pauses double.
        assert_eq!(alone(5 + ALONE, 1), ALONE);
        assert_eq!(alone(5 + ALONE + 5 + 2 * ALONE, 1), 3 * ALONE);
        let pauses = (0..7).map(|n| ALONE << n).sum::<u32>() + MOST_ALONE;
        assert_eq!(alone(8 * 5 + pauses, 1), pauses);
    }
}
