//! The search for SM shares. A step consists of a window in which shares settle and one in which
//! kernels are measured (Zhao et al. 2018, sections 4.1.2 and 4.2; sources.md D148).
//!
//! The policy then selects the next trial, or ends the search. The first window starts once the
//! shares are in effect, because a decision may take longer than a window. A search may rest and
//! continue: its result so far stays in between, as after its end.
//!
//! A launch or a completion aborts it, as it aborts profiling. A kernel with no TB left to issue
//! also aborts it: its rate is no longer a valid measurement, and its stalled TBs are its last
//! (sources.md D150). In every case stalled SMs resume at once.

use super::{Command, Commands, Phase, Scheduler, SearchCommand, SearchPhase, push};
use crate::policy::{Context, Next, Placement, Policy, Search};
use mias_registers::fault;

impl<P: Policy, const C: usize> Scheduler<P, C> {
    /// Starts the search with the even split of the kernels in the table.
    #[inline(never)]
    pub(super) fn begin_search(&mut self, now: u64, commands: &mut Commands) {
        self.broadcast = None;
        self.started = now;
        if let Some(search) = self.policy.search_mut() {
            search.begin(self.gpu.sm_count, self.scheduled.len());
        }
        if self.scheduled.iter().any(|kernel| kernel.drained) {
            self.end_search(commands);
        } else {
            self.next_step(now, commands);
        }
    }

    /// Takes the next action, after a step or at the start of the search.
    pub(super) fn next_step(&mut self, now: u64, commands: &mut Commands) {
        let context = Context { gpu: &self.gpu, settings: &self.settings, kernels: &self.scheduled };
        let Some(search) = self.policy.search_mut() else { return };
        match search.next(&context) {
            Next::Measure if search.is_able() => {
                self.phase = Phase::Search { step: SearchPhase::Apply, until: now };
                push(commands, Command::Search(SearchCommand::ApplyShares));
                push(commands, Command::SetTimer(now));
            }
            Next::Measure => {
                push(commands, Command::Fault(fault::NO_SEARCH));
                self.end_search(commands);
            }
            Next::Done => self.end_search(commands),
            Next::Rest(cycles) => {
                self.end_search(commands);
                if let Some(search) = self.policy.search_mut() {
                    search.rest_for(cycles);
                }
            }
        }
    }

    /// Keeps the result in effect for as long as the search rests.
    #[inline(never)]
    pub(super) fn rest(&mut self, now: u64, commands: &mut Commands) {
        let Some(search) = self.policy.search_mut() else { return };
        let cycles = search.take_rest();
        if let Some(cycles) = cycles.filter(|_| search.is_running()) {
            let until = now.saturating_add(cycles.into());
            self.phase = Phase::Search { step: SearchPhase::Rest, until };
            push(commands, Command::SetTimer(until));
        }
    }

    /// Ends the search. The placement stays, and no SM is stalled.
    fn end_search(&mut self, commands: &mut Commands) {
        if let Some(search) = self.policy.search_mut() {
            search.give_up();
        }
        self.phase = Phase::Broadcast;
        push(commands, Command::Search(SearchCommand::ApplyShares));
    }

    /// Handles the expiry of a step's timer.
    #[inline(never)]
    pub(super) fn on_search_timer(&mut self, (step, until): (SearchPhase, u64), now: u64, commands: &mut Commands) {
        let Some(search) = self.policy.search_mut() else { return };
        if now < until {
            push(commands, Command::SetTimer(until));
            return;
        }
        match step {
            SearchPhase::Apply => {
                let until = now.saturating_add(search.settle_cycles().into());
                self.phase = Phase::Search { step: SearchPhase::WarmUp, until };
                push(commands, Command::Search(SearchCommand::BeginCounting));
                push(commands, Command::SetTimer(until));
            }
            SearchPhase::WarmUp => {
                let until = now.saturating_add(search.measure_cycles().into());
                self.phase = Phase::Search { step: SearchPhase::Measure, until };
                push(commands, Command::Search(SearchCommand::ReadKernels));
                push(commands, Command::SetTimer(until));
            }
            // A kernel with no TB left to issue is no longer a valid measurement.
            SearchPhase::Rest if self.scheduled.iter().any(|kernel| kernel.drained) => self.phase = Phase::Steady,
            SearchPhase::Rest => {
                self.started = now;
                search.go_on();
                self.next_step(now, commands);
            }
            SearchPhase::Measure => {
                search.warmed_up();
                self.phase = Phase::Decide;
                push(commands, Command::Search(SearchCommand::ReadKernels));
            }
        }
    }

    /// Handles a kernel that has no TB left to issue.
    #[inline(never)]
    pub(super) fn drained_in_search(&mut self, slot: u8, commands: &mut Commands) {
        if self.policy.search().is_some_and(Search::is_measuring) && self.table.slots().contains(&slot) {
            push(commands, Command::CancelTimer);
            self.end_search(commands);
        }
    }

    /// Returns the search and the current placement; none if the policy never searches.
    pub(crate) fn search_mut(&mut self) -> Option<(&mut impl Search, Placement<'_>)> {
        let Self { policy, gpu, settings, table, .. } = self;
        let placement = Placement { gpu, settings, slots: table.slots(), dealt: table.current() };
        policy.search_mut().map(|search| (search, placement))
    }

    /// Returns whether a search controls the SMs.
    pub(super) fn is_searched_for(&self) -> bool {
        self.policy.search().is_some_and(Search::is_running)
    }
}
