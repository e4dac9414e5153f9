//! `mias evaluate --emit ENGINE`: number of shards, their time limits, and the scripts that run
//! them.

use super::super::{CliError, interrupt, say};
use super::scripts::{Engine, Sizes};
use super::{DOCUMENTS, Form, Task, before_any_run};
use bytesize::ByteSize;
use mias_lab::evaluate::plan;
use mias_lab::evaluate::shard::deal::deal;
use mias_lab::evaluate::store::{Note, Store};
use mias_lab::evaluate::study::Studies;
use mias_lab::output::Output;
use std::path::Path;

/// Default cores per shard (assumption: a fraction of any node).
const CORES: u16 = 4;

/// Target duration of a shard in estimated seconds (assumption: computing centers request jobs of
/// two hours to two days).
const SHARD_SECONDS: u64 = 2 * 3_600;

/// Default limit on shards. Each counts as a job, of which computing centers allow a user about a
/// thousand (assumption).
const MOST: u64 = 200;

/// Memory for traces (assumption; the seven kernels of the thesis take less).
const TRACES: ByteSize = ByteSize::gib(1);

/// Memory in addition to the traces, once and for each worker (assumption: `thesis` with two
/// workers takes 383 MB in all, docs/results/thesis.md).
const PROGRAM: ByteSize = ByteSize::gib(1);
const WORKER: ByteSize = ByteSize::mib(256);

/// Returns three times the estimated seconds in hours, plus one hour (assumption: machines differ,
/// and kernels are executed first).
fn limit_hours(seconds: u64) -> u64 {
    (3 * seconds).div_ceil(3_600) + 1
}

pub(super) fn main(task: &Task<'_>, engine: Engine) -> Result<(), CliError> {
    let note = Note::of(task.plan);
    let store = Store::open(&task.folder, &note)?;
    let cancel = interrupt::catch()?;
    let failed = |error: CliError| before_any_run(error, Some(&store));
    let traces = task.traces(&cancel).map_err(failed)?;
    let studies = Studies::of(task.plan, &traces).map_err(|error| failed(error.into()))?;
    if store.is_of_earlier_text() {
        say::note(format_args!(
            "note: {} was started with another version of the plan or another --set; runs that are still needed are kept",
            task.folder.display()
        ));
        store.renew(&note, &DOCUMENTS)?;
    }
    let cores = task.args.jobs.unwrap_or(CORES);
    let seconds = |cost_ns: u64| cost_ns / 1_000_000_000 / u64::from(cores);
    let total = deal(&studies, 1)[0].cost_ns;
    let shards = task.args.part.shards.unwrap_or_else(|| seconds(total).div_ceil(SHARD_SECONDS).clamp(1, MOST) as u32);
    let longest = deal(&studies, shards).iter().map(|share| share.cost_ns).max().unwrap_or(0);
    let memory = task.args.traces.memory.unwrap_or(TRACES);
    let sizes = Sizes {
        shards,
        cores,
        hours: limit_hours(seconds(longest)),
        memory_mib: (memory + PROGRAM + ByteSize(WORKER.0 * u64::from(cores))).0.div_ceil(1 << 20),
    };
    let command = command(task, memory)?;
    for (name, text) in engine.scripts(&task.plan.name, &command, &sizes) {
        store.put_in(engine.folder(), name, &text)?;
    }
    let submit = std::path::absolute(task.folder.join(engine.folder()).join("submit.sh")).map_err(CliError::internal)?;
    let text = format!(
        "{} runs, about {:.2} core-hours; shards: {shards}, cores of each: {cores}, hours of the longest: about {:.2}\n{}\n",
        studies.jobs.len(),
        total as f64 / 3.6e12,
        seconds(longest) as f64 / 3_600.0,
        engine.how_to_submit(&submit.display().to_string()),
    );
    Ok(Output::open(None)?.write(&text)?)
}

/// Returns the command of every script, except the options of its part. It does not depend on where
/// it runs.
fn command(task: &Task<'_>, memory: ByteSize) -> Result<Vec<String>, CliError> {
    let path = |path: &Path| {
        let path = std::path::absolute(path).map_err(CliError::internal)?;
        path.into_os_string()
            .into_string()
            .map_err(|path| CliError::User(format!("{} is not UTF-8, which scripts require", path.display())))
    };
    let (name, quick) = match task.form {
        Form::As(name) => (name, false),
        Form::Quick(name) => (name, true),
    };
    let program = std::env::current_exe().map_err(CliError::internal)?;
    let name = if plan::names().contains(&name) { name.to_owned() } else { path(Path::new(name))? };
    let mut words = vec![path(&program)?, "evaluate".into(), name, "--out".into(), path(&task.folder)?];
    words.extend(quick.then(|| "--quick".into()));
    words.extend(task.args.set.iter().map(|word| format!("--set={word}")));
    words.extend(task.args.traces.no_cache.then(|| "--no-cache".into()));
    match task.args.traces.check {
        // Whole grids are checked, regardless of their memory.
        true => words.push("--check".into()),
        false => words.extend(["--memory".into(), memory.0.to_string()]),
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_limit_has_room() {
        assert_eq!((limit_hours(0), limit_hours(1), limit_hours(SHARD_SECONDS)), (1, 2, 7));
    }
}
