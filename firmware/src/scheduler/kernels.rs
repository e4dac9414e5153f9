//! Arrival and departure of kernels, and the reschedulings that they cause.
//!
//! There is one rescheduling per batch. It starts no sooner than one window after an attempt that
//! it aborts (minimum dwell, sources.md D30).

use super::{Command, Commands, Phase, Scheduler, push};
use crate::configs::Origin;
use crate::kernel::Kernel;
use crate::policy::Policy;
use mias_registers::fault;

impl<P: Policy, const C: usize> Scheduler<P, C> {
    #[inline(never)]
    pub(super) fn on_launched(&mut self, kernel: &Kernel, now: u64, commands: &mut Commands) {
        let kernel = Kernel { number: self.launched, ..*kernel };
        self.launched = self.launched.saturating_add(1);
        if kernel.max_tbs == 0 {
            push(commands, Command::Reject(kernel.slot));
            push(commands, Command::Fault(fault::KERNEL_TOO_LARGE));
            return;
        }
        if self.kernels.push(kernel).is_err() {
            push(commands, Command::Fault(fault::IMPOSSIBLE_INDEX));
            return;
        }
        self.schedule_again(now.saturating_add(self.settings.coalesce_window.into()), commands);
    }

    pub(super) fn on_drained(&mut self, slot: u8, now: u64, commands: &mut Commands) {
        for kernel in self.kernels.iter_mut().chain(&mut self.scheduled).filter(|kernel| kernel.slot == slot) {
            kernel.drained = true;
        }
        match self.phase {
            // The next kernel's turn, within the same rescheduling.
            Phase::Steady if self.policy.follows_drain() => self.generate(now, commands),
            Phase::Steady if self.table.origin() == Origin::LeftOverFallback => self.place_left_over(commands),
            Phase::Search { .. } | Phase::Decide => self.drained_in_search(slot, commands),
            Phase::Idle | Phase::Partition { .. } | Phase::Transition | Phase::Profile { .. } | Phase::Broadcast | Phase::Steady => {}
        }
    }

    pub(super) fn on_completed(&mut self, slot: u8, now: u64, commands: &mut Commands) {
        let Some(index) = self.kernels.iter().position(|kernel| kernel.slot == slot) else { return };
        self.remove_kernel(index);
        push(commands, Command::Release(slot));
        if self.kernels.is_empty() {
            self.stop_profiling(commands);
            push(commands, Command::CancelTimer);
            self.phase = Phase::Idle;
        } else {
            self.schedule_again(now, commands);
        }
    }

    /// Removes a kernel and moves up the later ones. It does not use `Vec::remove`, which adds 1.5
    /// KiB of memmove for at most three kernels.
    #[inline(never)]
    fn remove_kernel(&mut self, index: usize) {
        let mut later = None;
        for kernel in self.kernels.iter_mut().skip(index).rev() {
            let this = *kernel;
            if let Some(later) = later {
                *kernel = later;
            }
            later = Some(this);
        }
        self.kernels.pop();
    }

    /// Requests a rescheduling at cycle `at`, or later if the minimum dwell requires it.
    #[inline(never)]
    fn schedule_again(&mut self, at: u64, commands: &mut Commands) {
        let at = match self.phase {
            // Joins the open batch.
            Phase::Partition { .. } => return,
            Phase::Idle | Phase::Broadcast | Phase::Steady => at,
            Phase::Search { step, .. } if step.rests() => at,
            Phase::Transition | Phase::Profile { .. } | Phase::Decide | Phase::Search { .. } => {
                self.stop_profiling(commands);
                at.max(self.started.saturating_add(self.settings.profile_window.into()))
            }
        };
        self.phase = Phase::Partition { at };
        push(commands, Command::SetTimer(at));
    }
}
