//! `mias evaluate --shard I/N`: runs a share of the evaluation in a folder that other shards use at
//! the same time.

use super::super::{CliError, custom_policy, interrupt, say};
use super::bar::Bar;
use super::{Task, ended, runners};
use mias_lab::evaluate::execute;
use mias_lab::evaluate::record::MODEL;
use mias_lab::evaluate::shard::Shard;
use mias_lab::evaluate::shard::deal::deal;
use mias_lab::evaluate::shard::log::Log;
use mias_lab::evaluate::shard::work::work;
use mias_lab::evaluate::store::{Note, Store};
use mias_lab::evaluate::study::Studies;
use std::time::Instant;

pub(super) fn main(task: &Task<'_>, shard: Shard) -> Result<(), CliError> {
    let store = Store::join(&task.folder, &Note::of(task.plan))?;
    let log = Log::open(&store, shard, &who())?;
    log.line(&format!("starting shard {shard} of `{}`, {MODEL}, {} workers", task.plan.name, rayon::current_num_threads()));
    let result = run(task, shard, &store, &log);
    match &result {
        Ok(said) => {
            log.line(&format!("ended: {said}"));
            say::note(said);
        }
        // A label such as `error` is part of the text.
        Err(error) => log.line(&error.to_string()),
    }
    result.map(drop)
}

/// Executes the missing runs of the share and returns the closing message.
fn run(task: &Task<'_>, shard: Shard, store: &Store, log: &Log) -> Result<String, CliError> {
    let begun = Instant::now();
    custom_policy::check_build(task.policies, store)?;
    let cancel = interrupt::catch()?;
    let traces = task.traces(&cancel)?;
    let mut studies = Studies::of(task.plan, &traces)?;
    let share = deal(&studies, shard.of()).swap_remove(shard.place());
    let all = share.keys.len();
    let missing = execute::missing(share.keys.iter().filter_map(|key| studies.jobs.get(key)), store);
    log.line(&format!("{} kernels loaded; {} of {all} runs are missing", traces.len(), missing.len()));
    let bar = Bar::new(&missing, all, cancel.clone()).logged(log);
    let runner = runners(&cancel);
    let result = work(&share, &mut studies, store, &runner, &cancel, &bar);
    bar.clear();
    let there = || format!("completed runs are stored in {}; the same command resumes from there", store.folder().display());
    let done = ended(result, &there)?;
    // Another plan may have claimed the folder meanwhile. Its runs are then present but unused.
    store.check_shared(&Note::of(task.plan))?;
    custom_policy::check_build(task.policies, store)?;
    Ok(format!("shard {shard}: {done} runs simulated in {:.0} s, the others of its share were stored", begun.elapsed().as_secs_f64()))
}

/// Returns the names of this machine and process.
fn who() -> String {
    let host = sysinfo::System::host_name().unwrap_or_else(|| "unknown".into());
    format!("{host} {}", std::process::id())
}
