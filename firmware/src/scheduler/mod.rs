//! The scheduler's state machine (sources.md D25): events in, a bounded list of commands out, no
//! access to hardware.
//!
//! Every batch of launches and every completion leads to exactly one rescheduling, and several in
//! one batch share it. While SMs are in transition or profiling, a launch or completion aborts the
//! attempt. The next attempt starts no sooner than one window after the last (minimum dwell,
//! sources.md D30). SMs that have not finished two windows after the first SM reached its partition
//! are left out (sources.md D28).

mod event;
mod kernels;
mod phase;
mod placement;
mod profiling;
mod report;
mod search_phase;
mod searching;
mod view;

use heapless::Vec;

pub use event::{Command, Commands, Event, MAX_COMMANDS};
pub use phase::{EVENTS_TO_REST, Phase};
pub use report::{Report, Tried};
pub use search_phase::{SearchCommand, SearchPhase};

use crate::configs::{ConfigTable, MAX_KERNELS, TbVector};
use crate::gpu::{GpuProperties, Settings};
use crate::kernel::Kernel;
use crate::policy::Policy;
use crate::sm_set::SmSet;

/// Scheduler of policy `P` with a capacity of `C` configurations.
#[derive(Clone, Debug)]
pub struct Scheduler<P, const C: usize> {
    policy: P,
    gpu: GpuProperties,
    settings: Settings,
    phase: Phase,
    /// Number of launches so far.
    launched: u32,
    /// Launched kernels in launch order.
    kernels: Vec<Kernel, MAX_KERNELS>,
    /// Kernels that the table covers, as of the last rescheduling.
    scheduled: Vec<Kernel, MAX_KERNELS>,
    table: ConfigTable<C>,
    /// Configuration of all SMs; none while the table's configurations are assigned.
    broadcast: Option<TbVector>,
    /// Start of the last attempt.
    started: u64,
    done: SmSet,
    reschedulings: u32,
}

impl<P: Policy, const C: usize> Scheduler<P, C> {
    /// Creates a scheduler without kernels.
    #[must_use]
    pub fn new(policy: P, gpu: GpuProperties, settings: Settings) -> Self {
        Self { gpu, settings, ..Self::idle(policy) }
    }

    /// Creates a scheduler of a GPU without SMs, to be [restarted](Self::restart) in place.
    ///
    /// It is all zero, so that a static of it takes no flash.
    #[must_use]
    pub const fn idle(policy: P) -> Self {
        Self {
            policy,
            gpu: GpuProperties::NONE,
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

    /// Restarts in place with the same policy, without moving large data.
    pub fn restart(&mut self, gpu: GpuProperties, settings: Settings) {
        (self.gpu, self.settings) = (gpu, settings);
        (self.phase, self.launched, self.broadcast) = (Phase::Idle, 0, None);
        (self.started, self.reschedulings, self.done) = (0, 0, SmSet::EMPTY);
        self.kernels.clear();
        self.scheduled.clear();
        self.table.reset(core::iter::empty());
        self.table.pool_mut().forget();
    }

    /// Answers one event at cycle `now`.
    pub fn handle(&mut self, event: Event, now: u64) -> Commands {
        let mut commands = Commands::new();
        self.handle_into(&event, now, &mut commands);
        commands
    }

    /// Answers one event and appends the commands to the caller's list, so that nothing is moved.
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
            Event::BroadcastDone => self.on_broadcast_done(now, commands),
        }
        if self.phase.code() != before {
            push(commands, Command::SetPhase(self.phase.code()));
        }
    }
}

/// Adds a command. The list cannot be full: [`MAX_COMMANDS`] exceeds the commands of any event, and
/// tests check that.
fn push(commands: &mut Commands, command: Command) {
    let pushed = commands.push(command);
    debug_assert!(pushed.is_ok(), "more commands than an event can cause");
}
