//! Division of kernels into those for making a rule and those for judging it:
//! plans/decisions/kernels.toml (sources.md D192).

use crate::evaluate::names::family;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Purpose of a set of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// Kernels from which a rule may be made.
    Making,
    /// Kernels by which a rule is judged.
    Judged,
}

impl Set {
    /// Returns the name in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Set::Making => "kernels that a rule may be made from",
            Set::Judged => "judged kernels",
        }
    }
}

/// Contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernels {
    /// Seed of the stream that families and mixes are drawn from.
    pub seed: u64,
    /// Policies that a rule is compared with: those that existed when kernels were divided.
    pub existing: Vec<String>,
    /// Families from which a rule may be made, with their kernels.
    pub making: BTreeMap<String, Vec<String>>,
    /// Families by which it is judged, with their kernels.
    pub judged: BTreeMap<String, Vec<String>>,
}

impl Kernels {
    /// Returns the division built into the program.
    #[must_use]
    pub fn built_in() -> Self {
        // A test parses the file, so the default is unreachable.
        toml::from_str(mias_plans::DECISIONS_KERNELS).unwrap_or_default()
    }

    /// Returns the families of a set, with their kernels.
    #[must_use]
    pub fn families(&self, set: Set) -> &BTreeMap<String, Vec<String>> {
        match set {
            Set::Making => &self.making,
            Set::Judged => &self.judged,
        }
    }

    /// Returns the set of all these kernels, independent of inputs; `None` if they belong to both
    /// sets, or are unknown.
    #[must_use]
    pub fn set_of(&self, kernels: &[String]) -> Option<Set> {
        let has = |set: Set, kernel: &String| self.families(set).values().flatten().any(|known| known == family(kernel));
        [Set::Making, Set::Judged].into_iter().find(|&set| !kernels.is_empty() && kernels.iter().all(|kernel| has(set, kernel)))
    }
}
