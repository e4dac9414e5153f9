//! Whose counts a policy's decisions are charged.

use crate::experiment::policy::Policy;

/// The column of the largest of MIAS' four metrics.
const WORST: &str = "worst";

/// Whose counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// The slowest of MIAS' four metrics.
    SlowestMetric,
    /// MIAS by one of its four metrics: the name of the policy.
    Metric(&'static str),
    /// Another policy, by its name.
    Policy(&'static str),
}

impl Charge {
    /// Those of a policy. `worst`: of the slowest of MIAS' four metrics for one that decides by one of them; every other policy has
    /// its own worst case only. One of the program's own is not in the table, and charged the slowest metric; neither are policies
    /// that do not decide, which nobody asks for.
    pub fn of(policy: Policy, worst: bool) -> Self {
        match policy {
            Policy::MiasIpc | Policy::MiasIpmIpc | Policy::MiasFactor | Policy::MiasLinear if !worst => Charge::Metric(policy.name()),
            // The same steps but for the scaling.
            Policy::WarpedSlicerUnscaled => Charge::Policy(Policy::WarpedSlicer.name()),
            Policy::MiasStp
            | Policy::MiasGuard
            | Policy::MiasRoofline
            | Policy::MiasRooflineStp
            | Policy::WarpedSlicer
            | Policy::WarpedSlicerSum
            | Policy::Coordinated
            | Policy::Maestro => Charge::Policy(policy.name()),
            Policy::MiasIpc
            | Policy::MiasIpmIpc
            | Policy::MiasFactor
            | Policy::MiasLinear
            | Policy::LeftOver
            | Policy::Spatial
            | Policy::Null
            | Policy::Sequential
            | Policy::Smk
            | Policy::Own(_) => Charge::SlowestMetric,
        }
    }

    /// The same for a decision that generates a second round.
    pub(super) fn of_generation(self) -> Self {
        if let Charge::Metric(_) = self { Charge::SlowestMetric } else { self }
    }

    /// The column of the table.
    pub(super) fn column(self) -> &'static str {
        match self {
            Charge::SlowestMetric => WORST,
            Charge::Metric(name) | Charge::Policy(name) => name,
        }
    }
}
