//! From kernels to configurations, and from configurations to SMs: the thesis' first two operations, and what is done with their
//! result.

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

    /// The thesis' first two operations, and their placement.
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

    /// Does a part of what the next rescheduling will ask for, in bounded time; false if there is nothing left to do ahead. It shows in
    /// no state but how long that takes. To be called while there is nothing else to do.
    pub fn prepare(&mut self) -> bool {
        match self.phase {
            Phase::Partition { .. } => {
                // If it is to be about other kernels in the end, they are found anew.
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

    /// Deals the table's current round to the SMs.
    pub(super) fn place(&mut self, plan: Plan, now: u64, commands: &mut Commands) {
        if plan == Plan::Search && self.policy.search().is_some() {
            self.begin_search(now, commands);
            return;
        }
        self.broadcast = None;
        push(commands, Command::ApplyQuotas);
        match plan {
            // A search has gone its own way, if there is one.
            Plan::Place | Plan::Search => self.phase = Phase::Broadcast,
            Plan::Profile => {
                self.done = SmSet::EMPTY;
                self.started = now;
                self.phase = Phase::Transition;
                push(commands, Command::ArmAll);
            }
        }
    }

    /// What must not happen did: say so, and run the kernels one after the other.
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

/// Adds a kernel to a list of the same capacity as the one it is from. Out of line: copied in one loop, the kernels become a call
/// to memmove, which takes 1.5 KiB.
#[inline(never)]
fn append(list: &mut Vec<Kernel, MAX_KERNELS>, kernel: &Kernel) {
    let pushed = list.push(*kernel);
    debug_assert!(pushed.is_ok(), "both lists have the same capacity");
}
