//! Results of isolated runs: rate over time, and by TBs per SM.

use super::quantities::{issue_slots, joules, simulated_cycles};
use super::runs::Runs;
use crate::evaluate::record::Kept;
use crate::evaluate::results::AloneResult;
use crate::evaluate::store::StoreError;
use crate::evaluate::study::GroupPlan;
use crate::experiment::gpu_runner::Options;
use crate::experiment::policy::{Control, IpcUnit};
use crate::experiment::rate::{estimated_ipc, ipc};
use crate::experiment::recorded::name_of;
use crate::metrics::ratio;

/// Returns the results of an isolated run.
pub(super) fn alone(key: &str, max_tbs: u32, kept: &Kept, options: Options, name: &str, trace_hash: &str) -> AloneResult {
    let mut curve = Vec::new();
    let mut before = (0, 0);
    for sample in &kept.samples {
        let (warp, thread) = sample.insts.first().copied().unwrap_or_default();
        let insts = if options.ipc == IpcUnit::Warp { warp } else { thread };
        curve.push((sample.cycle, ratio(insts - before.1, sample.cycle - before.0).unwrap_or_default()));
        before = (sample.cycle, insts);
    }
    let known = estimated_ipc(&kept.outcome(), 0, options);
    AloneResult {
        name: name_of(name).to_owned(),
        trace_hash: trace_hash.to_owned(),
        arrival_cycle: 0,
        run: key.to_owned(),
        max_tbs,
        ipc: known.value,
        ipc_half_width: kept.estimate.is_some().then_some(known.half_width),
        simulated_cycles: simulated_cycles(kept),
        cycles: kept.cycles,
        issue_slots: issue_slots(kept),
        energy_joules: joules(kept),
        energy: None,
        curve,
        scalability: Vec::new(),
        memory: None,
        asks: None,
        off_sm: None,
        used: None,
        oversubscription: kept.oversubscription.first().copied(),
        series: None,
    }
}

/// Returns the IPC of an isolated kernel by its TBs per SM.
pub(super) fn scalability(group: &GroupPlan, runs: &Runs, options: Options) -> Result<Vec<(u32, f64)>, StoreError> {
    let key = |tbs: u32| group.runs.get(&Control::Fixed(vec![tbs])).map_or(&group.alone[0], |origin| &origin.key);
    (1..=group.max_tbs[0]).map(|tbs| Ok((tbs, ipc(&runs.get(key(tbs))?.outcome(), 0, options)))).collect()
}
