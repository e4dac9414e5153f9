//! Which kernels a rule may be made from and which it is judged by: what plans/decisions/kernels.toml says (sources.md D192).

use crate::evaluate::names::family;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What kernels are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// A rule may be made from them.
    Making,
    /// A rule is judged by them.
    Judged,
}

impl Set {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Set::Making => "kernels that a rule may be made from",
            Set::Judged => "judged kernels",
        }
    }
}

/// The file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernels {
    /// Of the stream that families and mixes are drawn from.
    pub seed: u64,
    /// Names of the policies that a rule is held against: those that there were when kernels were divided.
    pub existing: Vec<String>,
    /// Families that a rule may be made from, and their kernels.
    pub making: BTreeMap<String, Vec<String>>,
    /// Families that it is judged by.
    pub judged: BTreeMap<String, Vec<String>>,
}

impl Kernels {
    /// What the program has with it.
    #[must_use]
    pub fn built_in() -> Self {
        // A test reads it.
        toml::from_str(mias_plans::DECISIONS_KERNELS).unwrap_or_default()
    }

    /// The families of a set, and their kernels.
    #[must_use]
    pub fn families(&self, set: Set) -> &BTreeMap<String, Vec<String>> {
        match set {
            Set::Making => &self.making,
            Set::Judged => &self.judged,
        }
    }

    /// The set that all of these kernels are in, whatever their inputs; none if they are of both, or unknown.
    #[must_use]
    pub fn set_of(&self, kernels: &[String]) -> Option<Set> {
        let has = |set: Set, kernel: &String| self.families(set).values().flatten().any(|known| known == family(kernel));
        [Set::Making, Set::Judged].into_iter().find(|&set| !kernels.is_empty() && kernels.iter().all(|kernel| has(set, kernel)))
    }
}
