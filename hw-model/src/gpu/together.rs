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
use super::pace::Pace;
use super::sms::Sms;
use super::team::{Order, Team};
use std::sync::OnceLock;

/// Tests were built to be run on several threads each (CONTRIBUTING.md): every cycle is run by the team, whether that is faster or not.
const ALWAYS: bool = cfg!(feature = "threads-of-environment");
/// With fewer SMs awake, a group is run here, unless it has no more: handing it over would take longer than running it (assumption: a
/// handover takes about as long as three SMs).
const LEAST_AWAKE: usize = if ALWAYS { 1 } else { 3 };
/// With fewer SMs awake in all, every group is.
const LEAST_AWAKE_IN_ALL: usize = 2 * LEAST_AWAKE;

/// Cycles by which one side has to be late more often than the other before the first group changes (assumption).
const FIRST_PATIENCE: i32 = 64;
/// At most: one SM to and fro costs nothing then.
const MOST_PATIENCE: i32 = 1 << 14;

/// How many SMs the first group has, and who was late.
#[derive(Clone, Debug)]
pub(super) struct Balance {
    /// SMs of the first group.
    first: usize,
    /// Cycles in which it waited for the others, less those in which they waited for it.
    waited: i32,
    /// Such a difference that it is given more or fewer SMs. Doubles with every change.
    patience: i32,
}

impl Balance {
    /// `sms` SMs, evenly among `groups`.
    pub(super) fn even(sms: usize, groups: usize) -> Self {
        Balance { first: sms / groups, waited: 0, patience: FIRST_PATIENCE }
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
            (self.balance, self.pace) = (balance, Pace::new());
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

/// Threads that every run has at least: one, or what MIAS_THREADS says if they are [always](ALWAYS) to be several.
///
/// # Panics
/// If MIAS_THREADS is there and no number.
pub(super) fn least_threads() -> usize {
    static LEAST: OnceLock<usize> = OnceLock::new();
    let said = || std::env::var("MIAS_THREADS").map_or(1, |text| text.parse().expect("MIAS_THREADS is a number"));
    if ALWAYS { *LEAST.get_or_init(said) } else { 1 }
}

/// How long threads wait for each other: whether each of `threads` has a core.
pub(super) fn patience(threads: usize) -> Patience {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
    if threads <= cores { Patience::LONG } else { Patience::SHORT }
}

impl Gpu {
    /// Whether there is so much to do in this cycle that `team` should help.
    pub(super) fn pays_together(&mut self, team: &Team<'_, '_>) -> bool {
        let enough = !self.skip || self.sms.groups().map(Group::awake).sum::<usize>() >= LEAST_AWAKE_IN_ALL;
        enough && (ALWAYS || !(team.has_cores() && self.sms.pace.is_alone()))
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
        let mut ended = self.sms.run(now, &self.programs, &mut self.memory, skip);
        if !last {
            self.memory.begin_tick();
        }
        let away = |(_, place): &(usize, &mut Option<_>)| place.is_none();
        let waited = self.sms.others.iter_mut().enumerate().filter(away).any(|(worker, _)| !team.has_answered(worker));
        for (worker, place) in self.sms.others.iter_mut().enumerate().filter(away) {
            let (mut group, soon) = team.collect(worker);
            if !soon {
                self.sms.pace.delayed();
            }
            self.memory.inject_all(group.outbox());
            ended |= group.ended();
            *place = Some(group);
            self.sms.orders += 1;
        }
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
}
