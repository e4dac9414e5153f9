//! Phases of a search's step, and the commands to the driver for it.

use mias_registers::PhaseCode;

/// Phase of a search's step.
///
/// The phase register shows [`PhaseCode::Transition`] and [`PhaseCode::Profile`], and
/// [`PhaseCode::Steady`] during a rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchPhase {
    /// A placement is requested, until the cycle of the decision. The next expiry of the timer
    /// comes after it is in effect, however long the decision took.
    Apply,
    /// The placement is in effect, and its changes settle.
    WarmUp,
    /// Kernels are measured.
    Measure,
    /// A result is kept for a while.
    Rest,
}

impl SearchPhase {
    /// Returns the code for the register and for traces.
    #[must_use]
    pub const fn code(self) -> PhaseCode {
        match self {
            Self::Apply | Self::WarmUp => PhaseCode::Transition,
            Self::Measure => PhaseCode::Profile,
            Self::Rest => PhaseCode::Steady,
        }
    }

    /// Returns whether nothing is tried at present.
    #[must_use]
    pub const fn rests(self) -> bool {
        matches!(self, Self::Rest)
    }
}

/// Command of a search to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchCommand {
    /// Stage and commit the quotas that the search sets for every SM; stall, gate and wake SMs;
    /// move the TBs of reassigned SMs.
    ApplyShares,
    /// Let all SMs issue.
    ResumeAll,
    /// Start the counters of kernels.
    BeginCounting,
    /// Latch and read the counters of kernels. At the end of a step's second window, report
    /// [`super::Event::CountersRead`].
    ReadKernels,
}
