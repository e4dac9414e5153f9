//! Parallel simulation: quanta of cycles on several threads, and cycles by themselves, with the same result as on one.
//!
//! In a quantum ([`super::quantum`]) threads share first the partitions of the memory system, then
//! its two subnets, then the groups of SMs. Where a machine ties its SMs together in every cycle,
//! they share the groups of each, while the slices and channels of the memory system run their part
//! of the next cycle here. Only the crossbar joins them: it moves when all are done. TB issue and
//! the register block follow as ever, here.
//!
//! Who runs what is found while it runs ([`super::work_queues`]): each thread begins with the
//! groups that it ran last, since an SM's state is in the cache of that core, and goes on with
//! those that others have not begun.

use super::Gpu;
use super::group::Group;
use super::handover::Patience;
use super::team::{Cycles, Order, Team};
use std::ops::Range;
use std::sync::OnceLock;

/// Tests were built to be run on several threads each (CONTRIBUTING.md): every cycle is run by the team, whether that is faster or not.
pub(super) const ALWAYS: bool = cfg!(feature = "threads-of-environment");
/// With fewer SMs awake in all, all are run here: handing them over would take longer (assumption).
const LEAST_AWAKE: usize = if ALWAYS { 2 } else { 6 };
/// With fewer partitions of the memory system that have something to do in a quantum, all are run here (assumption).
const LEAST_BUSY: usize = if ALWAYS { 1 } else { 4 };
/// Groups of SMs per thread, at least: fewer would leave threads waiting for the last group, and each takes some 100 ns to hand over (assumption).
pub(super) const GROUPS_PER_THREAD: usize = 6;
/// Lots of partitions of the memory system per thread, at least, if there are enough (assumption).
const LOTS_PER_THREAD: usize = 3;

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
    fn enough_awake(&self) -> bool {
        self.sms.groups().map(Group::awake).sum::<usize>() >= LEAST_AWAKE
    }

    /// Whether there is so much to do in this cycle that `team` should help.
    pub(super) fn pays_in_parallel(&mut self, team: &Team<'_, '_>) -> bool {
        if self.skip && !self.enough_awake() {
            return false;
        }
        // Beside quanta, cycles by themselves are too few to be judged.
        let ties = self.ties_sms();
        let tuner = &mut self.sms.tuner;
        ALWAYS || !team.has_cores() || !if ties { tuner.is_alone() } else { tuner.runs_alone() }
    }

    /// Runs this cycle of the SMs with `team`. Returns whether TBs have ended. Unless `last`, what can be done of the next cycle of the
    /// memory system is done, too.
    pub(super) fn run_sms_in_parallel(&mut self, team: &mut Team<'_, '_>, last: bool) -> bool {
        let (now, skip) = (self.now, self.skip);
        for place in &mut self.sms.groups {
            let Some(mut group) = place.take_if(|group| !skip || group.has_work(now)) else {
                place.iter_mut().for_each(|group| group.rest());
                continue;
            };
            group.look_for_room(&self.memory);
            team.lay(group.home, Order::Group { group, programs: self.programs.clone(), cycles: Cycles::One { now, skip } });
        }
        team.begin();
        if !last && now + 1 < self.next_quantum {
            self.memory.begin_tick();
        }
        if !self.take_groups(team) {
            self.sms.tuner.delayed();
        }
        let mut ended = false;
        for group in self.sms.groups_mut() {
            self.memory.inject_all(group.outbox());
            ended |= group.ended();
        }
        ended
    }

    /// Groups that have run are taken back. Returns whether the last one was there soon.
    fn take_groups(&mut self, team: &mut Team<'_, '_>) -> bool {
        let (orders, soon) = team.finish();
        for (thread, order) in orders {
            let Some(mut group) = order.into_group() else { continue };
            group.home = thread;
            self.sms.orders += u64::from(thread > 0);
            self.sms.put_back(group);
        }
        soon
    }

    /// Whether there is so much to do in a quantum of cycles that `team` should help.
    pub(super) fn pays_in_quantum(&self, team: &Team<'_, '_>) -> bool {
        self.enough_awake() && (ALWAYS || !(team.has_cores() && self.sms.tuner.runs_alone()))
    }

    /// The partitions of the memory system run the quantum that has been planned, shared with `team` if so many of them are `busy`.
    pub(super) fn run_memory_in_parallel(&mut self, team: &mut Team<'_, '_>, busy: usize) {
        if busy < LEAST_BUSY {
            return self.memory.run_ahead();
        }
        let (all, threads) = (self.memory.partitions(), team.threads());
        let lot = (all / (threads * LOTS_PER_THREAD)).max(1);
        while self.memory.partitions() > 0 {
            let mut lent = self.lent.pop().unwrap_or_default();
            self.memory.lend(lot, &mut lent);
            team.lay(lent.first() * threads / all, Order::Memory(lent));
        }
        team.begin();
        self.lent.extend(team.finish().0.filter_map(|(_, order)| order.into_lent()));
        self.lent.sort_unstable_by_key(|lent| lent.first());
        for lent in self.lent.iter_mut().filter(|lent| !lent.is_empty()) {
            self.memory.take_back(lent);
        }
    }

    /// What slices have answered comes to the SMs, while the request subnet catches up beside it, if it was deferred.
    pub(super) fn cross_in_parallel(&mut self, team: &mut Team<'_, '_>) {
        let Some(deferred) = self.memory.lend_deferred() else { return self.replies_cross() };
        team.lay(1, Order::Requests(deferred));
        team.call(1);
        self.replies_cross();
        let deferred = team.finish().0.find_map(|(_, order)| order.into_deferred());
        self.memory.has_caught_up(deferred.expect("the order that was laid down"));
    }

    /// SMs run the quantum of these cycles, shared with `team`.
    pub(super) fn run_groups_in_parallel(&mut self, team: &mut Team<'_, '_>, cycles: Range<u64>) {
        for place in &mut self.sms.groups {
            let Some(group) = place.take() else { continue };
            let cycles = Cycles::Quantum(cycles.clone());
            team.lay(group.home, Order::Group { group, programs: self.programs.clone(), cycles });
        }
        team.begin();
        self.take_groups(team);
    }
}
