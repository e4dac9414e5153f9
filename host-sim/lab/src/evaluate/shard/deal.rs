//! Assignment of runs to shards. Units of runs that share a simulation are dealt by estimated cost,
//! the longest first, each to the shard with the least cost so far. *From: Graham 1969 (LPT): the
//! longest share is at most 4/3 - 1/3N of the best there is, by these costs.*
//!
//! The result depends on the plan alone, not on finished runs, so that all machines agree on it
//! without communication.

use super::super::execute;
use super::super::findings::Runs;
use super::super::study::{Job, Place, Studies};
use super::cost;
use crate::experiment::gpu_runner::RunError;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Runs of one shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Keys of known runs.
    pub keys: BTreeSet<String>,
    /// Runs that become known after isolated runs, as those of `null`.
    pub waiting: BTreeSet<Place>,
    /// Estimated nanoseconds of one core.
    pub cost_ns: u64,
}

impl Share {
    /// Returns the keys of all runs of the share, as far as `runs` determine the dependent ones,
    /// and the number of undetermined ones. `studies` excludes those.
    ///
    /// # Errors
    /// As [`Studies::add_waiting`].
    pub fn all_keys(&self, studies: &Studies<'_>, runs: &Runs) -> Result<(BTreeSet<String>, usize), RunError> {
        let mut with_waiting = studies.clone();
        with_waiting.add_waiting_of(&self.waiting, &|study, group, policy| runs.ran(study, group, policy))?;
        let added = with_waiting.jobs.into_keys().filter(|key| !studies.jobs.contains_key(key));
        Ok((self.keys.iter().cloned().chain(added).collect(), studies.unknown_waiting(&self.waiting, runs)))
    }
}

/// Indivisible set of runs: those that go together, or the groups with a common dependent run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    keys: Vec<String>,
    waiting: Vec<Place>,
    cost_ns: u64,
}

/// Returns all units of a plan, in the order of their first key; dependent runs last.
fn units(studies: &Studies<'_>) -> Vec<Unit> {
    let (keys, jobs): (Vec<&String>, Vec<&Job>) = studies.jobs.iter().unzip();
    let sms = |study: usize| studies.all[study].setting.gpu.sm.count;
    let known = execute::units(&jobs).into_iter().map(|unit| {
        let members: Vec<&Job> = unit.iter().map(|&place| jobs[place]).collect();
        let cost_ns = cost::together_ns(&members, sms(members[0].study));
        Unit { keys: unit.iter().map(|&place| keys[place].clone()).collect(), waiting: Vec::new(), cost_ns }
    });
    let mut known: Vec<Unit> = known.collect();
    known.sort_by(|a, b| a.keys.cmp(&b.keys));
    let waiting = studies.waiting().into_values().map(|waiting| {
        let (study, ..) = waiting[0];
        let cost_ns = cost::simulation_ns(studies.all[study].cycles(), sms(study));
        Unit { keys: Vec::new(), waiting, cost_ns }
    });
    known.into_iter().chain(waiting).collect()
}

/// Returns the shares of `shards` shards, in their order, before dependent runs are added. A share
/// may be empty.
pub fn deal(studies: &Studies<'_>, shards: u32) -> Vec<Share> {
    let mut units = units(studies);
    // The sort is stable: units of equal cost stay in the plan's order.
    units.sort_by_key(|unit| Reverse(unit.cost_ns));
    let mut shares = vec![Share::default(); shards as usize];
    for unit in units {
        let Some(share) = shares.iter_mut().min_by_key(|share| share.cost_ns) else { break };
        share.keys.extend(unit.keys);
        share.waiting.extend(unit.waiting);
        share.cost_ns = share.cost_ns.saturating_add(unit.cost_ns);
    }
    shares
}
