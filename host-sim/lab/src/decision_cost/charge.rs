//! Source of the instruction counts that a policy's decisions are charged.

use mias_policies::policy::{Charged, NAMED, Named};

/// Column of searches.
const SEARCH: &str = "search";

/// Column of trials on the whole GPU.
const TRIAL: &str = "trial";

/// Column of the slowest of MIAS' four metrics.
const WORST: &str = "worst";

/// Source of instruction counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// Slowest of MIAS' four metrics.
    SlowestMetric,
    /// MIAS with one of its four metrics: the name of the policy.
    Metric(&'static str),
    /// Another policy, by its name.
    Policy(&'static str),
    /// Step of a search.
    Search,
    /// Trial on the whole GPU.
    Trial,
}

impl Charge {
    /// Returns the source for a policy in the firmware's table. With `worst`, a policy with one of
    /// MIAS' four metrics is charged the slowest of them; every other policy is charged its own
    /// worst case. A policy outside of the table is charged the slowest metric.
    pub fn of(policy: Option<&'static Named>, worst: bool) -> Self {
        match policy {
            None => Charge::SlowestMetric,
            Some(named) => match named.charged {
                Charged::SlowestMetric => Charge::SlowestMetric,
                Charged::Search => Charge::Search,
                Charged::Trial => Charge::Trial,
                Charged::Metric if worst => Charge::SlowestMetric,
                Charged::Metric => Charge::Metric(named.name),
                // Policies of one code differ in an option only. The first was counted, since the
                // steps are the same.
                _ => Charge::Policy(NAMED.iter().find(|first| first.code == named.code).unwrap_or(named).name),
            },
        }
    }

    /// Returns the source for a decision that generates a second round.
    pub(super) fn of_generation(self) -> Self {
        if let Charge::Metric(_) = self { Charge::SlowestMetric } else { self }
    }

    /// Returns the column of the table.
    pub(super) fn column(self) -> &'static str {
        match self {
            Charge::SlowestMetric => WORST,
            Charge::Search => SEARCH,
            Charge::Trial => TRIAL,
            Charge::Metric(name) | Charge::Policy(name) => name,
        }
    }
}
