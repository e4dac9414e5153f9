//! The phases of the scheduler (sources.md D25).

use super::SearchPhase;
use mias_registers::PhaseCode;

/// Most events until the scheduler is [at rest](Phase::at_rest), if only answers to its own
/// commands arrive and no search runs.
///
/// They are the batch's timer, the events of two rounds (partition reached, time-out and counters
/// read), under MIAS-Duel four more of trials, and the broadcast.
pub const EVENTS_TO_REST: u32 = 20;

/// Phase of the scheduler.
///
/// ```text
///  Idle -> Partition -> Transition -> Profile -> Decide -> Broadcast -> Steady
///   ^        |  ^           ^                     |            ^          |
///   |        |  |           +---- second round ---+            |          |
///   |        +--|------ nothing to choose among ---------------+          |
///   +-----------+--------- kernel launched / completed -------------------+
/// ```
// A separate tag, so that idle is all zero and a firmware that has not started takes no flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Phase {
    /// No kernel is scheduled.
    Idle,
    /// A rescheduling is due at cycle `at`. Until then launches are collected, or the minimum dwell
    /// passes.
    Partition {
        /// Cycle of the rescheduling.
        at: u64,
    },
    /// Configurations are assigned, and no SM has reached its own yet.
    Transition,
    /// At least one SM is profiling or done.
    Profile {
        /// Cycle at which unfinished SMs are left out.
        until: u64,
    },
    /// Counters are being read.
    Decide,
    /// The chosen configuration is being written.
    Broadcast,
    /// Running until the next launch or completion.
    Steady,
    /// A step of a search is in progress.
    Search {
        /// Phase of the step.
        step: SearchPhase,
        /// Cycle at which that phase ends.
        until: u64,
    },
}

impl Phase {
    /// Returns the code for the register and for traces.
    #[must_use]
    pub const fn code(self) -> PhaseCode {
        match self {
            Self::Idle => PhaseCode::Idle,
            Self::Partition { .. } => PhaseCode::Partition,
            Self::Transition => PhaseCode::Transition,
            Self::Profile { .. } => PhaseCode::Profile,
            Self::Decide => PhaseCode::Decide,
            Self::Broadcast => PhaseCode::Broadcast,
            Self::Steady => PhaseCode::Steady,
            Self::Search { step, .. } => step.code(),
        }
    }

    /// Returns whether there is no work until an event occurs or a resting search continues.
    #[must_use]
    pub const fn at_rest(self) -> bool {
        match self {
            Self::Idle | Self::Steady => true,
            Self::Search { step, .. } => step.rests(),
            Self::Partition { .. } | Self::Transition | Self::Profile { .. } | Self::Decide | Self::Broadcast => false,
        }
    }

    /// Returns the cycle for which the phase needs the timer.
    #[must_use]
    pub const fn deadline(self) -> Option<u64> {
        match self {
            Self::Partition { at } => Some(at),
            Self::Profile { until } | Self::Search { until, .. } => Some(until),
            Self::Idle | Self::Transition | Self::Decide | Self::Broadcast | Self::Steady => None,
        }
    }
}
