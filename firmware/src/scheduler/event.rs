//! Input events and output commands of the state machine.

use heapless::Vec;

use super::SearchCommand;
use crate::kernel::Kernel;
use crate::sm_set::SmWord;
use mias_registers::PhaseCode;

/// Event from the driver to the state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A kernel was launched.
    Launched(Kernel),
    /// The kernel in a slot has no TB left to issue.
    Drained(u8),
    /// The last TB of the kernel in a slot has retired.
    Completed(u8),
    /// Armed SMs, at least one, reached their partition and are profiling.
    PartitionReached(SmWord),
    /// The windows of SMs, at least one, are over and their counters are latched.
    ProfileDone(SmWord),
    /// The timer expired.
    Timer,
    /// The driver has read the counters that [`Command::ReadCounters`] asked for.
    CountersRead,
    /// The driver has written the quotas of the chosen configuration.
    BroadcastDone,
}

/// Command to the driver. Commands are executed in the given order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Write the phase to the phase register.
    SetPhase(PhaseCode),
    /// Stage the quotas of every SM and commit them.
    ApplyQuotas,
    /// Arm all SMs.
    ArmAll,
    /// Disarm all SMs and forget their profiling events.
    DisarmAll,
    /// Arm the timer for this cycle.
    SetTimer(u64),
    /// Disarm the timer.
    CancelTimer,
    /// Read the counters of the SMs that finished, then report [`Event::CountersRead`].
    ReadCounters,
    /// Free the slot of a completed kernel.
    Release(u8),
    /// Free the slot of a kernel that fits no SM.
    Reject(u8),
    /// Raise fault bits.
    Fault(u32),
    /// Execute a command of a search.
    Search(SearchCommand),
}

/// Most commands per event: a release or a fault, a disarming, a timer or quotas, and a phase, with
/// one to spare.
pub const MAX_COMMANDS: usize = 5;

/// Commands that answer one event.
pub type Commands = Vec<Command, MAX_COMMANDS>;
