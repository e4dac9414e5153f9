//! Evaluations on a GPU with closed-form results: the set of runs, each executed once despite
//! interruptions, and results derived by hand.

use super::closed_form_gpu::{CYCLES, Closed, traces};
use super::execute::{ExecuteError, Watch, execute, missing};
use super::findings::{Runs, findings};
use super::plan::{self, Plan};
use super::record::{Kept, is_first_alone};
use super::results::{Evaluation, GroupResult, PolicyResult};
use super::store::{Note, RESULTS, Store};
use super::study::{GroupPlan, Job, Studies};
use super::summary;
use crate::cancel::Cancel;
use crate::experiment::compare::Ran;
use crate::experiment::gpu_runner::{End, GpuRunner, Options, Run, RunError};
use crate::experiment::policies::Policies;
use crate::experiment::policy::{Control, Policy};
use std::path::Path;
use std::sync::{Arc, Mutex};

mod arrivals;
mod mechanisms;

/// Three kernels of 256 threads: four TBs fill an SM.
const PLAN: &str = include_str!("../../../tests/data/pairs.toml");

fn plan() -> Plan {
    plan_with("")
}

/// Returns the plan with more parameters.
fn plan_with(parameters: &str) -> Plan {
    let text = PLAN.replace("\"null\"", "\"null\", \"sequential\"") + parameters;
    plan::parse("pairs.toml", &text, &Policies::default()).unwrap()
}

struct Unwatched;

impl Watch for Unwatched {
    fn cycles(&self, _: &Job, _: u64) {}
    fn finished(&self, _: &Job) {}
}

/// Executes at most `most` runs of the plan into `folder`; returns the executed runs in order of
/// time.
pub(super) fn run(folder: &Path, workers: usize, most: usize) -> (Vec<String>, Result<Evaluation, ExecuteError>) {
    run_plan(&plan(), folder, workers, most)
}

fn run_plan(plan: &Plan, folder: &Path, workers: usize, most: usize) -> (Vec<String>, Result<Evaluation, ExecuteError>) {
    let traces = traces();
    let store = Store::open(folder, &Note::of(plan)).unwrap();
    let runs: Arc<Mutex<Vec<String>>> = Arc::default();
    let cancel = Cancel::default();
    let closed = |_: &Job| -> Box<dyn GpuRunner> { Box::new(Closed { runs: runs.clone(), most, cancel: cancel.clone() }) };
    let mut studies = Studies::of(plan, &traces).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().unwrap();
    let result = pool.install(|| {
        execute(&missing(studies.jobs.values(), &store), &store, &closed, &cancel, &Unwatched)?;
        let alone = Runs::load(&studies, &store);
        studies.add_waiting(&|study, group, policy| alone.ran(study, group, policy)).unwrap();
        execute(&missing(studies.jobs.values(), &store), &store, &closed, &cancel, &Unwatched)?;
        Ok(findings(plan, &studies, &Runs::load(&studies, &store))?)
    });
    (Arc::into_inner(runs).unwrap().into_inner().unwrap(), result)
}

fn evaluation() -> Evaluation {
    run(tempfile::tempdir().unwrap().path(), 2, usize::MAX).1.unwrap()
}

/// Number of runs of the plan: 3 isolated kernels; 3 pairs, each with 3 configurations, spatial and
/// two measuring policies. Left-over equals an isolated run. Null does where the first kernel is
/// the fastest: in mm+bopt, not in fwt+mm and fwt+bopt. Sequential is no run.
pub(super) const RUNS: usize = 3 + 3 * (3 + 1 + 2) + 2;

#[test]
fn every_run_is_done_once() {
    let (runs, result) = run(tempfile::tempdir().unwrap().path(), 2, usize::MAX);
    result.unwrap();
    let mut different = runs.clone();
    different.sort();
    different.dedup();
    assert_eq!((runs.len(), different.len()), (RUNS, RUNS), "{runs:#?}");
    assert!(runs.iter().all(|run| !run.contains('+') || !run.contains("LeftOver")));
}

/// Runs without decisions are executed once for all decision times, and report no decision time:
/// only the two measuring policies run again.
#[test]
fn the_time_of_decisions_is_only_theirs_who_decide() {
    let plan = plan_with("latency = [\"off\", \"worst\"]\n");
    let (runs, result) = run_plan(&plan, tempfile::tempdir().unwrap().path(), 2, usize::MAX);
    assert_eq!(runs.len(), RUNS + 3 * 2, "{runs:#?}");
    let [off, worst] = &result.unwrap().studies[..] else { panic!("two settings") };
    for (study, expected) in [(off, None), (worst, Some(0))] {
        for group in &study.groups {
            assert_eq!(["left-over", "spatial", "null"].map(|name| policy(group, name).decision_cycles), [expected; 3]);
        }
    }
}

/// Before isolated runs, every pair may place its second kernel. It counts once for settings that
/// do not affect it.
#[test]
fn a_list_knows_how_many_runs_of_null_there_may_be() {
    for parameters in ["", "profile-cycles = [1_000, 2_000]\nlatency = [\"off\", \"worst\"]\n"] {
        let (plan, traces) = (plan_with(parameters), traces());
        let mut studies = Studies::of(&plan, &traces).unwrap();
        assert_eq!(studies.most_waiting(), 3);
        let before = studies.jobs.len();
        let second = |group: &GroupPlan| vec![0, group.max_tbs[1]];
        studies.add_waiting(&|_, group, _| Some((Control::Fixed(second(group)), Ran::of_config(second(group))))).unwrap();
        assert_eq!((studies.jobs.len() - before, studies.most_waiting()), (3, 0));
    }
}

#[test]
fn what_is_interrupted_goes_on() {
    let whole = evaluation();
    for most in [0, 1, 4, RUNS - 1] {
        let folder = tempfile::tempdir().unwrap();
        let (before, stopped) = run(folder.path(), 1, most);
        assert_eq!(stopped, Err(ExecuteError::Run(RunError::Interrupted)));
        let (after, result) = run(folder.path(), 2, usize::MAX);
        assert_eq!((before.len(), after.len()), (most, RUNS - most), "nothing is run twice");
        assert_eq!(result.unwrap(), whole);
        assert_eq!(run(folder.path(), 1, 0).1.unwrap(), whole, "nothing is left to do");
    }
}

#[test]
fn workers_change_no_byte() {
    let bytes = |workers| serde_json::to_string(&run(tempfile::tempdir().unwrap().path(), workers, usize::MAX).1.unwrap()).unwrap();
    let one = bytes(1);
    assert_eq!(one, bytes(4));
}

/// Returns the group of two kernels, named without their sizes.
fn group<'e>(evaluation: &'e Evaluation, kernels: [&str; 2]) -> &'e GroupResult {
    let plain = |kernel: &'e String| kernel.split(':').next();
    evaluation.studies[0].groups.iter().find(|group| group.kernels.iter().map(plain).eq(kernels.map(Some))).unwrap()
}

fn policy<'g>(group: &'g GroupResult, name: &str) -> &'g PolicyResult {
    group.policies.iter().find(|result| result.policy == name).unwrap()
}

fn close(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value - expected).abs() < 1e-9)
}

/// Isolated IPCs: fwt 4 * 30, mm 4 * 90. S = (a + b) / 240, STP = a/120 + b/360.
#[test]
fn regret_and_ranking_by_hand() {
    let evaluation = evaluation();
    let group = group(&evaluation, ["fwt", "mm"]);
    assert_eq!((group.class.as_str(), &group.isolated_ipc[..]), ("MC", &[120.0, 360.0][..]));
    assert!(close(group.s_null, 1.5));
    // a-b gives a(30 - 5b) and b(90 - 5a): 1-3 15 and 255, 2-2 40 and 160, 3-1 75 and 75.
    let s: Vec<f64> = group.configurations.iter().map(|point| point.metrics.speedup.unwrap()).collect();
    assert_eq!(s, [270.0 / 240.0, 200.0 / 240.0, 150.0 / 240.0]);
    let stp: Vec<f64> = [(15.0, 255.0), (40.0, 160.0), (75.0, 75.0)].map(|(a, b)| a / 120.0 + b / 360.0).to_vec();
    // Oracle for S 1-3, for STP 1-3 too: 0.833, 0.778, 0.833 less rounding of equal sums.
    assert_eq!(group.oracle.s.as_ref().unwrap().config, [1, 3]);
    let up = policy(group, "mias-ipc");
    assert_eq!(up.regret.s, Some(0.0), "the oracle's choice has no regret");
    let down = policy(group, "mias-factor");
    assert!(close(down.regret.s, 1.0 - 150.0 / 270.0));
    let best = stp.iter().copied().fold(0.0, f64::max);
    assert!(close(down.regret.stp, 1.0 - stp[2] / best));
    // Scores 3, 2, 1 against 270, 200, 150, and 1, 2, 3.
    let (up, down) = (up.ranking.as_ref().unwrap(), down.ranking.as_ref().unwrap());
    assert!(close(up.kendall.s, 1.0) && close(up.spearman.s, 1.0) && (up.concordant.s, up.discordant.s) == (3, 0));
    assert!(close(down.kendall.s, -1.0) && close(down.spearman.s, -1.0) && (down.concordant.s, down.discordant.s) == (0, 3));
    assert!(close(policy(group, "mias-ipc").overhead, 0.1));
}

#[test]
fn derived_runs_are_the_first_kernel_alone() {
    let evaluation = evaluation();
    for group in &evaluation.studies[0].groups {
        let left_over = policy(group, "left-over");
        assert!(left_over.derived);
        assert_eq!((&left_over.ipc[..], left_over.config.as_deref()), (&[group.isolated_ipc[0], 0.0][..], Some(&[4, 0][..])));
        let null = policy(group, "null");
        assert_eq!(null.derived, group.isolated_ipc[0] > group.isolated_ipc[1]);
        assert_eq!(null.metrics.speedup, group.s_null);
    }
}

#[test]
fn sequential_follows_from_the_runs_alone() {
    let evaluation = evaluation();
    let alone: Vec<&str> = evaluation.studies[0].kernels.iter().map(|kernel| kernel.run.as_str()).collect();
    for group in &evaluation.studies[0].groups {
        let row = policy(group, "sequential");
        assert!(row.derived && row.config.is_none() && row.makespan_cycles.is_none());
        assert!(row.run.split('+').all(|key| alone.contains(&key)), "{}", row.run);
        assert_eq!(
            (row.metrics.speedup, row.metrics.stp, row.metrics.antt, row.metrics.fairness),
            (Some(1.0), Some(1.0), Some(2.0), Some(1.0))
        );
        assert_eq!(row.ipc, group.isolated_ipc.iter().map(|ipc| ipc / 2.0).collect::<Vec<_>>());
    }
}

#[test]
fn left_over_is_derived_only_where_it_never_turns_to_the_next() {
    let window = Options::new(End::Cycles(10));
    let left_over = Control::Policy(Policy::LeftOver);
    assert!(is_first_alone(&left_over, &[4, 4], &[0, 0], window));
    assert!(!is_first_alone(&left_over, &[4], &[0], window), "alone it is a run of its own");
    assert!(!is_first_alone(&left_over, &[4, 4], &[0, 0], Options { relaunch: false, ..window }));
    assert!(!is_first_alone(&left_over, &[4, 4], &[0, 0], Options::new(End::Done)));
    assert!(!is_first_alone(&Control::Policy(Policy::Spatial), &[4, 4], &[0, 0], window));
    assert!(is_first_alone(&Control::Fixed(vec![4, 0]), &[4, 4], &[0, 0], window));
    assert!(!is_first_alone(&Control::Fixed(vec![3, 0]), &[4, 4], &[0, 0], window));
    assert!(!is_first_alone(&Control::Fixed(vec![0, 4]), &[4, 4], &[0, 0], window));
    assert!(!is_first_alone(&left_over, &[4, 4], &[0, 5], window), "the firmware places again when the second arrives");
}

#[test]
fn means_are_over_the_groups_of_a_class() {
    let evaluation = evaluation();
    let study = &evaluation.studies[0];
    let of = |kernels| policy(group(&evaluation, kernels), "mias-ipc").metrics.speedup.unwrap();
    let (mm, bopt, both) = (of(["fwt", "mm"]), of(["fwt", "bopt"]), of(["mm", "bopt"]));
    let row = summary::find(&study.summary, "MC", "mias-ipc").unwrap();
    assert_eq!(row.groups, 2);
    assert!(close(row.means["speedup"].arithmetic, (mm + bopt) / 2.0));
    assert!(close(row.means["speedup"].geometric, (mm * bopt).sqrt()));
    let all = summary::find(&study.summary, summary::ALL, "mias-ipc").unwrap();
    assert!(close(all.means["speedup"].arithmetic, (mm + bopt + both) / 3.0));
    assert_eq!(all.most_speedup, Some(mm.max(bopt).max(both)));
    let oracle = summary::find(&study.summary, summary::ALL, summary::ORACLE_S).unwrap();
    assert!(oracle.means["speedup"].arithmetic >= all.means["speedup"].arithmetic);
}

/// Each mean agrees with its values, for every row.
#[test]
fn means_are_of_the_values() {
    let evaluation = evaluation();
    for study in &evaluation.studies {
        for row in &study.summary {
            for (quantity, means) in &row.means {
                let values = summary::values(&study.groups, &row.class, &row.policy, quantity);
                // References are no policies.
                if study.groups.iter().any(|group| group.policies.iter().any(|result| result.policy == row.policy)) {
                    assert_eq!((values.len(), summary::means(&values)), (means.count, *means), "{} {quantity}", row.policy);
                }
            }
        }
    }
}

/// Reading reproduces every number to the last bit.
#[test]
fn results_are_read_as_they_were_written() {
    let evaluation = evaluation();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Note::of(&plan())).unwrap();
    let said = store.results().unwrap_err().to_string();
    assert!(said.ends_with("is missing: the evaluation is incomplete; repeat its `mias evaluate`"), "{said}");
    let text = serde_json::to_string_pretty(&evaluation).unwrap();
    store.put(RESULTS, &text).unwrap();
    assert_eq!(store.results().unwrap(), evaluation);
    store.put(RESULTS, &text.replacen("\"schema_version\": 1", "\"schema_version\": 7", 1)).unwrap();
    let said = store.results().unwrap_err().to_string();
    assert!(said.contains("schema version 7, this program reads 1; use the program that wrote it"), "{said}");
    store.put(RESULTS, &text[..text.len() / 2]).unwrap();
    assert!(store.results().unwrap_err().to_string().contains("is damaged"));
}

#[test]
fn a_failing_store_stops_everything_and_keeps_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, traces) = (plan(), traces());
    let store = Store::open(folder.path(), &Note::of(&plan)).unwrap();
    let studies = Studies::of(&plan, &traces).unwrap();
    // The folder of runs becomes a file, so that writes fail.
    std::fs::remove_dir(folder.path().join("runs")).unwrap();
    std::fs::write(folder.path().join("runs"), "").unwrap();
    let runs: Arc<Mutex<Vec<String>>> = Arc::default();
    let cancel = Cancel::default();
    let closed = |_: &Job| -> Box<dyn GpuRunner> { Box::new(Closed { runs: runs.clone(), most: usize::MAX, cancel: Cancel::default() }) };
    let result = execute(&missing(studies.jobs.values(), &store), &store, &closed, &cancel, &Unwatched);
    assert!(matches!(result, Err(ExecuteError::Store(_))), "{result:?}");
    assert!(cancel.requested(), "the others are asked to stop");
}

/// Two files may each describe a kernel of one name: launches have distinct numbers.
#[test]
fn launches_of_one_name_are_numbered() {
    let (plan, mut traces) = (plan(), traces());
    for word in ["fwt:4096", "mm:64"] {
        traces.get_mut(word).unwrap().name = "same".into();
    }
    let studies = Studies::of(&plan, &traces).unwrap();
    let names: Vec<&[String]> = studies.all[0].groups.iter().map(|group| &group.names[..]).collect();
    assert_eq!(names, [["same", "same#2"], ["same", "bopt:8"], ["same", "bopt:8"]]);
}

#[test]
fn a_kept_run_is_the_run() {
    let runner = Closed { runs: Arc::default(), most: usize::MAX, cancel: Cancel::default() };
    let all = traces();
    let run = Run {
        control: Control::Policy(Policy::MiasIpc),
        workloads: all.values().take(2).collect(),
        options: Options::new(End::Cycles(CYCLES)),
    };
    let outcome = runner.run(&run, &|_| {}).unwrap();
    let kept = Kept::of(&outcome);
    let text = serde_json::to_string(&kept).unwrap();
    let again: Kept = serde_json::from_str(&text).unwrap();
    assert_eq!(again, kept);
    let back = again.outcome();
    assert_eq!((back.launches, back.decision, back.placement), (outcome.launches, outcome.decision, outcome.placement));
}
