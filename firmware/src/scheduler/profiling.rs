//! The profiling cycle: SMs reach their partitions, and finish their windows or are left out. Their
//! counters determine the decision, which is broadcast.

use super::{Command, Commands, Phase, Scheduler, push};
use crate::policy::{Context, Plan, Policy, Verdict};
use crate::sm_set::SmWord;
use mias_registers::fault;

/// Time-out of profiling after the first SM, in windows (sources.md D28).
const TIME_OUT_WINDOWS: u64 = 2;

impl<P: Policy, const C: usize> Scheduler<P, C> {
    pub(super) fn on_partition_reached(&mut self, now: u64, commands: &mut Commands) {
        match self.phase {
            Phase::Transition => {
                let windows = u64::from(self.settings.profile_window).saturating_mul(TIME_OUT_WINDOWS);
                let until = now.saturating_add(windows);
                self.phase = Phase::Profile { until };
                push(commands, Command::SetTimer(until));
            }
            // Late events of an aborted attempt, or one more SM.
            Phase::Idle
            | Phase::Partition { .. }
            | Phase::Profile { .. }
            | Phase::Decide
            | Phase::Broadcast
            | Phase::Steady
            | Phase::Search { .. } => {}
        }
    }

    pub(super) fn on_profile_done(&mut self, sms: SmWord, commands: &mut Commands) {
        match self.phase {
            Phase::Transition | Phase::Profile { .. } => {
                let known = sms.among(self.gpu.sm_count);
                self.done.insert(known);
                if known != sms {
                    push(commands, Command::Fault(fault::IMPOSSIBLE_INDEX));
                }
                if self.done.len() == self.gpu.sm_count {
                    push(commands, Command::CancelTimer);
                    self.phase = Phase::Decide;
                    push(commands, Command::ReadCounters);
                }
            }
            Phase::Idle | Phase::Partition { .. } | Phase::Decide | Phase::Broadcast | Phase::Steady | Phase::Search { .. } => {}
        }
    }

    pub(super) fn on_timer(&mut self, now: u64, commands: &mut Commands) {
        match self.phase {
            Phase::Partition { at } if now >= at => self.reschedule(now, commands),
            Phase::Profile { until } if now >= until => {
                self.stop_profiling(commands);
                self.phase = Phase::Decide;
                push(commands, Command::ReadCounters);
            }
            // An expiry that is older than the phase. The wanted one is still to come.
            Phase::Partition { at: deadline } | Phase::Profile { until: deadline } => push(commands, Command::SetTimer(deadline)),
            Phase::Search { step, until } => self.on_search_timer((step, until), now, commands),
            Phase::Idle | Phase::Transition | Phase::Decide | Phase::Broadcast | Phase::Steady => {}
        }
    }

    #[inline(never)]
    pub(super) fn on_counters_read(&mut self, now: u64, commands: &mut Commands) {
        match self.phase {
            Phase::Decide if self.is_searched_for() => self.next_step(now, commands),
            Phase::Decide => {
                let context = Context { gpu: &self.gpu, settings: &self.settings, kernels: &self.scheduled };
                match self.policy.on_done_profiling(&context, &mut self.table) {
                    Verdict::Broadcast(vector) => {
                        self.broadcast = Some(vector);
                        self.phase = Phase::Broadcast;
                        push(commands, Command::ApplyQuotas);
                    }
                    Verdict::NextRound => self.place(Plan::Profile, now, commands),
                    Verdict::Settled => self.place(Plan::Place, now, commands),
                    Verdict::NoSamples => self.fall_back(fault::NO_SAMPLES, commands),
                }
            }
            Phase::Idle
            | Phase::Partition { .. }
            | Phase::Transition
            | Phase::Profile { .. }
            | Phase::Broadcast
            | Phase::Steady
            | Phase::Search { .. } => {}
        }
    }

    pub(super) fn on_broadcast_done(&mut self, now: u64, commands: &mut Commands) {
        match self.phase {
            Phase::Broadcast => {
                self.phase = Phase::Steady;
                self.rest(now, commands);
            }
            Phase::Idle
            | Phase::Partition { .. }
            | Phase::Transition
            | Phase::Profile { .. }
            | Phase::Decide
            | Phase::Steady
            | Phase::Search { .. } => {}
        }
    }

    #[inline(never)]
    pub(super) fn stop_profiling(&mut self, commands: &mut Commands) {
        match self.phase {
            Phase::Search { step, .. } if step.rests() => {}
            Phase::Search { .. } | Phase::Decide if self.is_searched_for() => {
                push(commands, Command::Search(super::SearchCommand::ResumeAll));
            }
            Phase::Transition | Phase::Profile { .. } | Phase::Decide => push(commands, Command::DisarmAll),
            Phase::Idle | Phase::Partition { .. } | Phase::Broadcast | Phase::Steady | Phase::Search { .. } => {}
        }
    }
}
