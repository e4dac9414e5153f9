//! Derives results from the runs of a folder: judged as in `mias compare`
//! ([`judge`](crate::experiment::judge)), plus statistics over groups.

mod alone;
mod group;
mod orders;
mod quantities;
mod ranking;
mod runs;

pub use runs::Runs;

use super::energy::EnergyResult;
use super::memory::{MemoryDemand, MemoryResult, SeriesResult};
use super::off_sm::OffSm;
use super::plan::Plan;
use super::queue::{self, QueueResult};
use super::record::Kept;
use super::requests::{self, RequestsResult};
use super::results::{AloneResult, Evaluation, PlanNote, SCHEMA_VERSION, StudyResult};
use super::store::{Note, StoreError};
use super::study::{Studies, Study};
use super::summary;
use super::used::Used;
use crate::choice::Choice;
use crate::experiment::gpu_runner::End;
use crate::experiment::levels::Levels;
use crate::experiment::policy::{Control, Counted};
use crate::experiment::recorded::name_of;
use crate::fingerprint;
use alone::{alone, scalability};
use quantities::joules;

use orders::compare_orders;

/// Derives all results of a plan.
///
/// # Errors
/// [`StoreError`] if a run is missing.
pub fn findings(plan: &Plan, studies: &Studies<'_>, runs: &Runs) -> Result<Evaluation, StoreError> {
    let mut results = studies.all.iter().map(|study| self::study(study, runs)).collect::<Result<Vec<_>, _>>()?;
    compare_orders(&mut results);
    for result in &mut results {
        result.summary = summary::rows(&result.groups, result.arrive > 0);
    }
    let note = Note::of(plan);
    Ok(Evaluation {
        schema_version: SCHEMA_VERSION,
        model: note.model,
        plan: PlanNote {
            name: plan.name.clone(),
            description: plan.description.clone(),
            hash: note.plan_hash,
            report: plan.report.clone(),
        },
        studies: results,
    })
}

fn study(study: &Study<'_>, runs: &Runs) -> Result<StudyResult, StoreError> {
    let (experiment, setting) = (study.experiment, study.setting);
    let options = setting.options;
    let mut kernels: Vec<AloneResult> = Vec::new();
    for group in &study.groups {
        for (kernel, key) in group.alone.iter().enumerate() {
            if !kernels.iter().any(|known| known.run == *key) {
                let mut row = alone(key, group.max_tbs[kernel], runs.get(key)?, options, &group.names[kernel], group.hash(kernel));
                // Until done, an isolated kernel arrives at 0.
                row.arrival_cycle = if options.end == End::Done { 0 } else { group.arrivals()[kernel] };
                (row.memory, row.series) = what_it_met(study, runs.get(key)?);
                row.energy = EnergyResult::of(runs.get(key)?, row.cycles, &setting.gpu, None);
                let counts = experiment.memory && group.names.len() == 1;
                if counts {
                    let kept = runs.get(key)?;
                    let info = group.trace(kernel).info();
                    row.off_sm = Some(OffSm::of(kept, &setting.gpu));
                    row.used = Some(Used::of(kept, &setting.gpu, info, group.max_tbs[kernel]));
                }
                row.asks = counts.then(|| MemoryDemand::of(group.trace(kernel), setting.gpu.l1.line_bytes));
                kernels.push(row);
            }
        }
    }
    for group in study.groups.iter().filter(|group| experiment.scalability && group.names.len() == 1) {
        let curve = scalability(group, runs, options)?;
        kernels.iter_mut().filter(|row| row.run == group.alone[0]).for_each(|row| row.scalability.clone_from(&curve));
    }
    let place = |kernel: &AloneResult| experiment.kernels.iter().position(|(word, request)| request.name(word) == kernel.name);
    kernels.sort_by_key(|kernel| (place(kernel), kernel.arrival_cycle));
    Ok(StudyResult {
        experiment: experiment.name.clone(),
        title: experiment.title.clone(),
        setting: setting.labels.clone(),
        gpu: setting.sharing.name.clone(),
        gpu_hash: fingerprint::gpu(&setting.sharing.gpu),
        cycles: if let End::Cycles(cycles) = options.end { Some(cycles) } else { None },
        profile_cycles: options.profile_cycles,
        transition: options.transition.name(),
        latency: options.latency.name(),
        ipc_unit: options.ipc.name(),
        relaunch: options.relaunch,
        counted: (options.counted != Counted::Window).then(|| options.counted.name().to_owned()),
        share_memory: options.share_memory,
        warm_l2: options.warm_l2,
        precision: options.precision.map(|precision| precision.to_string()),
        arrive: setting.arrive,
        requests: requests(study, runs)?,
        queue: queues(study, runs)?,
        levels: (options.levels != Levels::None).then(|| options.levels.name().to_owned()),
        kernels,
        groups: match options.queue {
            None => study.groups.iter().map(|group| group::group(study, group, runs)).collect::<Result<_, _>>()?,
            // The run consists of launches, not of each kernel once.
            Some(_) => Vec::new(),
        },
        summary: Vec::new(),
    })
}

/// Returns the results of placement requests, if there were any: for each kernel, and over all.
fn requests(study: &Study<'_>, runs: &Runs) -> Result<Vec<RequestsResult>, StoreError> {
    let mut rows = Vec::new();
    for group in &study.groups {
        for origin in group.runs.values() {
            rows.extend(requests::of(name_of(&group.names[0]), &runs.get(&origin.key)?.requested));
        }
    }
    let all = requests::over_all(&rows);
    rows.extend(all);
    Ok(rows)
}

/// Returns the results of a queue of launches under each policy, if there was one.
fn queues(study: &Study<'_>, runs: &Runs) -> Result<Vec<QueueResult>, StoreError> {
    let mut rows = Vec::new();
    for group in study.groups.iter().filter(|_| study.setting.options.queue.is_some()) {
        let alone = group.alone.iter().map(|key| runs.get(key)).collect::<Result<Vec<&Kept>, _>>()?;
        let alone_cycles: Vec<u64> =
            alone.iter().map(|kept| kept.launches.first().map_or(0, |launch| launch.cycles(kept.cycles))).collect();
        for &policy in &study.experiment.policies {
            let Some(origin) = group.runs.get(&Control::Policy(policy)) else { continue };
            let kept = runs.get(&origin.key)?;
            let (kernels, makespan_cycles, energy_joules) = (&group.names[..], kept.cycles, joules(kept));
            let ran = queue::Ran {
                policy: policy.name(),
                run: &origin.key,
                kernels,
                alone_cycles: &alone_cycles,
                makespan_cycles,
                energy_joules,
            };
            rows.push(QueueResult::of(&ran, &kept.queued));
        }
    }
    Ok(rows)
}

/// Returns the memory pipeline results and the time series of a run, as far as the experiment
/// requests them.
fn what_it_met(study: &Study<'_>, kept: &Kept) -> (Option<MemoryResult>, Option<SeriesResult>) {
    let memory = study.experiment.memory.then(|| MemoryResult::of(kept));
    (memory, study.setting.options.sample_cycles.map(|cycles| SeriesResult::of(kept, cycles)))
}
