//! Whose counts a policy's decisions are charged.

use mias_policies::policy::{Charged, NAMED, Named};

/// The column of searches.
const SEARCH: &str = "search";

/// The column of trials on the whole GPU.
const TRIAL: &str = "trial";

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
    /// A step of a search.
    Search,
    /// A trial on the whole GPU.
    Trial,
}

impl Charge {
    /// Those of a policy, as the firmware names it. `worst`: of the slowest of MIAS' four metrics for one that decides by one of them;
    /// every other policy has its own worst case only. One that the firmware does not name is not in the table, and charged the slowest
    /// metric.
    pub fn of(policy: Option<&'static Named>, worst: bool) -> Self {
        match policy {
            None => Charge::SlowestMetric,
            Some(named) => match named.charged {
                Charged::SlowestMetric => Charge::SlowestMetric,
                Charged::Search => Charge::Search,
                Charged::Trial => Charge::Trial,
                Charged::Metric if worst => Charge::SlowestMetric,
                Charged::Metric => Charge::Metric(named.name),
                // Of policies of one code, which differ in an option, the first was counted: the steps are the same.
                _ => Charge::Policy(NAMED.iter().find(|first| first.code == named.code).unwrap_or(named).name),
            },
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
            Charge::Search => SEARCH,
            Charge::Trial => TRIAL,
            Charge::Metric(name) | Charge::Policy(name) => name,
        }
    }
}
