//! The phases of a search's step, and what the driver is to do for it. Without the feature `search` there are none: the compiler leaves nothing
//! of what would come of them.

use mias_registers::PhaseCode;

/// Where a step of a search is. The phase register shows [`PhaseCode::Transition`] and [`PhaseCode::Profile`], and [`PhaseCode::Steady`] while it rests.
#[cfg(feature = "search")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchPhase {
    /// The shares are asked for. The next expiry of the timer is after they are in effect, however long the decision before it took.
    Apply {
        /// Cycle of the decision.
        until: u64,
    },
    /// The shares are in effect, and what they change settles.
    WarmUp {
        /// Cycle from which on is measured.
        until: u64,
    },
    /// Kernels are measured.
    Measure {
        /// Cycle in which the window is over.
        until: u64,
    },
    /// Something was found, and stays for a while.
    Rest {
        /// Cycle from which on something else is tried.
        until: u64,
    },
}

/// There is no search.
#[cfg(not(feature = "search"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchPhase {}

impl SearchPhase {
    /// Code for the register and for traces.
    #[must_use]
    pub const fn code(self) -> PhaseCode {
        match self {
            #[cfg(feature = "search")]
            Self::Apply { .. } | Self::WarmUp { .. } => PhaseCode::Transition,
            #[cfg(feature = "search")]
            Self::Measure { .. } => PhaseCode::Profile,
            #[cfg(feature = "search")]
            Self::Rest { .. } => PhaseCode::Steady,
        }
    }

    /// Whether nothing is tried at present.
    #[must_use]
    pub const fn rests(self) -> bool {
        match self {
            #[cfg(feature = "search")]
            Self::Rest { .. } => true,
            #[cfg(feature = "search")]
            Self::Apply { .. } | Self::WarmUp { .. } | Self::Measure { .. } => false,
        }
    }

    /// Cycle at which it wants the timer.
    #[must_use]
    pub const fn until(self) -> u64 {
        match self {
            #[cfg(feature = "search")]
            Self::Apply { until } | Self::WarmUp { until } | Self::Measure { until } | Self::Rest { until } => until,
        }
    }
}

/// Something for the driver to do for a search.
#[cfg(feature = "search")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchCommand {
    /// Stage the quotas of every SM as the shares say and commit them; stall, gate and wake SMs; move what is on SMs that change hands.
    ApplyShares,
    /// All SMs are to issue.
    ResumeAll,
    /// Begin to count kernels.
    BeginCounting,
    /// Latch and read the counters of kernels. At the end of a step's second window, report [`super::Event::CountersRead`].
    ReadKernels,
}

/// There is no search.
#[cfg(not(feature = "search"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchCommand {}
