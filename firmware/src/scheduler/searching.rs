//! The search for shares: a step is a window in which they settle and one in which kernels are measured (Zhao et al. 2018, sections 4.1.2 and
//! 4.2; sources.md D148). Then the policy says what to try next, or that it is over. The first of the windows begins when the shares are in effect: a
//! decision may take longer than a window.
//!
//! A search may rest and go on: what it has found so far stays in between, as when it is over.
//!
//! A launch or a completion gives it up, as it does profiling. So does a kernel that has no TB left to issue: what it does is no measure any more, and
//! TBs that are stalled are its last (sources.md D150). In every case what was stalled goes on at once.

use super::{Command, Commands, Phase, Scheduler, SearchCommand, SearchPhase, push};
use crate::policy::{Context, Policy};
use crate::search::{Next, Search};
use mias_registers::fault;

impl<P: Policy, const C: usize> Scheduler<P, C> {
    /// Begins with the even split of the kernels in the table.
    #[inline(never)]
    pub(super) fn begin_search(&mut self, now: u64, commands: &mut Commands) {
        self.broadcast = None;
        self.started = now;
        self.search.begin(self.machine.sm_count, self.scheduled.len());
        if self.scheduled.iter().any(|kernel| kernel.drained) {
            self.end_search(commands);
        } else {
            self.next_step(now, commands);
        }
    }

    /// A step is over, or the search begins: what is next?
    pub(super) fn next_step(&mut self, now: u64, commands: &mut Commands) {
        let context = Context { machine: &self.machine, settings: &self.settings, kernels: &self.scheduled };
        match self.policy.search(&context, &mut self.search) {
            Next::Measure if self.is_able() => {
                self.phase = Phase::Search(SearchPhase::Apply { until: now });
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
                self.search.rest = Some(cycles);
            }
        }
    }

    /// What was found is in effect: it stays for as long as the search rests.
    #[inline(never)]
    pub(super) fn rest(&mut self, now: u64, commands: &mut Commands) {
        if let Some(cycles) = self.search.rest.take().filter(|_| self.search.running()) {
            let until = now.saturating_add(cycles.into());
            self.phase = Phase::Search(SearchPhase::Rest { until });
            push(commands, Command::SetTimer(until));
        }
    }

    /// Whether the hardware can do what the policy's search asks for.
    fn is_able(&self) -> bool {
        let parameters = &self.search.parameters;
        parameters.able && (parameters.limits_warps || !self.policy.limits_warps())
    }

    /// What is placed stays; nothing is stalled.
    fn end_search(&mut self, commands: &mut Commands) {
        self.search.give_up();
        self.phase = Phase::Broadcast;
        push(commands, Command::Search(SearchCommand::ApplyShares));
    }

    /// The timer of a step.
    #[inline(never)]
    pub(super) fn on_search_timer(&mut self, phase: SearchPhase, now: u64, commands: &mut Commands) {
        if now < phase.until() {
            push(commands, Command::SetTimer(phase.until()));
            return;
        }
        match phase {
            SearchPhase::Apply { .. } => {
                let until = now.saturating_add(self.search.settles().into());
                self.phase = Phase::Search(SearchPhase::WarmUp { until });
                push(commands, Command::Search(SearchCommand::BeginCounting));
                push(commands, Command::SetTimer(until));
            }
            SearchPhase::WarmUp { .. } => {
                let until = now.saturating_add(self.search.measures().into());
                self.phase = Phase::Search(SearchPhase::Measure { until });
                push(commands, Command::Search(SearchCommand::ReadKernels));
                push(commands, Command::SetTimer(until));
            }
            // Who has no TB left to issue is no measure any more.
            SearchPhase::Rest { .. } if self.scheduled.iter().any(|kernel| kernel.drained) => self.phase = Phase::Steady,
            SearchPhase::Rest { .. } => {
                self.started = now;
                self.search.go_on();
                self.next_step(now, commands);
            }
            SearchPhase::Measure { .. } => {
                self.search.warmed_up();
                self.phase = Phase::Decide;
                push(commands, Command::Search(SearchCommand::ReadKernels));
            }
        }
    }

    /// A kernel has no TB left to issue.
    #[inline(never)]
    pub(super) fn drained_in_search(&mut self, slot: u8, commands: &mut Commands) {
        if self.search.measuring() && self.table.slots().contains(&slot) {
            push(commands, Command::CancelTimer);
            self.end_search(commands);
        }
    }

    /// The search, to be told what it was asked for and what kernels did.
    pub fn search_mut(&mut self) -> &mut Search {
        &mut self.search
    }

    /// The search as it stands, or as it ended.
    #[must_use]
    pub fn search(&self) -> &Search {
        &self.search
    }
}
