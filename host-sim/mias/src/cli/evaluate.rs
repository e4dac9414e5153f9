//! `mias evaluate`: a plan, run by run, into a folder.

use super::args::{EvaluateArgs, TraceArgs};
use super::progress;
use super::tracing::Tracing;
use super::{CliError, interrupt, own, resolve, say};
use crate::report::evaluation;
use indicatif::ProgressBar;
use mias_lab::evaluate::execute::{self, ExecuteError, Watch};
use mias_lab::evaluate::findings::{Runs, findings};
use mias_lab::evaluate::plan::{self, Plan};
use mias_lab::evaluate::store::{Note, RESULTS, Store};
use mias_lab::evaluate::study::{Job, Studies, words};
use mias_lab::evaluate::{SAMPLING, results::Evaluation};
use mias_lab::experiment::cancel::Cancel;
use mias_lab::experiment::machine::{End, Machine, RunError};
use mias_lab::experiment::policies::Policies;
use mias_lab::experiment::policy::Policy;
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::Workload;
use mias_lab::machines::{self, plausible};
use mias_lab::output::Output;
use mias_lab::table::grouped;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What is written when all runs are there: results for programs, a table, and the report.
const DOCUMENTS: [&str; 3] = [RESULTS, "results.csv", "report.html"];

pub(super) fn main(args: &EvaluateArgs, policies: &Policies) -> Result<(), CliError> {
    let policies = own::with_fingerprint(policies)?;
    let plan = match plan_name(args)? {
        Asked::As(name) => plan::load(name, &policies),
        Asked::Quick(name) => plan::load_quick(name, &policies),
    }?;
    if let Some(jobs) = args.jobs {
        rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global().map_err(CliError::internal)?;
    }
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("results-{}", plan.name)));
    // Before anything long: a folder that cannot be used is refused now.
    let store = if args.list { None } else { Some(Store::open(&folder, &Note::of(&plan))?) };
    let _claim = store.as_ref().map(Store::claim).transpose()?;
    ask_about_machines(&plan);
    warn_of_linear(&plan);
    warn_of_windows(&plan);
    let cancel = interrupt::catch()?;
    let begun = Instant::now();
    let failed = |error: CliError| before_any_run(error, store.as_ref());
    let traces = traces(&plan, &args.traces, &cancel).map_err(failed)?;
    let mut studies = Studies::of(&plan, &traces).map_err(|error| failed(error.into()))?;
    let Some(store) = store else { return list(&studies) };
    if store.is_of_earlier_text() {
        let folder = folder.display();
        say::note(format_args!("note: `{}` has changed since {folder} was begun; runs that it still asks for are kept", plan.name));
        store.renew(&Note::of(&plan), &DOCUMENTS)?;
    }
    own::drop_other_builds(&policies, &store)?;
    say::note(format_args!("{} kernels executed or loaded in {:.0} s", traces.len(), begun.elapsed().as_secs_f64()));

    say::detail(format_args!("{} of {} runs are kept in {}", kept(&studies, &store), studies.jobs.len(), store.folder().display()));
    let simulating = Instant::now();
    let done = run(&studies, &store, &cancel)?;
    let runs = Runs::load(&studies, &store);
    studies.add_null(&|study, group| runs.fastest(study, group));
    let done = done + run(&studies, &store, &cancel)?;
    let (all, seconds) = (studies.jobs.len(), simulating.elapsed().as_secs_f64());
    let others = if done == all { "" } else { ", the others were there" };
    say::note(format_args!("{done} of {all} runs simulated in {seconds:.0} s{others}"));

    let evaluation = findings(&plan, &studies, &Runs::load(&studies, &store))?;
    write(&store, &evaluation, studies.jobs.len())?;
    Ok(Output::open(None)?.write(&evaluation::text::render(&evaluation, &folder))?)
}

/// Asks about numbers of a user's machines that look like a slip, once each; of a built-in one only if the plan brings the number.
fn ask_about_machines(plan: &Plan) {
    let built_in = machines::built_in();
    let mut asked = BTreeSet::new();
    for setting in plan.experiments.iter().flat_map(|experiment| &experiment.settings) {
        let original = built_in.iter().find(|gpu| gpu.name == setting.gpu.name);
        let known = original.map(plausible::questions).unwrap_or_default();
        for question in plausible::questions(&setting.gpu) {
            if !known.contains(&question) && asked.insert(format!("{}: {question}", setting.machine)) {
                say::warning(format_args!("{}: {question}", setting.machine));
            }
        }
    }
}

/// Says which machines make mias-linear decide as mias-ipc, each once.
fn warn_of_linear(plan: &Plan) {
    let linear = plan.experiments.iter().filter(|experiment| experiment.policies.contains(&Policy::MiasLinear));
    let settings = linear.flat_map(|experiment| &experiment.settings);
    let without = settings.filter(|setting| setting.gpu.scheduler.linear_coefficient_q16 == 0);
    let names: BTreeSet<&str> = without.map(|setting| setting.gpu.name.as_str()).collect();
    for name in names {
        say::warning(format_args!("`{name}` has no coefficient for mias-linear, which then decides as mias-ipc; see `mias gpu fit`"));
    }
}

/// A plan, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked<'a> {
    /// As it is written.
    As(&'a str),
    /// Its quick form.
    Quick(&'a str),
}

/// The one plan that is asked for.
fn plan_name(args: &EvaluateArgs) -> Result<Asked<'_>, CliError> {
    let name = match (args.plan.as_deref(), args.instead.as_deref()) {
        (Some(one), Some(other)) if one != other => {
            return Err(CliError::User(format!("two plans, `{one}` and `{other}`; give one")));
        }
        (one, other) => one.or(other),
    };
    Ok(match (name, args.quick) {
        // `quick` is the thesis' pairs in minutes, and quick as it is.
        (None | Some("quick"), true) => Asked::As("quick"),
        (Some(name), true) => Asked::Quick(name),
        (name, false) => Asked::As(name.unwrap_or("thesis")),
    })
}

/// Says in which experiments a policy cannot come to a decision, because it measures for as long as the runs last or longer.
fn warn_of_windows(plan: &Plan) {
    for experiment in plan.experiments.iter().filter(|experiment| experiment.policies.iter().any(|policy| policy.measures())) {
        let settings = experiment.settings.iter().map(|setting| setting.options);
        let short = settings.filter_map(|options| match options.end {
            End::Cycles(cycles) if cycles <= u64::from(options.profile_cycles) => Some((cycles, options.profile_cycles)),
            _ => None,
        });
        for (cycles, profile) in short.collect::<BTreeSet<_>>() {
            say::warning(format_args!(
                "`{}` ends after {} cycles, before a profiling window of {} is over: nothing is decided; make cycles larger",
                experiment.name,
                grouped(cycles),
                grouped(profile.into())
            ));
        }
    }
}

/// The plan's kernels, each executed and traced once.
fn traces(plan: &Plan, args: &TraceArgs, cancel: &Cancel) -> Result<BTreeMap<String, Workload>, CliError> {
    let words = words(plan);
    let workloads = resolve::apart(&words, &Tracing::window(args)?, cancel).map_err(|error| at_its_place(plan, error))?;
    Ok(words.into_iter().map(|(word, _)| word).zip(workloads).collect())
}

/// The error, pointing at the kernel in the plan whose input is wrong, if that is what it is.
fn at_its_place(plan: &Plan, error: CliError) -> CliError {
    let CliError::User(_) = error else { return error };
    let kernels = plan.experiments.iter().flat_map(|experiment| experiment.kernels.iter().zip(&experiment.kernel_places));
    let mut wrong = kernels.filter_map(|((_, request), place)| Some(place.says(&request.complaint()?)));
    wrong.next().map_or(error, CliError::User)
}

/// Runs what is not there yet; gives how many that were.
fn run(studies: &Studies<'_>, store: &Store, cancel: &Cancel) -> Result<usize, CliError> {
    let missing = execute::missing(studies.jobs.values(), store);
    let bar = Bar::new(&missing, studies.jobs.len(), cancel.clone());
    let machine = |job: &Job| -> Box<dyn Machine> {
        let machine = SimulatedGpu::new(studies.all[job.study].setting.gpu.clone()).stopped_by(cancel.clone());
        let alone_in_a_window = job.workloads.len() == 1 && job.expected_cycles().is_some();
        Box::new(if alone_in_a_window { machine.sampling(SAMPLING) } else { machine })
    };
    let result = execute::execute(&missing, store, &machine, cancel, &bar);
    bar.bar.finish_and_clear();
    let there = || there(store, kept(studies, store), Some(studies.jobs.len()));
    match result {
        Ok(()) => Ok(missing.len()),
        Err(ExecuteError::Run(RunError::Interrupted)) => Err(CliError::Interrupted(there())),
        Err(ExecuteError::Run(error)) => Err(error.into()),
        Err(ExecuteError::Store(error)) => Err(CliError::User(format!("{error}; {}", there()))),
    }
}

/// Runs of the plan that are in the folder.
fn kept(studies: &Studies<'_>, store: &Store) -> usize {
    studies.jobs.len() - execute::missing(studies.jobs.values(), store).len()
}

/// What is said when kernels could not be executed: if they were interrupted, what an earlier start has kept in the folder. If the plan is
/// at fault, a folder made for it goes.
fn before_any_run(error: CliError, store: Option<&Store>) -> CliError {
    match (error, store) {
        (CliError::Interrupted(_), Some(store)) => {
            CliError::Interrupted(there(store, store.records().map_or(0, |runs| runs.whole.len()), None))
        }
        (error, store) => {
            store.iter().for_each(|store| store.leave_unused());
            error
        }
    }
}

/// What an evaluation that stops leaves; how many runs there are in all is known once the kernels are executed.
fn there(store: &Store, kept: usize, all: Option<usize>) -> String {
    let of = all.map_or_else(String::new, |all| format!(" of {all}"));
    format!("{kept}{of} runs are kept in {}; the same command goes on from there", store.folder().display())
}

/// Documents that are written last, so that a folder that has them is complete. All `runs` are there.
fn write(store: &Store, evaluation: &Evaluation, runs: usize) -> Result<(), CliError> {
    let json = serde_json::to_string_pretty(evaluation).map_err(CliError::internal)? + "\n";
    let put =
        |name, text: &str| store.put(name, text).map_err(|error| CliError::User(format!("{error}; {}", there(store, runs, Some(runs)))));
    let [results, table, report] = DOCUMENTS;
    put(results, &json)?;
    put(table, &evaluation::csv::render(evaluation).map_err(CliError::internal)?)?;
    put(report, &evaluation::html::render(evaluation))
}

fn list(studies: &Studies<'_>) -> Result<(), CliError> {
    let lines = studies.jobs.iter().map(|(key, job)| format!("{key} {}\n", job.identity.describe()));
    let mut text: String = lines.collect();
    let cycles: u64 = studies.jobs.values().filter_map(Job::expected_cycles).sum();
    let open = studies.jobs.values().filter(|job| job.expected_cycles().is_none()).count();
    text += &format!("{} runs, {open} of them until done, the others of {} cycles in all\n", studies.jobs.len(), grouped(cycles));
    match studies.most_null() {
        0 => {}
        most => text += &format!("and at most {most} of `null`, which are known once the kernels have run alone\n"),
    }
    Ok(Output::open(None)?.write(&text)?)
}

/// A bar over the cycles of all windows; runs until done lengthen it as they go.
struct Bar {
    bar: ProgressBar,
    finished: AtomicUsize,
    all: usize,
    cancel: Cancel,
}

impl Bar {
    fn new(jobs: &[&Job], all: usize, cancel: Cancel) -> Self {
        let bar = progress::bar();
        bar.set_length(jobs.iter().filter_map(|job| job.expected_cycles()).sum());
        let before = all - jobs.len();
        bar.set_message(format!("{before} of {all} runs"));
        Bar { bar, finished: AtomicUsize::new(before), all, cancel }
    }
}

impl Watch for Bar {
    fn cycles(&self, job: &Job, cycles: u64) {
        if job.expected_cycles().is_none() {
            self.bar.inc_length(cycles);
        }
        self.bar.inc(cycles);
        if self.cancel.requested() {
            self.bar.set_message("stopping; Ctrl-C again to quit at once");
        }
    }

    fn finished(&self, _job: &Job) {
        let finished = self.finished.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_message(format!("{finished} of {} runs", self.all));
    }
}

#[cfg(test)]
mod tests {
    use super::super::args::{Arguments, Command};
    use super::*;
    use clap::Parser;
    use mias_lab::evaluate::record::{FORMAT, Identity, Kept};
    use mias_lab::evaluate::results::{PlanNote, SCHEMA_VERSION};
    use mias_lab::experiment::machine::{Options, Outcome};
    use mias_lab::experiment::policy::Control;
    use mias_lab::machines;

    #[test]
    fn one_plan_is_asked_for_in_any_of_three_ways() {
        let plan = |words: &[&str]| match Arguments::try_parse_from([&["mias", "evaluate"], words].concat()).unwrap().command {
            Command::Evaluate(args) => plan_name(&args).map(|asked| format!("{asked:?}")).map_err(|error| error.to_string()),
            _ => unreachable!(),
        };
        let named = |name: &str| Ok(format!("As({name:?})"));
        assert_eq!(plan(&[]), named("thesis"));
        for words in [&["extended"][..], &["--plan", "extended"], &["extended", "--plan", "extended"]] {
            assert_eq!(plan(words), named("extended"), "{words:?}");
        }
        assert_eq!(plan(&["thesis", "--plan", "extended"]), Err("error: two plans, `thesis` and `extended`; give one".into()));
        assert_eq!(plan(&["--quick"]), named("quick"));
        assert_eq!(plan(&["quick", "--quick"]), named("quick"));
        for words in [&["my.toml", "--quick"][..], &["--quick", "--plan", "my.toml"]] {
            assert_eq!(plan(words), Ok("Quick(\"my.toml\")".into()), "{words:?}");
        }
    }

    fn store_in(folder: &std::path::Path) -> Store {
        let note = Note { format: FORMAT, model: "m".into(), plan: "p".into(), plan_hash: "h".into() };
        Store::open(folder, &note).unwrap()
    }

    /// A folder stands where the report should be.
    #[test]
    fn a_document_that_cannot_be_written_does_not_cost_the_runs() {
        let folder = tempfile::tempdir().unwrap();
        let store = store_in(folder.path());
        std::fs::create_dir_all(folder.path().join("report.html/in-the-way")).unwrap();
        let plan = PlanNote { name: "p".into(), description: String::new(), hash: String::new() };
        let evaluation = Evaluation { schema_version: SCHEMA_VERSION, model: "m".into(), plan, studies: Vec::new() };
        let said = write(&store, &evaluation, 7).unwrap_err().to_string();
        assert!(said.contains("report.html"), "{said}");
        let rest = format!("; 7 of 7 runs are kept in {}; the same command goes on from there", folder.path().display());
        assert!(said.ends_with(&rest), "{said}");
    }

    #[test]
    fn ctrl_c_before_any_run_says_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let store = store_in(folder.path());
        let (gpu, options) = (machines::load("rtx2060").unwrap(), Options::new(End::Done));
        let run = Identity::new("g", &gpu, &[], &Control::Fixed(Vec::new()), options);
        store.save(&run, &Kept::of(&Outcome::default())).unwrap();
        let said = |store| before_any_run(RunError::Interrupted.into(), store).to_string();
        let expected = format!("interrupted: 1 runs are kept in {}; the same command goes on from there", folder.path().display());
        assert_eq!(said(Some(&store)), expected);
        assert!(said(None).contains("nothing is written"));
        assert_eq!(before_any_run(CliError::User("no such file".into()), Some(&store)).to_string(), "error: no such file");
    }
}
