//! Shards on a machine with closed-form results: for any number and order, the folder equals that
//! of one local run.

use super::super::closed_form_gpu::{Closed, traces};
use super::super::execute::{ExecuteError, Watch, missing};
use super::super::findings::{Runs, findings};
use super::super::plan::{self, Plan};
use super::super::results::Evaluation;
use super::super::store::{Note, Store};
use super::super::study::{Job, Studies};
use super::super::tests::{RUNS, run as run_local};
use super::deal::{Share, deal};
use super::log::{Log, last_lines};
use super::work::work;
use super::{Shard, cost};
use crate::cancel::Cancel;
use crate::experiment::gpu_runner::{GpuRunner, Outcome, Run, RunError};
use crate::experiment::policies::Policies;
use crate::experiment::workload::Workload;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

struct Unwatched;

impl Watch for Unwatched {
    fn cycles(&self, _: &Job, _: u64) {}
    fn finished(&self, _: &Job) {}
}

fn plan() -> Plan {
    let text = include_str!("../../../tests/data/pairs.toml").replace("\"null\"", "\"null\", \"sequential\"");
    plan::parse("pairs.toml", &text, &Policies::default()).unwrap()
}

/// Executes a shard, or at most `most` of its runs; returns the executed runs.
fn shard(folder: &Path, shard: Shard, most: usize) -> (Vec<String>, Result<usize, ExecuteError>) {
    let (plan, traces) = (plan(), traces());
    let store = Store::join(folder, &Note::of(&plan)).unwrap();
    let mut studies = Studies::of(&plan, &traces).unwrap();
    let (runs, cancel): (Arc<Mutex<Vec<String>>>, Cancel) = Default::default();
    let closed = |_: &Job| -> Box<dyn GpuRunner> { Box::new(Closed { runs: runs.clone(), most, cancel: cancel.clone() }) };
    let share = deal(&studies, shard.of()).swap_remove(shard.place());
    let done = work(&share, &mut studies, &store, &closed, &cancel, &Unwatched);
    (Arc::into_inner(runs).unwrap().into_inner().unwrap(), done)
}

/// Returns the results of the folder's runs; `None` if one is missing.
fn merged(folder: &Path) -> Option<Evaluation> {
    let (plan, traces) = (plan(), traces());
    let store = Store::join(folder, &Note::of(&plan)).unwrap();
    let mut studies = Studies::of(&plan, &traces).unwrap();
    let alone = Runs::load(&studies, &store);
    studies.add_waiting(&|study, group, policy| alone.ran(study, group, policy)).unwrap();
    missing(studies.jobs.values(), &store).is_empty().then(|| findings(&plan, &studies, &Runs::load(&studies, &store)).unwrap())
}

/// Returns every file of a folder's runs.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())).collect()
}

/// Returns the results and files of a local run.
fn local() -> (Evaluation, BTreeMap<String, Vec<u8>>) {
    let folder = tempfile::tempdir().unwrap();
    (run_local(folder.path(), 2, usize::MAX).1.unwrap(), files(folder.path()))
}

#[test]
fn every_run_belongs_to_one_shard_and_those_that_go_together_to_the_same() {
    let (plan, traces) = (plan(), traces());
    let studies = Studies::of(&plan, &traces).unwrap();
    for shards in 1..=20 {
        let shares = deal(&studies, shards);
        assert_eq!(shares.len(), shards as usize);
        let keys: Vec<&String> = shares.iter().flat_map(|share| &share.keys).collect();
        assert_eq!(keys.len(), studies.jobs.len());
        assert_eq!(keys.into_iter().collect::<BTreeSet<_>>(), studies.jobs.keys().collect());
        assert!(
            shares.iter().all(|share| share.all_keys(&studies, &Runs::default()).unwrap() == (share.keys.clone(), share.waiting.len()))
        );
        let nulls: Vec<_> = shares.iter().flat_map(|share| &share.waiting).collect();
        assert_eq!((nulls.len(), studies.most_waiting()), (3, 3), "each pair has a run of null");
        for kernels in [["fwt:4096", "mm:64"], ["fwt:4096", "bopt:8"], ["mm:64", "bopt:8"]] {
            let measures = |job: &&Job| job.identity.kernels == kernels && job.identity.control.starts_with("mias-");
            let of = |share: &Share| share.keys.iter().filter_map(|key| studies.jobs.get(key)).filter(measures).count();
            let counts: BTreeSet<usize> = shares.iter().map(of).collect();
            assert!(counts.is_subset(&BTreeSet::from([0, 2])), "{counts:?}: mias-ipc and mias-factor share a simulation");
        }
        assert_eq!(deal(&studies, shards), shares, "all machines agree");
    }
}

/// Graham's bound for any list: no shard has more than an even share plus one unit. The largest
/// unit here is two runs that go together.
#[test]
fn shares_are_even_but_for_a_unit() {
    let (plan, traces) = (plan(), traces());
    let studies = Studies::of(&plan, &traces).unwrap();
    let all: Vec<&Job> = studies.jobs.values().filter(|job| job.identity.control.starts_with("mias-")).take(2).collect();
    let largest = cost::together_ns(&all, studies.all[0].setting.gpu.sm.count);
    let total: u64 = deal(&studies, 1)[0].cost_ns;
    for shards in 2..=8 {
        let most = deal(&studies, shards).iter().map(|share| share.cost_ns).max().unwrap();
        assert!(most <= total / u64::from(shards) + largest, "{shards} shards: {most} of {total}");
    }
}

/// In sequence, no run is executed twice. The first shard with a run of null executes the isolated
/// runs that it needs.
#[test]
fn shards_find_what_others_have_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut runs = Vec::new();
    for one in Shard::all(3) {
        assert_eq!(merged(folder.path()), None, "not all is there before {one}");
        runs.extend(shard(folder.path(), one, usize::MAX).0);
    }
    let different: BTreeSet<&String> = runs.iter().collect();
    assert_eq!((runs.len(), different.len()), (RUNS, RUNS), "{runs:#?}");
    assert_eq!(merged(folder.path()), Some(local().0));
}

/// All shards run at the same time, each twice, without disturbing each other.
#[test]
fn shards_at_the_same_time_are_in_nobodys_way() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("not/there/yet");
    std::thread::scope(|scope| {
        for one in Shard::all(3).chain(Shard::all(3)) {
            let out = &out;
            scope.spawn(move || shard(out, one, usize::MAX).1.unwrap());
        }
    });
    assert_eq!((merged(&out), files(&out)), (Some(local().0), local().1));
}

/// A failed run does not prevent others, and its shard fails.
#[test]
fn a_run_that_fails_fails_its_shard_and_nothing_else() {
    struct Failing(Closed);
    impl GpuRunner for Failing {
        fn max_tbs(&self, workload: &Workload) -> Result<u32, RunError> {
            self.0.max_tbs(workload)
        }
        fn configurations(&self, workloads: &[&Workload]) -> Result<Vec<Vec<u32>>, RunError> {
            self.0.configurations(workloads)
        }
        fn run(&self, run: &Run<'_>, progress: &(dyn Fn(u64) + Sync)) -> Result<Outcome, RunError> {
            match run.workloads[..] {
                [one] if one.name == "mm:64" => Err(RunError::Stuck("as asked".into())),
                _ => self.0.run(run, progress),
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (plan, traces) = (plan(), traces());
    let store = Store::join(folder.path(), &Note::of(&plan)).unwrap();
    let mut studies = Studies::of(&plan, &traces).unwrap();
    let closed = || Closed { runs: Arc::default(), most: usize::MAX, cancel: Cancel::default() };
    let runner = |_: &Job| -> Box<dyn GpuRunner> { Box::new(Failing(closed())) };
    let share = deal(&studies, 1).remove(0);
    let failed = work(&share, &mut studies, &store, &runner, &Cancel::default(), &Unwatched);
    assert_eq!(failed, Err(ExecuteError::Run(RunError::Stuck("as asked".into()))));
    // Without it, the run of null for one pair stays undetermined; that of the other pair exists.
    assert_eq!((files(folder.path()).len(), merged(folder.path())), (RUNS - 1 - 1, None));
    let again: Shard = "1/1".parse().unwrap();
    assert_eq!(shard(folder.path(), again, usize::MAX).1, Ok(2));
    assert_eq!(merged(folder.path()), Some(local().0));
}

/// With more machines than units, those without work finish at once.
#[test]
fn a_shard_may_have_nothing_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let last = Shard::all(100).last().unwrap();
    assert_eq!(shard(folder.path(), last, 0), (Vec::new(), Ok(0)));
}

#[test]
fn a_log_is_written_on_by_whoever_runs_the_shard() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::join(folder.path(), &Note::of(&plan())).unwrap();
    let shards: Vec<Shard> = Shard::all(12).collect();
    assert!(last_lines(&store).is_empty());
    Log::open(&store, shards[1], "here 7").unwrap().line("one");
    Log::open(&store, shards[1], "there 8").unwrap().line("two\nlines");
    Log::open(&store, shards[10], "here 9").unwrap().line("ended");
    let last = last_lines(&store);
    assert_eq!(last.keys().copied().collect::<Vec<_>>(), [shards[1], shards[10]], "in the order of numbers, not of names");
    assert!(last[&shards[1]].starts_with("there 8 ") && last[&shards[1]].ends_with(" s  two lines"), "{last:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("logs/2-of-12.log")).unwrap().lines().count(), 2);
    // A folder with logs and no run counts as new.
    Store::open(folder.path(), &Note { plan: "other".into(), ..Note::of(&plan()) }).unwrap();
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` leaves out.
mod slow {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        /// Shards in any order, some repeated, some interrupted before, and some of another total
        /// number, give the files of one local run.
        #[test]
        fn any_shards_give_the_bytes_of_one_local_run(
            of in 1u32..6,
            order in Just((1..=12).collect::<Vec<u32>>()).prop_shuffle(),
            killed_after in 0usize..6,
            other in 1u32..4,
        ) {
            let (whole, whole_files) = local();
            let folder = tempfile::tempdir().unwrap();
            let named = |number: u32, of: u32| format!("{number}/{of}").parse::<Shard>().unwrap();
            let (_, stopped) = shard(folder.path(), named(1, of), killed_after);
            prop_assert!(matches!(stopped, Ok(_) | Err(ExecuteError::Run(RunError::Interrupted))));
            shard(folder.path(), named(other, 4), usize::MAX).1.unwrap();
            // Each number occurs at least twice.
            for number in order {
                shard(folder.path(), named(number % of + 1, of), usize::MAX).1.unwrap();
            }
            prop_assert_eq!(merged(folder.path()), Some(whole));
            prop_assert_eq!(files(folder.path()), whole_files);
            prop_assert_eq!(shard(folder.path(), named(1, of), 0).1, Ok(0), "nothing is left to do");
        }
    }
}
