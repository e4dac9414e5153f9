//! The scheduler's state machine (DESIGN.md section 4): events in, a bounded list of commands out, no access to hardware.
//!
//! Every batch of launches and every completion leads to exactly one rescheduling; several in one batch share it. While
//! SMs are in transition or profiling, a launch or completion aborts the attempt, and the next one starts no sooner than one
//! window after the last (minimum dwell, algorithms.md section 9 item 24). SMs that have not finished two windows after the
//! first SM reached its partition are left out (item 10).

mod event;
mod phase;
mod report;
mod sm_set;
mod view;

use heapless::Vec;

pub use event::{Command, Commands, Event, MAX_COMMANDS};
pub use phase::Phase;
pub use report::{Report, Tried};
pub use sm_set::{SmSet, SmWord};

use crate::configs::{ConfigTable, MAX_KERNELS, Origin, TbVector};
use crate::kernel::Kernel;
use crate::machine::{Machine, Settings};
use crate::policy::{Context, Plan, Policy, Verdict, fall_back_to_left_over};
use crate::regs::fault;

/// Time-out of profiling after the first SM, in windows (algorithms.md section 9 item 10).
const TIME_OUT_WINDOWS: u64 = 2;

/// The scheduler of policy `P` with room for `C` configurations.
#[derive(Clone, Debug)]
pub struct Scheduler<P, const C: usize> {
    policy: P,
    machine: Machine,
    settings: Settings,
    phase: Phase,
    /// Launches so far.
    launched: u32,
    /// Launched kernels in launch order.
    kernels: Vec<Kernel, MAX_KERNELS>,
    /// Those of them that the table is about, as of the last rescheduling.
    scheduled: Vec<Kernel, MAX_KERNELS>,
    table: ConfigTable<C>,
    /// The configuration of all SMs; none while the table's are dealt.
    broadcast: Option<TbVector>,
    /// Start of the last attempt.
    started: u64,
    done: SmSet,
    reschedulings: u32,
}

impl<P: Policy, const C: usize> Scheduler<P, C> {
    /// A scheduler without kernels.
    #[must_use]
    pub fn new(policy: P, machine: Machine, settings: Settings) -> Self {
        Self { machine, settings, ..Self::idle(policy) }
    }

    /// A scheduler of a machine without SMs, to be [restarted](Self::restart) in place: all of it is zero, so that a static
    /// of it takes no flash.
    #[must_use]
    pub const fn idle(policy: P) -> Self {
        Self {
            policy,
            machine: Machine::NONE,
            settings: Settings::NONE,
            phase: Phase::Idle,
            launched: 0,
            kernels: Vec::new(),
            scheduled: Vec::new(),
            table: ConfigTable::EMPTY,
            broadcast: None,
            started: 0,
            done: SmSet::EMPTY,
            reschedulings: 0,
        }
    }

    /// Becomes [`Scheduler::new`] in place: nothing large is moved.
    pub fn restart(&mut self, policy: P, machine: Machine, settings: Settings) {
        (self.policy, self.machine, self.settings) = (policy, machine, settings);
        (self.phase, self.launched, self.broadcast) = (Phase::Idle, 0, None);
        (self.started, self.reschedulings, self.done) = (0, 0, SmSet::EMPTY);
        self.kernels.clear();
        self.scheduled.clear();
        self.table.reset(core::iter::empty());
    }

    /// Answers one event that happened at cycle `now`.
    pub fn handle(&mut self, event: Event, now: u64) -> Commands {
        let mut commands = Commands::new();
        self.handle_into(&event, now, &mut commands);
        commands
    }

    /// The same, with the answer appended to a list that the caller keeps: nothing is moved.
    #[inline(never)]
    pub fn handle_into(&mut self, event: &Event, now: u64, commands: &mut Commands) {
        let before = self.phase.code();
        match *event {
            Event::Launched(ref kernel) => self.on_launched(kernel, now, commands),
            Event::Drained(slot) => self.on_drained(slot, now, commands),
            Event::Completed(slot) => self.on_completed(slot, now, commands),
            Event::PartitionReached(_) => self.on_partition_reached(now, commands),
            Event::ProfileDone(sms) => self.on_profile_done(sms, commands),
            Event::Timer => self.on_timer(now, commands),
            Event::CountersRead => self.on_counters_read(now, commands),
            Event::BroadcastDone => self.on_broadcast_done(),
        }
        if self.phase.code() != before {
            push(commands, Command::SetPhase(self.phase.code()));
        }
    }

    #[inline(never)]
    fn on_launched(&mut self, kernel: &Kernel, now: u64, commands: &mut Commands) {
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

    fn on_drained(&mut self, slot: u8, now: u64, commands: &mut Commands) {
        for kernel in self.kernels.iter_mut().chain(&mut self.scheduled).filter(|kernel| kernel.slot == slot) {
            kernel.drained = true;
        }
        match self.phase {
            // The next kernel's turn, within the same rescheduling.
            Phase::Steady if self.policy.follows_drain() => self.generate(now, commands),
            Phase::Steady if self.table.origin() == Origin::LeftOverFallback => self.place_left_over(commands),
            Phase::Idle
            | Phase::Partition { .. }
            | Phase::Transition
            | Phase::Profile { .. }
            | Phase::Decide
            | Phase::Broadcast
            | Phase::Steady => {}
        }
    }

    fn on_completed(&mut self, slot: u8, now: u64, commands: &mut Commands) {
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

    /// Takes a kernel out; the later ones move up. By hand, and not by `Vec::remove`: that takes 1.5 KiB of memmove, for at
    /// most three kernels.
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

    /// Asks for a rescheduling at cycle `at`, or later where the minimum dwell demands it.
    #[inline(never)]
    fn schedule_again(&mut self, at: u64, commands: &mut Commands) {
        let at = match self.phase {
            // Joins the batch that is open.
            Phase::Partition { .. } => return,
            Phase::Idle | Phase::Broadcast | Phase::Steady => at,
            Phase::Transition | Phase::Profile { .. } | Phase::Decide => {
                self.stop_profiling(commands);
                at.max(self.started.saturating_add(self.settings.profile_window.into()))
            }
        };
        self.phase = Phase::Partition { at };
        push(commands, Command::SetTimer(at));
    }

    #[inline(never)]
    fn stop_profiling(&mut self, commands: &mut Commands) {
        match self.phase {
            Phase::Transition | Phase::Profile { .. } | Phase::Decide => push(commands, Command::DisarmAll),
            Phase::Idle | Phase::Partition { .. } | Phase::Broadcast | Phase::Steady => {}
        }
    }

    fn on_partition_reached(&mut self, now: u64, commands: &mut Commands) {
        match self.phase {
            Phase::Transition => {
                let windows = u64::from(self.settings.profile_window).saturating_mul(TIME_OUT_WINDOWS);
                let until = now.saturating_add(windows);
                self.phase = Phase::Profile { until };
                push(commands, Command::SetTimer(until));
            }
            // Late news of an attempt that was given up, or one more SM.
            Phase::Idle | Phase::Partition { .. } | Phase::Profile { .. } | Phase::Decide | Phase::Broadcast | Phase::Steady => {}
        }
    }

    fn on_profile_done(&mut self, sms: SmWord, commands: &mut Commands) {
        match self.phase {
            Phase::Transition | Phase::Profile { .. } => {
                let known = sms.among(self.machine.sm_count);
                self.done.insert(known);
                if known != sms {
                    push(commands, Command::Fault(fault::IMPOSSIBLE_INDEX));
                }
                if self.done.len() == self.machine.sm_count {
                    push(commands, Command::CancelTimer);
                    self.phase = Phase::Decide;
                    push(commands, Command::ReadCounters);
                }
            }
            Phase::Idle | Phase::Partition { .. } | Phase::Decide | Phase::Broadcast | Phase::Steady => {}
        }
    }

    fn on_timer(&mut self, now: u64, commands: &mut Commands) {
        match self.phase {
            Phase::Partition { at } if now >= at => self.reschedule(now, commands),
            Phase::Profile { until } if now >= until => {
                self.stop_profiling(commands);
                self.phase = Phase::Decide;
                push(commands, Command::ReadCounters);
            }
            // An expiry that is older than the phase: the one that is wanted is still to come.
            Phase::Partition { at: deadline } | Phase::Profile { until: deadline } => push(commands, Command::SetTimer(deadline)),
            Phase::Idle | Phase::Transition | Phase::Decide | Phase::Broadcast | Phase::Steady => {}
        }
    }

    #[inline(never)]
    fn on_counters_read(&mut self, now: u64, commands: &mut Commands) {
        match self.phase {
            Phase::Decide => {
                let context = Context { machine: &self.machine, settings: &self.settings, kernels: &self.scheduled };
                match self.policy.on_done_profiling(&context, &mut self.table) {
                    Verdict::Broadcast(vector) => {
                        self.broadcast = Some(vector);
                        self.phase = Phase::Broadcast;
                        push(commands, Command::ApplyQuotas);
                    }
                    Verdict::NextRound => self.place(Plan::Profile, now, commands),
                    Verdict::NoSamples => self.fall_back(fault::NO_SAMPLES, commands),
                }
            }
            Phase::Idle | Phase::Partition { .. } | Phase::Transition | Phase::Profile { .. } | Phase::Broadcast | Phase::Steady => {}
        }
    }

    fn on_broadcast_done(&mut self) {
        match self.phase {
            Phase::Broadcast => self.phase = Phase::Steady,
            Phase::Idle | Phase::Partition { .. } | Phase::Transition | Phase::Profile { .. } | Phase::Decide | Phase::Steady => {}
        }
    }

    fn reschedule(&mut self, now: u64, commands: &mut Commands) {
        self.reschedulings = self.reschedulings.saturating_add(1);
        self.generate(now, commands);
    }

    /// The thesis' first two operations, and their placement.
    fn generate(&mut self, now: u64, commands: &mut Commands) {
        let set = self.policy.update_scheduled_kernels(&self.kernels);
        self.scheduled.clear();
        for (index, kernel) in self.kernels.iter().enumerate() {
            if set.contains(index) {
                append(&mut self.scheduled, kernel);
            }
        }
        self.table.reset(self.scheduled.iter().map(|kernel| kernel.slot));
        let context = Context { machine: &self.machine, settings: &self.settings, kernels: &self.scheduled };
        let plan = self.policy.generate_configs(&context, &mut self.table);
        if self.table.entries().is_empty() {
            self.fall_back(fault::IMPOSSIBLE_INDEX, commands);
        } else {
            self.place(plan, now, commands);
        }
    }

    /// Deals the table's current round to the SMs.
    fn place(&mut self, plan: Plan, now: u64, commands: &mut Commands) {
        self.broadcast = None;
        push(commands, Command::ApplyQuotas);
        match plan {
            Plan::Place => self.phase = Phase::Broadcast,
            Plan::Profile => {
                self.done = SmSet::EMPTY;
                self.started = now;
                self.phase = Phase::Transition;
                push(commands, Command::ArmAll);
            }
        }
    }

    /// What must not happen did: say so, and run the kernels one after the other.
    fn fall_back(&mut self, faults: u32, commands: &mut Commands) {
        push(commands, Command::Fault(faults));
        self.place_left_over(commands);
    }

    #[inline(never)]
    fn place_left_over(&mut self, commands: &mut Commands) {
        let context = Context { machine: &self.machine, settings: &self.settings, kernels: &self.scheduled };
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

/// Adds a command. The list cannot be full: [`MAX_COMMANDS`] is above what any event causes, and tests hold that.
fn push(commands: &mut Commands, command: Command) {
    let pushed = commands.push(command);
    debug_assert!(pushed.is_ok(), "more commands than an event can cause");
}
