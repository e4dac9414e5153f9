//! What a decision is to be good at, and what is lost by one that is not.

use super::mixes::Values;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Objective {
    /// System throughput: large.
    Stp,
    /// Average normalised turnaround time: small.
    Antt,
    /// Smallest over largest normalised progress: large.
    Fairness,
    /// Joules of the run over STP, energy for the work that one kernel after the other would do: small.
    Energy,
}

impl Objective {
    /// In the order of reports.
    pub const ALL: [Objective; 4] = [Objective::Stp, Objective::Antt, Objective::Fairness, Objective::Energy];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Objective::Stp => "STP",
            Objective::Antt => "ANTT",
            Objective::Fairness => "fairness",
            Objective::Energy => "energy for work",
        }
    }

    /// Whether more is better.
    #[must_use]
    pub fn is_large(self) -> bool {
        matches!(self, Objective::Stp | Objective::Fairness)
    }

    /// Of a run; none where it does not exist: no ANTT where a kernel made no progress, no energy on a machine without coefficients.
    #[must_use]
    pub fn of(self, values: &Values) -> Option<f64> {
        match self {
            Objective::Stp => values.metrics.stp,
            Objective::Antt => values.metrics.antt,
            Objective::Fairness => values.metrics.fairness,
            Objective::Energy => Some(values.joules? / values.metrics.stp.filter(|stp| *stp > 0.0)?),
        }
    }

    /// Whether one value is better than another.
    #[must_use]
    pub fn is_better(self, one: f64, other: f64) -> bool {
        if self.is_large() { one > other } else { one < other }
    }

    /// The part of the best that a value lacks: 0 where it is as good, below 0 where it is better; none where the larger of both is not positive.
    #[must_use]
    pub fn regret(self, value: f64, best: f64) -> Option<f64> {
        let (part, whole) = if self.is_large() { (value, best) } else { (best, value) };
        (whole > 0.0).then(|| 1.0 - part / whole)
    }
}
