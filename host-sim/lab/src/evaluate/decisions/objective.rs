//! Objectives of a decision, and the regret by each.

use super::mixes::Values;

/// Objective of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Objective {
    /// System throughput: higher is better.
    Stp,
    /// Average normalized turnaround time: lower is better.
    Antt,
    /// Smallest over largest normalized progress: higher is better.
    Fairness,
    /// Energy of the run in joules over STP, the energy per unit of sequential work: lower is
    /// better.
    Energy,
}

impl Objective {
    /// All objectives, in the order of reports.
    pub const ALL: [Objective; 4] = [Objective::Stp, Objective::Antt, Objective::Fairness, Objective::Energy];

    /// Returns the name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Objective::Stp => "STP",
            Objective::Antt => "ANTT",
            Objective::Fairness => "fairness",
            Objective::Energy => "energy for work",
        }
    }

    /// Returns whether higher is better.
    #[must_use]
    pub fn is_large(self) -> bool {
        matches!(self, Objective::Stp | Objective::Fairness)
    }

    /// Returns the objective of a run; `None` if undefined: no ANTT if a kernel made no progress,
    /// no energy on a GPU without coefficients.
    #[must_use]
    pub fn of(self, values: &Values) -> Option<f64> {
        match self {
            Objective::Stp => values.metrics.stp,
            Objective::Antt => values.metrics.antt,
            Objective::Fairness => values.metrics.fairness,
            Objective::Energy => Some(values.joules? / values.metrics.stp.filter(|stp| *stp > 0.0)?),
        }
    }

    /// Returns whether one value is better than another.
    #[must_use]
    pub fn is_better(self, one: f64, other: f64) -> bool {
        if self.is_large() { one > other } else { one < other }
    }

    /// Returns the regret of a value: 0 if it equals the best, below 0 if it is better; `None` if
    /// the larger of both is not positive.
    #[must_use]
    pub fn regret(self, value: f64, best: f64) -> Option<f64> {
        let (part, whole) = if self.is_large() { (value, best) } else { (best, value) };
        (whole > 0.0).then(|| 1.0 - part / whole)
    }
}
