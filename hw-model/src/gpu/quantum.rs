//! Many cycles at once, where SMs and memory do not need each other and nobody else acts: the same result as one after the other.
//!
//! What SMs send comes back after the L2's delay at the earliest. So the slices run for a quantum of cycles, then each SM runs all of it, and
//! then the request subnet does ([`MemorySystem::run_ahead`](crate::memory::MemorySystem::run_ahead)), with several threads during the next
//! quantum ([`MemorySystem::defer_requests`](crate::memory::MemorySystem::defer_requests)). Whoever runs stays in the host's nearest cache.
//!
//! Launches, windows, timers and whatever else has a time of its own end the quantum before it begins. What has none is the end of a TB: an SM
//! on which one ends stops there, until all have run; then ends are gone through in their order, TBs are issued to those SMs, and they go on.
//! No other SM is touched by that: none had room before, and a kernel that could complete, or have its last TB issued, makes quanta
//! shorter, as a scheduler would have to be told.

use super::Gpu;
use super::group::Group;
use super::parallel::ALWAYS;
use super::team::Team;
use crate::memory::MAX_QUANTUM_CYCLES;
use std::time::Instant;

/// Cycles of the shortest quantum (assumption: what it takes to begin one is worth it then).
const LEAST_CYCLES: u64 = 2;
/// Where there was none, one is looked for again after so many cycles (assumption).
const PAUSE_CYCLES: u64 = 4;
/// The request subnet catches up at once if groups of SMs have sent requests in fewer cycles (assumption).
const LEAST_SENT: u32 = if ALWAYS { 1 } else { 16 };

impl Gpu {
    /// Cycles that can be run at once, to before cycle `until` at most; 0 if the next one is to be run as it comes.
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

    /// Whether some mechanism of the machine ties SMs together in every cycle, so that there are no quanta.
    pub(super) fn ties_sms(&self) -> bool {
        let leaves = self.config.sm.preemption.is_some() || self.registers.preempts();
        !self.skip || leaves || self.oversubscription.is_some() || self.global_limits.is_some()
    }

    /// Whether nothing is at work that ties SMs together in every cycle, or acts on what has no time of its own.
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

    /// Cycles for which the kernel in `slot` cannot complete; when there are `enough` it need not be told of more.
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

    /// Of `cycles` cycles those in which not all of so many `unissued` TBs can be issued: an SM is given one per cycle at most, and only
    /// when a TB has ended there.
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

    /// Runs so many cycles, as [`Gpu::quantum`] said, with `team` if that pays; cycle `limit` is not run any more.
    pub(super) fn run_quantum(&mut self, cycles: u64, limit: u64, team: Option<&mut Team<'_, '_>>) {
        let (from, until) = (self.now, self.now + cycles);
        // Nobody asks how long it took where there is one thread.
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

    /// Whether the request subnet may catch up during the next quantum: there will be one, and enough to do in it.
    fn may_defer_requests(&self, limit: u64) -> bool {
        let outside = self.next_from_outside(limit).min(self.watchdog.next_look);
        let sent: u32 = self.sms.groups().map(|group| group.outboxes.cycles_sent()).sum();
        sent >= LEAST_SENT && outside >= self.now + LEAST_CYCLES && self.sms.next() <= self.now && self.memory.may_defer_requests()
    }

    /// What slices have answered comes to the SMs.
    pub(super) fn replies_cross(&mut self) {
        let sms = &mut self.sms;
        self.memory.replies_cross(|sm, cycle, reply| {
            let (group, place) = sms.find_mut(sm.into());
            group.arrivals[place].push(cycle, reply);
        });
    }

    /// Goes through the ends of TBs in the quantum from cycle `from` to before `until`, in their order. SMs on which one has ended stand still
    /// there, and go on.
    fn end_tbs(&mut self, from: u64, until: u64) {
        // First cycle of which TB issue is not over.
        let mut unissued = from;
        loop {
            let first = self.sms.groups().filter_map(Group::stands).min();
            // An SM that was given a TB may be given another in the cycle after.
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
