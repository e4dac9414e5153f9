//! Parallel simulation: quanta of cycles, or single cycles, on several threads, with the same
//! result as on one.
//!
//! In a quantum ([`super::quantum`]), threads first share the partitions of the memory system, then
//! its two subnets, then the groups of SMs. On a GPU that couples its SMs in every cycle, they
//! share the groups in each cycle. Meanwhile this thread runs the next cycle of the slices and
//! channels. Only the crossbar couples both; it runs when all are done. TB issue and the register
//! block follow on this thread.
//!
//! Work is distributed at run time ([`super::work_queues`]). Each thread starts with the groups
//! that it ran last, since their state is in its core's cache. Then it takes groups that other
//! threads have not begun.

use super::Gpu;
use super::group::Group;
use super::handover::Patience;
use super::team::{Cycles, Order, Team};
use std::ops::Range;
use std::sync::OnceLock;

/// True if tests must run on several threads (CONTRIBUTING.md): every cycle uses the team, even if
/// that is slower.
pub(super) const ALWAYS: bool = cfg!(feature = "threads-of-environment");
/// Minimum number of awake SMs for parallel cycles; with fewer, the handover would take longer
/// (assumption).
const LEAST_AWAKE: usize = if ALWAYS { 2 } else { 6 };
/// Minimum number of busy memory partitions for a parallel quantum (assumption).
const LEAST_BUSY: usize = if ALWAYS { 1 } else { 4 };
/// Minimum number of SM groups per thread. With fewer, threads would wait for the last group; each
/// takes about 100 ns to hand over (assumption).
pub(super) const GROUPS_PER_THREAD: usize = 6;
/// Minimum number of lots of memory partitions per thread, if there are enough (assumption).
const LOTS_PER_THREAD: usize = 3;

/// Minimum number of threads of a run: one, or MIAS_THREADS if [several are required](ALWAYS).
///
/// # Panics
/// If MIAS_THREADS is set and is not a number.
pub(super) fn least_threads() -> usize {
    static LEAST: OnceLock<usize> = OnceLock::new();
    let said = || std::env::var("MIAS_THREADS").map_or(1, |text| text.parse().expect("MIAS_THREADS is a number"));
    if ALWAYS { *LEAST.get_or_init(said) } else { 1 }
}

/// Polling budget of threads: depends on whether each of `threads` has a core.
pub(super) fn patience(threads: usize) -> Patience {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
    if threads <= cores { Patience::LONG } else { Patience::SHORT }
}

impl Gpu {
    fn enough_awake(&self) -> bool {
        self.sms.groups().map(Group::awake).sum::<usize>() >= LEAST_AWAKE
    }

    /// True if this cycle has enough work for `team`.
    pub(super) fn pays_in_parallel(&mut self, team: &Team<'_, '_>) -> bool {
        if self.skip && !self.enough_awake() {
            return false;
        }
        // Next to quanta, single cycles are too few to time.
        let ties = self.ties_sms();
        let tuner = &mut self.sms.tuner;
        ALWAYS || !team.has_cores() || !if ties { tuner.is_alone() } else { tuner.runs_alone() }
    }

    /// Runs this cycle of the SMs with `team`. Returns true if TBs have ended. Unless `last`, it
    /// also runs the independent part of the memory system's next cycle.
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

    /// Takes back the groups that have run. Returns true if the last one arrived soon.
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

    /// True if a quantum of cycles has enough work for `team`.
    pub(super) fn pays_in_quantum(&self, team: &Team<'_, '_>) -> bool {
        self.enough_awake() && (ALWAYS || !(team.has_cores() && self.sms.tuner.runs_alone()))
    }

    /// Runs the planned quantum of the memory partitions, shared with `team` if enough of them are
    /// `busy`.
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

    /// Moves the slices' replies to the SMs, while the request subnet catches up in parallel if it
    /// was deferred.
    pub(super) fn cross_in_parallel(&mut self, team: &mut Team<'_, '_>) {
        let Some(deferred) = self.memory.lend_deferred() else { return self.replies_cross() };
        team.lay(1, Order::Requests(deferred));
        team.call(1);
        self.replies_cross();
        let deferred = team.finish().0.find_map(|(_, order)| order.into_deferred());
        self.memory.has_caught_up(deferred.expect("the order that was laid down"));
    }

    /// Runs these cycles of the SMs, shared with `team`.
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
