//! Runs of a folder, and the outcomes derived from them.

use crate::evaluate::record::Kept;
use crate::evaluate::store::{Store, StoreError};
use crate::evaluate::study::{GroupPlan, Origin, Studies, Study};
use crate::experiment::compare::{Alone, Ran};
use crate::experiment::gpu_runner::Outcome;
use crate::experiment::policy::{Control, Policy};
use crate::experiment::rate::estimated_ipc;
use crate::intervals::Estimated;
use std::collections::BTreeMap;

/// Runs of a folder, loaded once.
#[derive(Debug, Default)]
pub struct Runs(BTreeMap<String, Kept>);

impl Runs {
    /// Loads the runs of `studies` that `store` has.
    pub fn load(studies: &Studies<'_>, store: &Store) -> Self {
        Runs::of(studies, store, studies.jobs.keys())
    }

    /// Loads the runs of `studies` with these keys that `store` has.
    pub fn of<'k>(studies: &Studies<'_>, store: &Store, keys: impl Iterator<Item = &'k String>) -> Self {
        Runs(keys.filter_map(|key| Some((key.clone(), store.load(&studies.jobs.get(key)?.identity)?))).collect())
    }

    /// Returns whether the run is loaded.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn get(&self, key: &str) -> Result<&Kept, StoreError> {
        self.0.get(key).ok_or_else(|| StoreError(format!("the run {key} is no longer in the folder; repeat the command")))
    }

    /// Returns the run of a policy that depends on isolated runs, and the control for its outcome;
    /// `None` if a run is missing.
    pub fn ran(&self, study: &Study<'_>, group: &GroupPlan, policy: Policy) -> Option<(Control, Ran)> {
        let isolated = group.alone.iter().map(|key| Some(self.get(key).ok()?.outcome())).collect::<Option<Vec<Outcome>>>()?;
        let alone = Alone { isolated: isolated.iter().collect(), max_tbs: &group.max_tbs, options: study.setting.options };
        Some((alone.control_of(policy), alone.ran(policy)))
    }

    pub(super) fn isolated(&self, study: &Study<'_>, group: &GroupPlan) -> Result<Vec<Estimated>, StoreError> {
        group.alone.iter().map(|key| Ok(estimated_ipc(&self.get(key)?.outcome(), 0, study.setting.options))).collect()
    }

    /// Returns the outcome of a control in a group.
    pub(super) fn outcome(&self, study: &Study<'_>, group: &GroupPlan, origin: &Origin) -> Result<Kept, StoreError> {
        let kept = self.get(&origin.key)?;
        let derived = || kept.with_idle_kernels(group.names.len(), group.max_tbs[0], study.setting.gpu.sm.count);
        Ok(if origin.derived { derived() } else { kept.clone() })
    }
}
