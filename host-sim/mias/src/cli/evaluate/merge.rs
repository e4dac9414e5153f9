//! `mias evaluate --merge` and `--status`: finished and missing runs of the shards in a folder.

use super::super::{CliError, custom_policy, interrupt};
use super::{Task, report};
use mias_lab::evaluate::execute;
use mias_lab::evaluate::findings::Runs;
use mias_lab::evaluate::shard::Shard;
use mias_lab::evaluate::shard::cost;
use mias_lab::evaluate::shard::deal::{Share, deal};
use mias_lab::evaluate::shard::log::last_lines;
use mias_lab::evaluate::store::{Note, Store};
use mias_lab::evaluate::study::{Job, Studies};
use mias_lab::experiment::gpu_runner::RunError;
use mias_lab::output::Output;
use std::collections::{BTreeMap, BTreeSet};

/// A started shard: number of missing runs, number of all runs, and the end of its log.
type Begun = (Shard, usize, usize, Option<String>);

/// Runs of a plan that a folder has.
struct Found<'p> {
    store: Store,
    /// Studies without the runs that depend on isolated runs.
    dealt: Studies<'p>,
    /// Studies with those dependent runs that are known.
    studies: Studies<'p>,
    /// Keys of missing runs.
    missing: BTreeSet<String>,
    /// Number of dependent runs that are not known yet, because isolated runs are missing.
    unknown: usize,
}

fn find<'p>(task: &Task<'p>) -> Result<Found<'p>, CliError> {
    let (store, _) = Store::existing(&task.folder)?;
    store.check_shared(&Note::of(task.plan))?;
    custom_policy::check_build(task.policies, &store)?;
    let dealt = Studies::of(task.plan, &task.traces(&interrupt::catch()?)?)?;
    let mut studies = dealt.clone();
    let runs = Runs::load(&studies, &store);
    studies.add_waiting(&|study, group, policy| runs.ran(study, group, policy))?;
    let missing = execute::missing(studies.jobs.values(), &store).iter().map(|job| job.identity.key()).collect();
    let unknown = dealt.unknown_waiting(&dealt.waiting().into_values().flatten().collect(), &runs);
    Ok(Found { store, dealt, studies, missing, unknown })
}

impl Found<'_> {
    fn jobs(&self) -> impl Iterator<Item = (&String, &Job)> {
        self.studies.jobs.iter()
    }

    /// Returns the missing runs of a share, and all of its runs. A run that is not known yet counts
    /// as one.
    fn of_share(&self, share: &Share, runs: &Runs) -> Result<(usize, usize), RunError> {
        let (keys, unknown) = share.all_keys(&self.dealt, runs)?;
        Ok((keys.iter().filter(|key| self.missing.contains(*key)).count() + unknown, keys.len() + unknown))
    }

    /// Returns the started shards, according to their logs.
    fn shards(&self) -> Result<Vec<Begun>, RunError> {
        let mut logs: BTreeMap<Shard, String> = last_lines(&self.store);
        let numbers: BTreeSet<u32> = logs.keys().map(|shard| shard.of()).collect();
        let runs = Runs::load(&self.dealt, &self.store);
        let mut rows = Vec::new();
        for of in numbers {
            for (shard, share) in Shard::all(of).zip(deal(&self.dealt, of)) {
                let (missing, all) = self.of_share(&share, &runs)?;
                rows.push((shard, missing, all, logs.remove(&shard)));
            }
        }
        Ok(rows)
    }

    /// Returns the summary of missing runs, in words.
    fn summary(&self) -> String {
        let (missing, all, folder) = (self.missing.len(), self.studies.jobs.len(), self.store.folder().display());
        if (missing, self.unknown) == (0, 0) {
            return format!("all {all} runs are in {folder}");
        }
        let of_waiting = match self.unknown {
            0 => String::new(),
            unknown => {
                let policies = self.dealt.names_of_waiting();
                format!(", and at most {unknown} of {policies}, determined after the isolated runs")
            }
        };
        format!("{missing} of {all} runs are missing in {folder}{of_waiting}")
    }
}

pub(super) fn merge(task: &Task<'_>) -> Result<(), CliError> {
    let found = find(task)?;
    if found.missing.is_empty() && found.unknown == 0 {
        return report(task.plan, &found.studies, &found.store);
    }
    let missing = found.jobs().filter(|(key, _)| found.missing.contains(*key));
    let lines: String = missing.map(|(key, job)| format!("{key} {}\n", job.identity.describe())).collect();
    Output::open(None)?.write(&lines)?;
    let shards: Vec<String> =
        found.shards()?.iter().filter(|(_, missing, ..)| *missing > 0).map(|(shard, ..)| format!("--shard {shard}")).collect();
    let remedy = match shards.len() {
        0 => "run the shards, or `mias evaluate` without --merge".to_owned(),
        _ => format!("repeat {}", shards.join(", ")),
    };
    Err(CliError::Incomplete(format!("{}; {remedy}; existing runs are kept", found.summary())))
}

pub(super) fn status(task: &Task<'_>) -> Result<(), CliError> {
    let found = find(task)?;
    let cost = |(_, job): &(&String, &Job)| {
        let sms = found.studies.all[job.study].setting.gpu.sm.count;
        u128::from(cost::simulation_ns(job.expected_cycles(), sms))
    };
    let (left, all) = (found.jobs().filter(|(key, _)| found.missing.contains(*key)).map(|job| cost(&job)).sum::<u128>(), {
        found.jobs().map(|job| cost(&job)).sum::<u128>()
    });
    let percent = (all - left) * 100 / all.max(1);
    let mut text = format!("{}; about {percent} % of the work is done\n", found.summary());
    for (shard, missing, all, log) in found.shards()? {
        let end = match log {
            _ if missing == 0 => String::new(),
            Some(line) => format!("; last log line: {line}"),
            None => "; not started".to_owned(),
        };
        text += &format!("shard {shard}: {} of {all} runs complete{end}\n", all - missing);
    }
    Ok(Output::open(None)?.write(&text)?)
}
