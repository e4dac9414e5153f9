//! `mias compare`.

use super::args::CompareArgs;
use super::arrivals::Arrive;
use super::choices::TableFormat;
use super::progress::Progress;
use super::run::no_account;
use super::tracing::Tracing;
use super::{CliError, clashes, faults, interrupt, own, resolve, say, threads};
use mias_lab::choice::Choice;
use mias_lab::experiment::compare::compare;
use mias_lab::experiment::contexts::check_extra;
use mias_lab::experiment::machine::End;
use mias_lab::experiment::policies::Policies;
use mias_lab::experiment::policy::Policy;
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::output::Output;
use mias_report::{comparison_csv, comparison_json, comparison_table};

pub(super) fn main(args: &CompareArgs, known: &Policies) -> Result<(), CliError> {
    let common = &args.common;
    let threads = threads::of_process(common.threads)?;
    let gpu = resolve::machine_for(common, &(args.kernels.len()..=args.kernels.len()))?;
    let output = Output::open(common.out.as_deref())?;
    let policies: Vec<Policy> = match args.only.as_slice() {
        [] => known.set(args.policies),
        some => known.sorted(some),
    };
    clashes::check(&policies, common)?;
    if common.levels.kernels() {
        let levels = common.levels.name();
        return Err(CliError::User(format!(
            "`--levels {levels}`: which launch is next is said of a queue, which `compare` has not: see `mias run --queue`"
        )));
    }
    let image = resolve::image(common, &policies, &gpu)?;
    own::check(&policies, image.is_some())?;
    let options = resolve::options(common);
    resolve::check_shares(options, args.kernels.len(), &gpu)?;
    resolve::check_fits(&policies, options, args.kernels.len(), &gpu)?;
    let cancel = interrupt::catch()?;
    let workloads = resolve::workloads(
        &args.kernels,
        Arrive { words: &common.arrive, gpu: &gpu },
        options,
        &Tracing::window(&common.traces)?,
        &cancel,
    )?;
    check_extra(&gpu, &workloads)?;
    let cycles = match options.end {
        End::Cycles(cycles) => Some(cycles),
        End::Done => None,
    };
    if policies.contains(&Policy::MiasLinear) && gpu.scheduler.linear_coefficient_q16 == 0 {
        let name = &gpu.name;
        say::warning(format_args!("`{name}` has no coefficient for mias-linear, which then decides as mias-ipc; see `mias gpu fit`"));
    }
    let progress = Progress::new(cycles, cancel.clone());
    let machine = SimulatedGpu::new(gpu.clone()).with_image(image).with_threads(threads).stopped_by(cancel);
    let result = compare(&machine, &workloads, &policies, options, &progress);
    progress.clear();
    let comparison = result?;
    for result in &comparison.results {
        if let Some(parted) = &result.parted {
            say::warning(no_account(result.policy, parted));
        }
    }
    comparison.results.iter().for_each(|result| faults::tell(result.policy, result.faults));
    let text = match args.format {
        TableFormat::Table => comparison_table::render(&comparison, &gpu, &workloads, options, common.explain),
        TableFormat::Json => comparison_json::render(&comparison, &gpu, &workloads, options).map_err(CliError::internal)?,
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
