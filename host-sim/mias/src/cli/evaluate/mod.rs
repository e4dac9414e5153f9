//! `mias evaluate`: runs a plan into a folder.

mod args;
mod bar;
mod emit;
mod merge;
mod scripts;
mod shard;

pub(super) use args::EvaluateArgs;

use super::tracing::Tracing;
use super::{CliError, custom_policy, interrupt, resolve, say, settings, threads};
use bar::Bar;
use mias_hw_model::config::GpuConfig;
use mias_lab::cancel::Cancel;
use mias_lab::evaluate::execute::{self, ExecuteError};
use mias_lab::evaluate::findings::{Runs, findings};
use mias_lab::evaluate::plan::{self, Plan};
use mias_lab::evaluate::shard::deal::deal;
use mias_lab::evaluate::store::{Note, RESULTS, Store};
use mias_lab::evaluate::study::{Job, Studies, words};
use mias_lab::evaluate::{SAMPLING, results::Evaluation};
use mias_lab::experiment::gpu_runner::{End, GpuRunner, RunError};
use mias_lab::experiment::parameters::{Assignments, PARAMETERS, Parameter};
use mias_lab::experiment::policies::Policies;
use mias_lab::experiment::policy::Policy;
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::threads::Threads;
use mias_lab::experiment::workload::Workload;
use mias_lab::gpus::{self, plausible};
use mias_lab::output::Output;
use mias_lab::table::grouped;
use mias_report::evaluation;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

/// Documents written once all runs are present: results for programs, a table, and the report.
const DOCUMENTS: [&str; 3] = [RESULTS, "results.csv", "report.html"];

/// Plan to evaluate, and its folder.
struct Task<'a> {
    args: &'a EvaluateArgs,
    form: Form<'a>,
    plan: &'a Plan,
    policies: &'a Policies,
    folder: PathBuf,
}

pub(super) fn main(args: &EvaluateArgs, policies: &Policies) -> Result<(), CliError> {
    let policies = &custom_policy::with_fingerprint(policies)?;
    let form = plan_name(args)?;
    let mut plan = match form {
        Form::As(name) => plan::load(name, policies),
        Form::Quick(name) => plan::load_quick(name, policies),
    }?;
    let known: Vec<&Parameter> = PARAMETERS.iter().collect();
    plan.set(&Assignments::parse(&args.set, &known).map_err(CliError::User)?, &args.set)?;
    let plan = &plan;
    if let Some(jobs) = args.jobs.filter(|_| args.part.emit.is_none()) {
        threads::of_process(Some(jobs))?;
    }
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("results-{}", plan.name)));
    let task = &Task { args, form, plan, policies, folder };
    match (args.part.shard, args.part.emit) {
        (Some(shard), _) => shard::main(task, shard),
        (_, Some(engine)) => emit::main(task, engine),
        _ if args.part.merge => merge::merge(task),
        _ if args.part.status => merge::status(task),
        _ => whole(task),
    }
}

/// Evaluations below this many core-hours start without a cost estimate.
const LEAST_HOURS: u64 = 2;

/// Runs the whole evaluation in this process.
fn whole(task: &Task<'_>) -> Result<(), CliError> {
    let Task { args, plan, policies, folder, .. } = task;
    // Refuse an unusable folder before any long work.
    let store = if args.part.list { None } else { Some(Store::open(folder, &Note::of(plan))?) };
    let _claim = store.as_ref().map(Store::claim).transpose()?;
    say_gpus(plan);
    ask_about_gpus(plan);
    warn_of_linear(plan);
    warn_of_windows(plan);
    let cancel = interrupt::catch()?;
    let begun = Instant::now();
    let failed = |error: CliError| before_any_run(error, store.as_ref());
    let traces = task.traces(&cancel).map_err(failed)?;
    let mut studies = Studies::of(plan, &traces).map_err(|error| failed(error.into()))?;
    let Some(store) = store else { return list(&studies) };
    if store.is_of_earlier_text() {
        let folder = folder.display();
        say::note(format_args!(
            "note: `{}` or --set has changed since {folder} was started; runs that are still needed are kept",
            plan.name
        ));
        store.renew(&Note::of(plan), &DOCUMENTS)?;
    }
    custom_policy::drop_other_builds(policies, &store)?;
    say::note(format_args!("{} kernels executed or loaded in {:.0} s", traces.len(), begun.elapsed().as_secs_f64()));

    say_cost(&studies, &store);
    say::detail(format_args!("{} of {} runs are stored in {}", kept(&studies, &store), studies.jobs.len(), store.folder().display()));
    let simulating = Instant::now();
    let done = run(&studies, &store, &cancel)?;
    let runs = Runs::load(&studies, &store);
    studies.add_waiting(&|study, group, policy| runs.ran(study, group, policy))?;
    let done = done + run(&studies, &store, &cancel)?;
    let (all, seconds) = (studies.jobs.len(), simulating.elapsed().as_secs_f64());
    let others = if done == all { "" } else { ", the others were stored" };
    say::note(format_args!("{done} of {all} runs simulated in {seconds:.0} s{others}"));
    report(plan, &studies, &store)
}

/// Prints the estimated cost of a long evaluation before it starts.
fn say_cost(studies: &Studies<'_>, store: &Store) {
    let hours = deal(studies, 1).iter().map(|share| share.cost_ns / 3_600_000_000_000).sum::<u64>();
    if hours >= LEAST_HOURS && kept(studies, store) < studies.jobs.len() {
        let hours = grouped(hours);
        say::note(format_args!(
            "estimated {hours} core-hours in total, if no window ends early; completed runs are kept; for clusters, see --emit"
        ));
    }
}

/// Writes the documents of a complete set of runs, and prints the tables.
fn report(plan: &Plan, studies: &Studies<'_>, store: &Store) -> Result<(), CliError> {
    let evaluation = findings(plan, studies, &Runs::load(studies, store))?;
    write(store, &evaluation, studies.jobs.len())?;
    Ok(Output::open(None)?.write(&evaluation::text::render(&evaluation, store.folder()))?)
}

/// Prints the source of each GPU file of the plan, once each.
fn say_gpus(plan: &Plan) {
    let gpus: BTreeSet<&(String, String)> = plan.experiments.iter().flat_map(|experiment| &experiment.gpus).collect();
    gpus.into_iter().for_each(|(word, name)| settings::say_gpu(word, name));
}

/// Questions numbers of user GPUs that look like typing errors, once each. Of a built-in GPU it
/// questions only numbers that the plan sets.
fn ask_about_gpus(plan: &Plan) {
    let built_in = gpus::built_in();
    let mut asked = BTreeSet::new();
    for setting in plan.experiments.iter().flat_map(|experiment| &experiment.settings) {
        let original = built_in.iter().find(|gpu| gpu.name == setting.gpu.name);
        let known = original.map(plausible::questions).unwrap_or_default();
        for question in plausible::questions(&setting.gpu) {
            if !known.contains(&question) && asked.insert(format!("{}: {question}", setting.gpu_name)) {
                say::warning(format_args!("{}: {question}", setting.gpu_name));
            }
        }
    }
}

/// Warns once about each GPU on which mias-linear decides as mias-ipc.
fn warn_of_linear(plan: &Plan) {
    let linear = plan.experiments.iter().filter(|experiment| experiment.policies.contains(&Policy::MiasLinear));
    let settings = linear.flat_map(|experiment| &experiment.settings);
    let without = settings.filter(|setting| setting.gpu.scheduler.linear_coefficient_q16 == 0);
    let names: BTreeSet<&str> = without.map(|setting| setting.gpu.name.as_str()).collect();
    for name in names {
        say::warning(format_args!("`{name}` has no coefficient for mias-linear, which then decides as mias-ipc; see `mias gpu fit`"));
    }
}

/// Form in which a plan is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form<'a> {
    /// As written.
    As(&'a str),
    /// Quick form of the plan.
    Quick(&'a str),
}

/// Returns the plan that the arguments request.
fn plan_name(args: &EvaluateArgs) -> Result<Form<'_>, CliError> {
    let name = match (args.plan.as_deref(), args.instead.as_deref()) {
        (Some(one), Some(other)) if one != other => {
            return Err(CliError::User(format!("two plans, `{one}` and `{other}`; name one")));
        }
        (one, other) => one.or(other),
    };
    Ok(match (name, args.quick) {
        // `quick` contains the pairs of the thesis in minutes and is already in quick form.
        (None | Some("quick"), true) => Form::As("quick"),
        (Some(name), true) => Form::Quick(name),
        (name, false) => Form::As(name.unwrap_or("thesis")),
    })
}

/// Warns about experiments in which a policy cannot decide, because its profiling takes at least as
/// long as the runs.
fn warn_of_windows(plan: &Plan) {
    for experiment in plan.experiments.iter().filter(|experiment| experiment.policies.iter().any(|policy| policy.measures())) {
        let settings = experiment.settings.iter().map(|setting| setting.options);
        let short = settings.filter_map(|options| match options.end {
            End::Cycles(cycles) if cycles <= u64::from(options.profile_cycles) => Some((cycles, options.profile_cycles)),
            _ => None,
        });
        for (cycles, profile) in short.collect::<BTreeSet<_>>() {
            say::warning(format_args!(
                "`{}` ends after {} cycles, before a profiling window of {} ends: no decision is made; increase cycles",
                experiment.name,
                grouped(cycles),
                grouped(profile.into())
            ));
        }
    }
}

impl Task<'_> {
    /// Executes and traces the kernels of the plan, each once.
    fn traces(&self, cancel: &Cancel) -> Result<BTreeMap<String, Workload>, CliError> {
        let words = words(self.plan);
        let tracing = Tracing::window(&self.args.traces)?;
        let workloads = resolve::apart(&words, &tracing, cancel).map_err(|error| at_its_place(self.plan, error))?;
        Ok(words.into_iter().map(|(word, _)| word).zip(workloads).collect())
    }
}

/// Points an error at the kernel in the plan whose input is wrong, if the error has that cause.
fn at_its_place(plan: &Plan, error: CliError) -> CliError {
    let CliError::User(_) = error else { return error };
    let kernels = plan.experiments.iter().flat_map(|experiment| experiment.kernels.iter().zip(&experiment.kernel_places));
    let mut wrong = kernels.filter_map(|((_, request), place)| Some(place.says(&request.complaint()?)));
    wrong.next().map_or(error, CliError::User)
}

/// Executes the missing runs and returns their number.
fn run(studies: &Studies<'_>, store: &Store, cancel: &Cancel) -> Result<usize, CliError> {
    let missing = execute::missing(studies.jobs.values(), store);
    let bar = Bar::new(&missing, studies.jobs.len(), cancel.clone());
    let result = execute::execute(&missing, store, &runners(cancel), cancel, &bar);
    bar.clear();
    ended(result.map(|()| missing.len()), &|| there(store, kept(studies, store), Some(studies.jobs.len())))
}

/// Returns a constructor of the GPU of a job.
fn runners(cancel: &Cancel) -> impl Fn(&Job) -> Box<dyn GpuRunner> + Sync + use<> {
    let (threads, cancel) = (Threads::new(rayon::current_num_threads()), cancel.clone());
    move |job| {
        let runner = SimulatedGpu::new(GpuConfig::clone(&job.gpu)).with_threads(threads.clone()).stopped_by(cancel.clone());
        let alone_in_a_window = job.workloads.len() == 1 && job.expected_cycles().is_some();
        Box::new(if alone_in_a_window { runner.sampling(SAMPLING) } else { runner })
    }
}

/// Converts the outcome of runs; `there` describes what they leave in the folder.
fn ended(result: Result<usize, ExecuteError>, there: &dyn Fn() -> String) -> Result<usize, CliError> {
    match result {
        Ok(done) => Ok(done),
        Err(ExecuteError::Run(RunError::Interrupted)) => Err(CliError::Interrupted(there())),
        Err(ExecuteError::Run(error)) => Err(error.into()),
        Err(ExecuteError::Store(error)) => Err(CliError::User(format!("{error}; {}", there()))),
    }
}

/// Returns the number of the plan's runs that are in the folder.
fn kept(studies: &Studies<'_>, store: &Store) -> usize {
    studies.jobs.len() - execute::missing(studies.jobs.values(), store).len()
}

/// Returns the error for kernels that could not be executed. After an interrupt it states what an
/// earlier start kept in the folder. If the plan is wrong, a folder created for it is removed.
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

/// Returns the message about the runs that a stopped evaluation leaves. The total number of runs is
/// known once the kernels are executed.
fn there(store: &Store, kept: usize, all: Option<usize>) -> String {
    let of = all.map_or_else(String::new, |all| format!(" of {all}"));
    format!("{kept}{of} runs are stored in {}; the same command resumes from there", store.folder().display())
}

/// Writes the documents last, so that a folder with documents is complete. All `runs` are present.
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
    text += &format!("{} runs, {open} of them until done, the others of {} cycles in total\n", studies.jobs.len(), grouped(cycles));
    match studies.most_waiting() {
        0 => {}
        most => {
            let policies = studies.names_of_waiting();
            text += &format!("and at most {most} of {policies}, determined after the isolated runs\n");
        }
    }
    Ok(Output::open(None)?.write(&text)?)
}

#[cfg(test)]
mod tests;
