//! The phases of a search's step, and what the driver is to do for it.

use mias_registers::PhaseCode;

/// Where a step of a search is. The phase register shows [`PhaseCode::Transition`] and [`PhaseCode::Profile`], and [`PhaseCode::Steady`] while it rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchPhase {
    /// Something is asked for, until the cycle of the decision. The next expiry of the timer is after it is in effect, however long the decision took.
    Apply,
    /// It is in effect, and what it changes settles.
    WarmUp,
    /// Kernels are measured.
    Measure,
    /// Something was found, and stays for a while.
    Rest,
}

impl SearchPhase {
    /// Code for the register and for traces.
    #[must_use]
    pub const fn code(self) -> PhaseCode {
        match self {
            Self::Apply | Self::WarmUp => PhaseCode::Transition,
            Self::Measure => PhaseCode::Profile,
            Self::Rest => PhaseCode::Steady,
        }
    }

    /// Whether nothing is tried at present.
    #[must_use]
    pub const fn rests(self) -> bool {
        matches!(self, Self::Rest)
    }
}

/// Something for the driver to do for a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchCommand {
    /// Stage the quotas of every SM as the search says and commit them; stall, gate and wake SMs; move what is on SMs that change hands.
    ApplyShares,
    /// All SMs are to issue.
    ResumeAll,
    /// Begin to count kernels.
    BeginCounting,
    /// Latch and read the counters of kernels. At the end of a step's second window, report [`super::Event::CountersRead`].
    ReadKernels,
}
