//! Quanta: many cycles at once while SMs and memory are independent and nothing else acts, with the
//! same result as one cycle after the other.
//!
//! Requests of SMs return after the L2's delay at the earliest. So the slices run a quantum of
//! cycles, then each SM runs all of it, and then the request subnet does
//! ([`MemorySystem::run_ahead`](crate::memory::MemorySystem::run_ahead)). With several threads, the
//! request subnet runs during the next quantum
//! ([`MemorySystem::defer_requests`](crate::memory::MemorySystem::defer_requests)). Each component
//! stays in the host's nearest cache while it runs.
//!
//! Launches, windows, timers and other events with a known cycle end the quantum before that cycle.
//! The end of a TB has no known cycle: an SM on which one ends stops there until all have run. Then
//! the ends are processed in order, TBs are issued to those SMs, and they continue. No other SM is
//! affected, since none had free capacity before. Quanta are shorter if a kernel could complete, or
//! have its last TB issued, as the scheduler must be notified of these events.

use super::Gpu;
use super::group::Group;
use super::parallel::ALWAYS;
use super::team::Team;
use crate::memory::MAX_QUANTUM_CYCLES;
use std::time::Instant;

/// Cycles of the shortest quantum (assumption: it repays the cost of starting one).
const LEAST_CYCLES: u64 = 2;
/// Cycles before the next attempt after a failed one (assumption).
const PAUSE_CYCLES: u64 = 4;
/// Minimum number of cycles in which groups of SMs have sent requests, for the request subnet to be
/// deferred (assumption).
const LEAST_SENT: u32 = if ALWAYS { 1 } else { 16 };

impl Gpu {
    /// Number of cycles that can run at once, ending before cycle `until`; 0 if the next one must
    /// run alone.
    pub(super) fn quantum(&mut self, until: u64) -> u64 {
        if self.now < self.next_quantum {
            return 0;
        }
        let cycles = if self.may_run_quantum() { self.longest_quantum(until) } else { 0 };
        if cycles >= LEAST_CYCLES {
            return cycles;
        }
        self.next_quantum = self.now + PAUSE_CYCLES;
        0
    }

    /// True if a mechanism of the GPU couples SMs in every cycle, so that there are no quanta.
    pub(super) fn ties_sms(&self) -> bool {
        let leaves = self.config.sm.preemption.is_some() || self.registers.preempts();
        !self.skip || leaves || self.oversubscription.is_some() || self.global_limits.is_some()
    }

    /// True if no active mechanism couples SMs in every cycle or acts at an unknown cycle.
    fn may_run_quantum(&self) -> bool {
        let acts = self.in_transition() || self.states.is_emptying() || self.registers.quota_bus_is_busy();
        !self.ties_sms() && !acts && self.sms.next() <= self.now && !self.registers.waits_for_partition()
    }

    fn longest_quantum(&mut self, until: u64) -> u64 {
        let outside = self.next_from_outside(until).min(self.watchdog.next_look);
        let mut cycles = outside.saturating_sub(self.now).min(MAX_QUANTUM_CYCLES).min(self.memory.longest_quantum());
        let mut unissued = u32::MAX;
        for slot in 0..self.slots.len() {
            let Some(state) = &self.slots[slot] else { continue };
            if !state.suspended.is_empty() {
                return 0;
            }
            if state.unissued() == 0 {
                cycles = cycles.min(self.least_cycles(slot, cycles));
            } else if !state.relaunch {
                unissued = unissued.min(state.unissued());
            }
        }
        self.without_last_issue(cycles, unissued)
    }

    /// Number of cycles in which the kernel in `slot` cannot complete. The search stops at
    /// `enough`.
    fn least_cycles(&self, slot: usize, enough: u64) -> u64 {
        let mut most = 0;
        for sm in self.sms.iter() {
            most = most.max(sm.least_cycles_of_all(slot as u8));
            if most >= enough {
                break;
            }
        }
        most
    }

    /// Number of the first `cycles` cycles in which not all `unissued` TBs can be issued. An SM
    /// receives at most one per cycle, and only when a TB has ended there.
    fn without_last_issue(&mut self, mut cycles: u64, unissued: u32) -> u64 {
        let horizon = self.now + cycles;
        for (sm, no_end_before) in self.sms.iter().zip(&mut self.no_end_before) {
            if *no_end_before < horizon {
                *no_end_before = self.now.saturating_add(sm.least_cycles());
            }
        }
        let issues = |cycles: u64| self.no_end_before.iter().map(|&end| (self.now + cycles).saturating_sub(end)).sum::<u64>();
        while cycles > 0 && issues(cycles) >= u64::from(unissued) {
            cycles -= (cycles / 8).max(1);
        }
        cycles
    }

    /// Runs the cycles that [`Gpu::quantum`] returned, with `team` if that is faster; cycle `limit`
    /// is not run.
    pub(super) fn run_quantum(&mut self, cycles: u64, limit: u64, team: Option<&mut Team<'_, '_>>) {
        let (from, until) = (self.now, self.now + cycles);
        // The time is needed only with several threads.
        let begun = team.is_some().then(Instant::now);
        let mut team = team.filter(|team| self.pays_in_quantum(team));
        if team.is_none() {
            self.memory.catch_up_now();
        }
        let busy = self.memory.plan(cycles);
        match &mut team {
            Some(team) => {
                self.run_memory_in_parallel(team, busy);
                self.cross_in_parallel(team);
            }
            None => {
                self.memory.run_ahead();
                self.replies_cross();
            }
        }
        for group in self.sms.groups_mut() {
            group.look_for_room(&self.memory);
        }
        match &mut team {
            Some(team) => self.run_groups_in_parallel(team, from..until),
            None => self.sms.groups_mut().for_each(|group| group.run_quantum(from, until, &self.programs)),
        }
        self.end_tbs(from, until);
        for group in self.sms.groups_mut() {
            for (place, arrivals) in group.arrivals.iter_mut().enumerate() {
                self.memory.give_back((group.start + place) as u16, arrivals.l2_of_taken(), arrivals.left());
                arrivals.clear();
            }
        }
        if self.validation.is_some() {
            self.check_sms();
        }
        self.now = until;
        if team.is_some() && self.may_defer_requests(limit) {
            self.memory.defer_requests(self.sms.groups_mut().map(|group| &mut group.outboxes));
        } else {
            let sms = &mut self.sms;
            self.memory.catch_up(|requests, cycle| {
                for outbox in sms.groups_mut().filter_map(|group| group.outboxes.sent_in(cycle)) {
                    requests.inject_all(outbox);
                }
            });
        }
        if let Some(begun) = begun {
            self.sms.tuner.ran(cycles, begun.elapsed());
        }
        self.quantum_cycles += cycles;
    }

    /// True if the request subnet may catch up during the next quantum: there will be one, with
    /// enough work.
    fn may_defer_requests(&self, limit: u64) -> bool {
        let outside = self.next_from_outside(limit).min(self.watchdog.next_look);
        let sent: u32 = self.sms.groups().map(|group| group.outboxes.cycles_sent()).sum();
        sent >= LEAST_SENT && outside >= self.now + LEAST_CYCLES && self.sms.next() <= self.now && self.memory.may_defer_requests()
    }

    /// Moves the slices' replies to the SMs.
    pub(super) fn replies_cross(&mut self) {
        let sms = &mut self.sms;
        self.memory.replies_cross(|sm, cycle, reply| {
            let (group, place) = sms.find_mut(sm.into());
            group.arrivals[place].push(cycle, reply);
        });
    }

    /// Processes the ends of TBs in the quantum from cycle `from` to before `until`, in order. SMs
    /// on which one has ended are stopped there, and continue.
    fn end_tbs(&mut self, from: u64, until: u64) {
        // First cycle whose TB issue is not complete.
        let mut unissued = from;
        loop {
            let first = self.sms.groups().filter_map(Group::stands).min();
            // An SM that received a TB may receive another one in the next cycle.
            let Some(reached) = first.or((self.dispatcher.pending() && unissued < until).then_some(until)) else { return };
            self.now = reached - 1;
            self.registers.stamp(self.now);
            for sm in 0..self.sms.len() {
                if self.sms.reached(sm) == reached && self.sms[sm].has_ended_tbs() {
                    self.retire_tbs_of(sm, reached);
                }
            }
            let issued = self.issue_round();
            assert!(!self.registers.calls_firmware(), "a TB's end in a quantum of cycles is the firmware's business");
            unissued = reached;
            for sm in 0..self.sms.len() {
                if self.sms.reached(sm) != reached {
                    continue;
                }
                if issued {
                    self.flush_idle_l1(sm);
                }
                let to = if self.dispatcher.looks_at(sm) { (reached + 1).min(until) } else { until };
                let (group, place) = self.sms.find_mut(sm);
                group.run_sm(place, from..until, to, &self.programs);
            }
        }
    }
}
