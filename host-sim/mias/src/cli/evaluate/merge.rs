//! `mias evaluate --merge` and `--status`: what shards have left in a folder, and what they have not.

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

/// A shard that has begun: its runs that are missing, all of them, and the end of its log.
type Begun = (Shard, usize, usize, Option<String>);

/// What a folder has of a plan.
struct Found<'p> {
    store: Store,
    /// Without runs that wait for kernels alone.
    dealt: Studies<'p>,
    /// With those of them that are known.
    studies: Studies<'p>,
    /// Keys of runs that are not there.
    missing: BTreeSet<String>,
    /// Such runs of which it is not known what they are: runs alone are missing.
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

    /// Runs of a share that are missing, and all of it; one of which nothing is known is one, too.
    fn of_share(&self, share: &Share, runs: &Runs) -> Result<(usize, usize), RunError> {
        let (keys, unknown) = share.all_keys(&self.dealt, runs)?;
        Ok((keys.iter().filter(|key| self.missing.contains(*key)).count() + unknown, keys.len() + unknown))
    }

    /// Shards that have begun, by what their logs say.
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

    /// Whether runs are missing, and how many, in words.
    fn summary(&self) -> String {
        let (missing, all, folder) = (self.missing.len(), self.studies.jobs.len(), self.store.folder().display());
        if (missing, self.unknown) == (0, 0) {
            return format!("all {all} runs are in {folder}");
        }
        let of_waiting = match self.unknown {
            0 => String::new(),
            unknown => {
                let policies = self.dealt.names_of_waiting();
                format!(", and at most {unknown} of {policies}, which are known once the kernels have run alone")
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
        _ => format!("run again {}", shards.join(", ")),
    };
    Err(CliError::Incomplete(format!("{}; {remedy}; what is there stays", found.summary())))
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
            Some(line) => format!("; its log ends: {line}"),
            None => "; it has not begun".to_owned(),
        };
        text += &format!("shard {shard}: {} of {all} runs are there{end}\n", all - missing);
    }
    Ok(Output::open(None)?.write(&text)?)
}
