//! What is read of `results.json` (docs/results-format.md).

use serde::Deserialize;

use super::Regret;

/// The document.
#[derive(Deserialize)]
pub(super) struct Results {
    pub(super) studies: Vec<Study>,
}

/// An experiment in one setting.
#[derive(Deserialize)]
pub(super) struct Study {
    pub(super) groups: Vec<Group>,
}

/// Kernels together.
#[derive(Deserialize)]
pub(super) struct Group {
    pub(super) kernels: Vec<String>,
    configurations: Vec<Configuration>,
    policies: Vec<Policy>,
}

/// A static run.
#[derive(Deserialize)]
struct Configuration {
    config: Vec<u32>,
    speedup: Option<f64>,
    stp: Option<f64>,
}

/// A policy's run.
#[derive(Deserialize)]
struct Policy {
    policy: String,
    regret: Objectives,
    ranking: Option<Ranking>,
}

#[derive(Deserialize)]
struct Objectives {
    s: Option<f64>,
    stp: Option<f64>,
}

#[derive(Deserialize)]
struct Ranking {
    scores: Vec<(Vec<u32>, f64)>,
}

impl Group {
    fn policy(&self, name: &str) -> Option<&Policy> {
        self.policies.iter().find(|policy| policy.policy == name)
    }

    /// What a policy's choice lost.
    pub(super) fn regret_of_policy(&self, name: &str) -> Option<Regret> {
        let regret = &self.policy(name)?.regret;
        Some(Regret { s: regret.s?, stp: regret.stp? })
    }

    /// A policy's configurations and scores, in the order of its decision.
    pub(super) fn scores(&self, name: &str) -> Option<&[(Vec<u32>, f64)]> {
        Some(&self.policy(name)?.ranking.as_ref()?.scores)
    }

    /// The same without one of a policy's scores.
    #[cfg(test)]
    pub(super) fn forget_score(&mut self, name: &str, at: usize) {
        let ranking = self.policies.iter_mut().find(|policy| policy.policy == name).and_then(|policy| policy.ranking.as_mut());
        ranking.unwrap().scores.remove(at);
    }

    /// What choosing this configuration would lose; none if it was not run statically.
    pub(super) fn regret_of_config(&self, config: &[u32]) -> Option<Regret> {
        let chosen = self.configurations.iter().find(|point| point.config == config)?;
        let best = |of: fn(&Configuration) -> Option<f64>| self.configurations.iter().filter_map(of).fold(f64::MIN, f64::max);
        let lost = |of: fn(&Configuration) -> Option<f64>| Some(1.0 - of(chosen)? / best(of));
        Some(Regret { s: lost(|point| point.speedup)?, stp: lost(|point| point.stp)? })
    }
}
