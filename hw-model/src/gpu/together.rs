//! Stretches of cycles on several threads, and cycles by themselves, with the same result as on one.
//!
//! In a stretch ([`super::stretch`]) partitions of the memory system are shared evenly, then each thread runs its group of SMs. Where a machine
//! ties its SMs together in every cycle, SMs of other groups are run by the team, those of the first group here, and beside them the slices and channels of the memory system
//! run their part of the next cycle. Only the crossbar joins them: it moves when all are done. TB issue and the register block follow as
//! ever, here.
//!
//! Who runs which SMs changes seldom, since an SM's state is in the cache of the core that ran it last. How many the first group has is
//! found while it runs: fewer when the others mostly wait for it, more when it mostly waits for them, in steps that become longer as long as
//! they go on in one direction, and shorter and rarer where they turn ([`Balance`]).

use super::Gpu;
use super::group::Group;
use super::handover::Patience;
use super::pace::Pace;
use super::sms::Sms;
use super::team::{Cycles, Order, Team};
use std::ops::Range;
use std::sync::OnceLock;

/// Tests were built to be run on several threads each (CONTRIBUTING.md): every cycle is run by the team, whether that is faster or not.
pub(super) const ALWAYS: bool = cfg!(feature = "threads-of-environment");
/// With fewer SMs awake, a group is run here, unless it has no more: handing it over would take longer than running it (assumption: a
/// handover takes about as long as three SMs).
const LEAST_AWAKE: usize = if ALWAYS { 1 } else { 3 };
/// With fewer partitions of the memory system that have something to do in a stretch, all are run here (assumption).
const LEAST_BUSY: usize = if ALWAYS { 1 } else { 4 };
/// With fewer SMs awake in all, every group is.
const LEAST_AWAKE_IN_ALL: usize = 2 * LEAST_AWAKE;

/// Cycles by which one side has to be late more often than the other before the first group changes, at least (assumption).
const FIRST_PATIENCE: i32 = 64;
/// At most: one SM to and fro costs nothing then.
const MOST_PATIENCE: i32 = 1 << 14;
/// The longest step is this part of all SMs (assumption).
const LONGEST_STEP_OF: usize = 4;
/// After so many steps in one direction they become longer (assumption: after a turn, two may be needed to come where half of the way is).
const STEADY: u32 = 3;

/// How many SMs the first group has, and who was late.
///
/// With caches that miss, what the first thread does beside its SMs takes as long as all SMs together: from an even start the first group has to
/// lose nearly all of them, and a launch may be over after some ten thousand cycles. Where it has found its size it turns with every change.
#[derive(Clone, Debug)]
pub(super) struct Balance {
    /// SMs of the first group.
    first: usize,
    /// Cycles in which it waited for the others, less those in which they waited for it.
    waited: i32,
    /// Such a difference that it is given more or fewer SMs.
    patience: i32,
    /// How many more or fewer.
    step: usize,
    /// Whether it was given more the last time, and how many times in a row it went that way.
    grew: bool,
    in_a_row: u32,
}

impl Balance {
    /// `sms` SMs, evenly among `groups`.
    pub(super) fn even(sms: usize, groups: usize) -> Self {
        Balance { first: sms / groups, waited: 0, patience: FIRST_PATIENCE, step: Self::longest_step(sms), grew: false, in_a_row: 0 }
    }

    /// The same where the first thread has nothing to do beside its SMs that others do not share: there is little to find.
    fn found(sms: usize, groups: usize) -> Self {
        Balance { step: 1, ..Self::even(sms, groups) }
    }

    fn longest_step(sms: usize) -> usize {
        (sms / LONGEST_STEP_OF).max(1)
    }

    /// After a cycle in which the first group `waited`, or was waited for: whether it gets more or fewer of the SMs.
    fn tip(&mut self, waited: bool, sms: usize, groups: usize) -> bool {
        self.waited += if waited { 1 } else { -1 };
        if self.waited.abs() < self.patience {
            return false;
        }
        self.waited = 0;
        if self.in_a_row == 0 || self.grew == waited {
            self.in_a_row += 1;
            if self.in_a_row >= STEADY {
                self.step = (2 * self.step).min(Self::longest_step(sms));
                self.patience = (self.patience / 2).max(FIRST_PATIENCE);
            }
        } else {
            self.in_a_row = 1;
            if self.step == 1 {
                self.patience = (2 * self.patience).min(MOST_PATIENCE);
            }
            self.step = (self.step / 2).max(1);
        }
        self.grew = waited;
        // Every other group has an SM.
        let first = if waited { (self.first + self.step).min(sms + 1 - groups) } else { self.first.saturating_sub(self.step) };
        std::mem::replace(&mut self.first, first) != first
    }

    /// SMs of each group: the others share evenly what the first one leaves.
    fn sizes(&self, sms: usize, groups: usize) -> impl Iterator<Item = usize> {
        let (first, others, rest) = (self.first, groups - 1, sms - self.first);
        std::iter::once(first).chain((0..others).map(move |group| rest * (group + 1) / others - rest * group / others))
    }
}

impl Sms {
    /// Makes so many groups, at least 1, unless there are so many. They `stretch` if they run many cycles at a time.
    pub(super) fn share(&mut self, groups: usize, stretch: bool) {
        if self.others.len() + 1 != groups {
            let count = self.len();
            let balance = if stretch { Balance::found(count, groups) } else { Balance::even(count, groups) };
            self.regroup(balance.sizes(count, groups));
            (self.balance, self.pace) = (balance, Pace::new());
        }
    }

    /// Shares anew if one side is late too often.
    pub(super) fn rebalance(&mut self, waited: bool) {
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
            let order = Order::Group { group, programs: self.programs.clone(), cycles: Cycles::One { now, skip } };
            *place = team.post(worker, order).err().and_then(Order::into_group);
        }
        let mut ended = self.sms.run(now, &self.programs, &mut self.memory, skip);
        if !last && now + 1 < self.next_stretch {
            self.memory.begin_tick();
        }
        let away = |(_, place): &(usize, &mut Option<_>)| place.is_none();
        let waited = self.sms.others.iter_mut().enumerate().filter(away).any(|(worker, _)| !team.has_answered(worker));
        for (worker, place) in self.sms.others.iter_mut().enumerate().filter(away) {
            let (order, soon) = team.collect(worker);
            if !soon {
                self.sms.pace.delayed();
            }
            let Some(mut group) = order.into_group() else { continue };
            self.memory.inject_all(group.outbox());
            ended |= group.ended();
            *place = Some(group);
            self.sms.orders += 1;
        }
        self.sms.rebalance(waited);
        ended
    }

    /// Whether there is so much to do in a stretch of cycles that `team` should help.
    pub(super) fn pays_in_stretch(&self, team: &Team<'_, '_>) -> bool {
        let enough = self.sms.groups().map(Group::awake).sum::<usize>() >= LEAST_AWAKE_IN_ALL;
        enough && (ALWAYS || !(team.has_cores() && self.sms.pace.runs_alone()))
    }

    /// The partitions of the memory system run the stretch that has been planned, evenly shared with `team`, as `busy` of them have something to do.
    pub(super) fn run_memory_together(&mut self, team: &mut Team<'_, '_>, busy: usize) {
        let (all, threads) = (self.memory.partitions(), self.sms.others.len() + 1);
        let mut away = 0;
        if busy >= LEAST_BUSY {
            // With more threads than partitions the last have none.
            let shares = (0..threads - 1).map(|worker| all / threads + usize::from(worker < all % threads));
            for (worker, share) in shares.take_while(|&share| share > 0).enumerate() {
                let mut lent = self.lent.pop().unwrap_or_default();
                self.memory.lend(share, &mut lent);
                if let Err(order) = team.post(worker, Order::Memory(lent)) {
                    self.lent.extend(order.into_lent().map(|mut lent| {
                        self.memory.take_back(&mut lent);
                        lent
                    }));
                    break;
                }
                away += 1;
            }
        }
        self.memory.run_ahead();
        for worker in (0..away).rev() {
            let (order, _) = team.collect(worker);
            if let Some(mut lent) = order.into_lent() {
                self.memory.take_back(&mut lent);
                self.lent.push(lent);
            }
        }
    }

    /// SMs run the stretch of these cycles, those of other groups with `team`. Returns whether these were waited for.
    pub(super) fn run_groups_together(&mut self, team: &mut Team<'_, '_>, cycles: Range<u64>) -> bool {
        for (worker, place) in self.sms.others.iter_mut().enumerate() {
            let Some(group) = place.take_if(|group| group.awake() > 0) else { continue };
            let order = Order::Group { group, programs: self.programs.clone(), cycles: Cycles::Stretch(cycles.clone()) };
            *place = team.post(worker, order).err().and_then(Order::into_group);
        }
        for group in self.sms.groups_mut() {
            group.run_stretch(cycles.start, cycles.end, &self.programs);
        }
        let away = |(_, place): &(usize, &mut Option<_>)| place.is_none();
        let waited = self.sms.others.iter_mut().enumerate().filter(away).any(|(worker, _)| !team.has_answered(worker));
        for (worker, place) in self.sms.others.iter_mut().enumerate().filter(away) {
            let (order, _) = team.collect(worker);
            *place = order.into_group();
            self.sms.orders += 1;
        }
        waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the first thread has to do beside its SMs, after a thousand or two of cycles no other size would be better by more than an SM.
        #[test]
        fn the_size_is_found_soon(sms in 2usize..257, groups in 2usize..9, beside in 0usize..300) {
            let groups = groups.min(sms);
            let mut balance = Balance::even(sms, groups);
            // In SMs, how long the first group takes, and the longest of the others.
            let times = |first: usize| (beside + first, (sms - first).div_ceil(groups - 1));
            let mut cycles = 0;
            let mut changes = 0;
            while changes < 200 && cycles < 2_000 {
                let (first, others) = times(balance.first);
                changes += u32::from(balance.tip(first < others, sms, groups));
                cycles += 1;
            }
            let longest = |first: usize| times(first).0.max(times(first).1);
            let best = (0..=sms + 1 - groups).map(longest).min().unwrap_or(0);
            prop_assert!(longest(balance.first) <= best + 1, "{} of {} SMs, best {}", balance.first, sms, best);
        }

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
