//! The phases of the scheduler (sources.md D25).

use super::SearchPhase;
use mias_registers::PhaseCode;

/// Events after which the scheduler is [at rest](Phase::at_rest) if nothing but the answers to its own commands
/// comes any more and nothing is searched for: the batch's timer, two rounds of partition reached, time-out and counters read, under MIAS-Duel four
/// more of trials, and the broadcast.
pub const EVENTS_TO_REST: u32 = 20;

/// Where the scheduler is.
///
/// ```text
///  Idle -> Partition -> Transition -> Profile -> Decide -> Broadcast -> Steady
///   ^        |  ^           ^                     |            ^          |
///   |        |  |           +---- second round ---+            |          |
///   |        +--|------ nothing to choose among ---------------+          |
///   +-----------+--------- kernel launched / completed -------------------+
/// ```
// With a tag of its own, so that idle is all zero and a firmware that has not started takes no flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Phase {
    /// No kernel.
    Idle,
    /// A rescheduling is due at cycle `at`: launches are collected until then, or the minimum dwell passes.
    Partition {
        /// Cycle of the rescheduling.
        at: u64,
    },
    /// Configurations are dealt; no SM has reached its own yet.
    Transition,
    /// At least one SM is profiling or done.
    Profile {
        /// Cycle at which the SMs that are not done are left out.
        until: u64,
    },
    /// Counters are being read.
    Decide,
    /// The chosen configuration is being written.
    Broadcast,
    /// Running until the next launch or completion.
    Steady,
    /// A step of a search is going on.
    Search {
        /// Where it is.
        step: SearchPhase,
        /// Cycle at which that is over.
        until: u64,
    },
}

impl Phase {
    /// Code for the register and for traces.
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

    /// Whether there is nothing to do before something happens, or a search that rests goes on.
    #[must_use]
    pub const fn at_rest(self) -> bool {
        match self {
            Self::Idle | Self::Steady => true,
            Self::Search { step, .. } => step.rests(),
            Self::Partition { .. } | Self::Transition | Self::Profile { .. } | Self::Decide | Self::Broadcast => false,
        }
    }

    /// Cycle at which the phase wants the timer.
    #[must_use]
    pub const fn deadline(self) -> Option<u64> {
        match self {
            Self::Partition { at } => Some(at),
            Self::Profile { until } | Self::Search { until, .. } => Some(until),
            Self::Idle | Self::Transition | Self::Decide | Self::Broadcast | Self::Steady => None,
        }
    }
}
