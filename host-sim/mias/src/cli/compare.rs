//! `mias compare`: policies on concurrent kernels.

use super::args::CompareArgs;
use super::arrivals::Arrive;
use super::choices::TableFormat;
use super::progress::Progress;
use super::run::no_account;
use super::settings::Settings;
use super::tracing::Tracing;
use super::{CliError, custom_policy, faults, interrupt, resolve, say, threads};
use mias_lab::choice::Choice;
use mias_lab::experiment::compare::compare;
use mias_lab::experiment::oversubscription::check_extra;
use mias_lab::experiment::policies::Policies;
use mias_lab::experiment::policy::{Policy, PolicySet};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::output::Output;
use mias_report::{comparison_csv, comparison_json, comparison_table};

pub(super) fn main(args: &CompareArgs, known: &Policies) -> Result<(), CliError> {
    let common = &args.common;
    let threads = threads::of_process(common.threads)?;
    let kernels = args.kernels.len();
    let settings = Settings::of(&args.gpu, common, false, &(kernels..=kernels))?;
    let output = Output::open(common.out.as_deref())?;
    let policies: Vec<Policy> = match args.only.as_slice() {
        [] => {
            if args.policies == PolicySet::All {
                say::note(
                    "all policies but configurations (static:N-M) and those with mechanisms, as in smk+dmil; `mias policies` lists them",
                );
            }
            known.set(args.policies)
        }
        some => known.sorted(some),
    };
    settings.check(&policies, kernels)?;
    let (gpu, options) = (&settings.gpu, settings.options());
    if options.levels.kernels() {
        let levels = options.levels.name();
        return Err(CliError::User(format!(
            "levels: `{levels}`: the order of launches needs a queue, which `compare` does not support: see `mias run --set queue.launches=N`"
        )));
    }
    let image = settings.image(&common.firmware, &policies)?;
    custom_policy::check(&policies, image.is_some())?;
    let cancel = interrupt::catch()?;
    let arrive = Arrive { words: &common.arrive, parameters: &settings.parameters, gpu };
    let workloads = resolve::workloads(&args.kernels, arrive, &Tracing::window(&common.traces)?, &cancel)?;
    check_extra(gpu, &workloads)?;
    if policies.contains(&Policy::MiasLinear) && gpu.scheduler.linear_coefficient_q16 == 0 {
        let name = &gpu.name;
        say::warning(format_args!("`{name}` has no coefficient for mias-linear, which then decides as mias-ipc; see `mias gpu fit`"));
    }
    let progress = Progress::new(settings.cycles(), cancel.clone());
    let runner = SimulatedGpu::new(gpu.clone()).with_image(image).with_threads(threads).stopped_by(cancel);
    let result = compare(&runner, &workloads, &policies, options, &progress);
    progress.clear();
    let comparison = result?;
    for result in &comparison.results {
        if let Some(parted) = &result.parted {
            say::warning(no_account(result.policy, parted));
        }
    }
    comparison.results.iter().for_each(|result| faults::tell(result.policy, result.faults));
    let text = match args.format {
        TableFormat::Table => comparison_table::render(&comparison, gpu, &workloads, options, (common.explain, args.sweep)),
        TableFormat::Json => comparison_json::render(&comparison, gpu, &workloads, options).map_err(CliError::internal)?,
        TableFormat::Csv => comparison_csv::render(&comparison, &workloads, options).map_err(CliError::internal)?,
    };
    output.write(&text)?;
    let missing = &comparison.missing;
    if missing.is_empty() {
        return Ok(());
    }
    let (results, runs) = (missing.policies.len(), missing.configs.len());
    Err(CliError::Interrupted(format!("the report lacks {results} of {} policies and {runs} runs of the oracle's sweep", policies.len())))
}
