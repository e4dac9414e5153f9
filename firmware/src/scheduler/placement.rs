//! Generation of configurations from kernels, and their assignment to SMs: the thesis' first two
//! operations, and the use of their results.

use heapless::Vec;

use super::{Command, Commands, Phase, Scheduler, push};
use crate::configs::MAX_KERNELS;
use crate::kernel::Kernel;
use crate::policy::{Context, Plan, Policy, Search, fall_back_to_left_over};
use crate::sm_set::SmSet;
use mias_registers::fault;

impl<P: Policy, const C: usize> Scheduler<P, C> {
    pub(super) fn reschedule(&mut self, now: u64, commands: &mut Commands) {
        self.reschedulings = self.reschedulings.saturating_add(1);
        self.generate(now, commands);
    }

    /// Runs the thesis' first two operations, and places the result.
    pub(super) fn generate(&mut self, now: u64, commands: &mut Commands) {
        let set = self.policy.update_scheduled_kernels(&self.kernels);
        self.scheduled.clear();
        for (index, kernel) in self.kernels.iter().enumerate() {
            if set.contains(index) {
                append(&mut self.scheduled, kernel);
            }
        }
        self.table.reset(self.scheduled.iter().map(|kernel| kernel.slot));
        let context = Context { gpu: &self.gpu, settings: &self.settings, kernels: &self.scheduled };
        let plan = self.policy.generate_configs(&context, &mut self.table);
        if let Some(search) = self.policy.search_mut() {
            search.leave();
        }
        if self.table.entries().is_empty() {
            self.fall_back(fault::IMPOSSIBLE_INDEX, commands);
        } else {
            self.place(plan, now, commands);
        }
    }

    /// Does a bounded part of the next rescheduling's work in advance; returns false if none is
    /// left.
    ///
    /// It changes only the duration of the rescheduling. Call it while the processor is idle.
    pub fn prepare(&mut self) -> bool {
        match self.phase {
            Phase::Partition { .. } => {
                // If the rescheduling concerns other kernels in the end, their configurations are
                // generated anew.
                let context = Context { gpu: &self.gpu, settings: &self.settings, kernels: &self.kernels };
                self.policy.prepare(&context, &mut self.table)
            }
            Phase::Idle
            | Phase::Transition
            | Phase::Profile { .. }
            | Phase::Decide
            | Phase::Broadcast
            | Phase::Steady
            | Phase::Search { .. } => false,
        }
    }

    /// Assigns the table's current round to the SMs.
    pub(super) fn place(&mut self, plan: Plan, now: u64, commands: &mut Commands) {
        if plan == Plan::Search && self.policy.search().is_some() {
            self.begin_search(now, commands);
            return;
        }
        self.broadcast = None;
        push(commands, Command::ApplyQuotas);
        match plan {
            // A search, if there is one, has taken the branch above.
            Plan::Place | Plan::Search => self.phase = Phase::Broadcast,
            Plan::Profile => {
                self.done = SmSet::EMPTY;
                self.started = now;
                self.phase = Phase::Transition;
                push(commands, Command::ArmAll);
            }
        }
    }

    /// Reports an impossible event, and runs the kernels one after the other.
    pub(super) fn fall_back(&mut self, faults: u32, commands: &mut Commands) {
        push(commands, Command::Fault(faults));
        self.place_left_over(commands);
    }

    #[inline(never)]
    pub(super) fn place_left_over(&mut self, commands: &mut Commands) {
        let context = Context { gpu: &self.gpu, settings: &self.settings, kernels: &self.scheduled };
        fall_back_to_left_over(&context, &mut self.table);
        self.place(Plan::Place, 0, commands);
    }
}

/// Adds a kernel to a list with the capacity of its source list. Out of line: copied in one loop,
/// the kernels become a call to memmove, which takes 1.5 KiB.
#[inline(never)]
fn append(list: &mut Vec<Kernel, MAX_KERNELS>, kernel: &Kernel) {
    let pushed = list.push(*kernel);
    debug_assert!(pushed.is_ok(), "both lists have the same capacity");
}
