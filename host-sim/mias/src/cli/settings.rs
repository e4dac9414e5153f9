//! Settings from options: the GPU and the run parameters. Every key is set here, from any option.

use super::args::{CommonArgs, GpuArgs};
use super::choices::Firmware;
use super::{CliError, say};
use mias_hw_model::config::GpuConfig;
use mias_lab::choice::Choice;
use mias_lab::cosim::{Image, Parts};
use mias_lab::experiment::fits;
use mias_lab::experiment::gpu_runner::{End, Options};
use mias_lab::experiment::levels::Levels;
use mias_lab::experiment::parameters::{Assignments, OF_RUN, PARAMETERS, Parameter, Parameters};
use mias_lab::experiment::policy::Policy;
use mias_lab::gpus::{self, plausible};
use std::ops::RangeInclusive;

/// Default window in core cycles; the thesis uses 5,000,000 (sources.md D7).
const DEFAULT_CYCLES: u64 = 300_000;

/// Parameters that apply to a kernel alone on the GPU.
const ALONE: [&str; 4] = ["cycles", "ipc", "precision", "warm-l2"];

/// GPU and parameters of a command.
#[derive(Debug)]
pub(super) struct Settings {
    /// GPU with the keys set.
    pub(super) gpu: GpuConfig,
    /// Run parameters.
    pub(super) parameters: Parameters,
    /// Assignments of `--set`.
    pub(super) assigned: Assignments,
}

impl Settings {
    /// Returns the settings of `compare`, or of `run` if `runs` is set, for the number of kernels
    /// that may share an SM.
    pub(super) fn of(gpu: &GpuArgs, common: &CommonArgs, runs: bool, kernels: &RangeInclusive<usize>) -> Result<Self, CliError> {
        let known: Vec<&Parameter> = PARAMETERS.iter().chain(OF_RUN.iter().filter(|_| runs)).collect();
        let assigned = assigned(gpu, &known)?;
        let mut parameters = Parameters::new(End::Cycles(common.cycles.unwrap_or(DEFAULT_CYCLES)));
        if common.until.is_some() {
            parameters.options.end = End::Done;
        }
        if let Some(transition) = common.transition {
            parameters.options.transition = transition;
        }
        let options = [
            ("cycles", common.cycles.is_some()),
            ("until", common.until.is_some()),
            ("arrive", !common.arrive.is_empty()),
            ("transition", common.transition.is_some()),
        ];
        let given: Vec<&str> = options.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
        if let Some(twice) = given.iter().find(|name| assigned.has(name)) {
            return Err(CliError::User(format!("--{twice} conflicts with `--set {twice}`: leave one out")));
        }
        assigned.apply(&mut parameters, &given).map_err(CliError::User)?;
        if parameters.queue.launches > 0 {
            // A queue runs to its end.
            (parameters.options.queue, parameters.options.end) = (Some(parameters.queue), End::Done);
        }
        let gpu = load_gpu(&gpu.gpu)?;
        let gpu = assigned.gpu(&gpu).map_err(CliError::User)?;
        let gpu = preempting(gpu, &assigned, parameters.options)?;
        check_kernels(&gpu, &assigned, kernels)?;
        if let Some(sms) = parameters.options.open_sms {
            fits::check_open_sms(sms, &gpu).map_err(|message| CliError::User(format!("sms: {message}")))?;
        }
        Ok(Settings { gpu, parameters, assigned })
    }

    /// Returns the settings of a command for isolated kernels, without profiling or configuration
    /// changes.
    pub(super) fn alone(gpu: &GpuArgs, cycles: Option<u64>) -> Result<Self, CliError> {
        let known: Vec<&Parameter> = PARAMETERS.iter().filter(|parameter| ALONE.contains(&parameter.name)).collect();
        let assigned = assigned(gpu, &known)?;
        let mut parameters = Parameters::new(End::Cycles(cycles.unwrap_or(DEFAULT_CYCLES)));
        let given: &[&str] = if cycles.is_some() { &["cycles"] } else { &[] };
        assigned.apply(&mut parameters, given).map_err(CliError::User)?;
        let gpu = assigned.gpu(&load_gpu(&gpu.gpu)?).map_err(CliError::User)?;
        Ok(Settings { gpu, parameters, assigned })
    }

    /// Returns the options of the runs.
    pub(super) fn options(&self) -> Options {
        self.parameters.options
    }

    /// Returns the window in core cycles; `None` if runs go to their end.
    pub(super) fn cycles(&self) -> Option<u64> {
        match self.parameters.options.end {
            End::Cycles(cycles) => Some(cycles),
            End::Done => None,
        }
    }

    /// Checks that policies and settings are compatible for a number of kernels.
    pub(super) fn check(&self, policies: &[Policy], kernels: usize) -> Result<(), CliError> {
        let (gpu, options) = (&self.gpu, self.options());
        let keys: Vec<String> = self.assigned.fields().iter().map(mias_lab::gpus::fields::Field::name).collect();
        let named = |parameter: &str| self.assigned.has(parameter);
        fits::check_set_once(policies, options.levels, &keys)
            .and_then(|()| fits::check_used(policies, named))
            .and_then(|()| {
                options.shares.map_or(Ok(()), |shares| shares.check(kernels, gpu.sm.count)).map_err(|why| format!("shares: {why}"))
            })
            .and_then(|()| fits::check_sms(policies, kernels, gpu).map_err(|why| format!("--policy: {why}")))
            .and_then(|()| fits::check_gating(policies, options, gpu).map_err(|why| format!("--policy: {why}")))
            .map_err(CliError::User)
    }

    /// Returns the firmware image for these policies; `None` for the firmware in this process. SMs
    /// are distributed as the search requires.
    pub(super) fn image(&self, firmware: &Firmware, policies: &[Policy]) -> Result<Option<Image>, CliError> {
        let image = match firmware {
            Firmware::Native => return Ok(None),
            Firmware::Qemu(core, Some(file)) => Ok(Image { core: *core, file: file.clone() }),
            Firmware::Qemu(core, None) => {
                let options = self.options();
                let searches = options.shares.is_some() || policies.iter().any(|policy| policy.searches());
                let controls = self.gpu.sm.oversubscription.is_some_and(|oversubscription| oversubscription.is_controlled_by_firmware());
                let levels = options.levels != Levels::None;
                Image::built_for(*core, Parts { preempts: options.transition.preempts(), searches, controls, levels })
            }
        };
        image.map(Some).map_err(|error| CliError::User(error.to_string()))
    }
}

/// Returns the assignments of `--set`; `known` lists the parameters.
fn assigned(args: &GpuArgs, known: &[&'static Parameter]) -> Result<Assignments, CliError> {
    Assignments::parse(&args.set, known).map_err(CliError::User)
}

/// Returns the GPU with preemption if the transition requires it; otherwise refuses preemption
/// keys.
fn preempting(gpu: GpuConfig, assigned: &Assignments, options: Options) -> Result<GpuConfig, CliError> {
    let transition = options.transition;
    if transition.preempts() {
        let gpu = transition.on(&gpu).into_owned();
        gpu.check().map_err(|error| CliError::User(format!("`--transition {}`: GPU `{}`: {error}", transition.name(), gpu.name)))?;
        return Ok(gpu);
    }
    match assigned.fields().iter().find(|field| field.path.starts_with(&["sm".to_owned(), "preemption".to_owned()])) {
        Some(field) => {
            let (key, name) = (field.name(), transition.name());
            Err(CliError::User(format!(
                "`--set {key}` applies to preempted TBs, and the transition is `{name}`: add `--transition preempt`"
            )))
        }
        None => Ok(gpu),
    }
}

/// Refuses numbers for more kernels than are given, and fewer ways than kernels. A GPU file also
/// serves runs with more kernels; its unused numbers are reported.
fn check_kernels(gpu: &GpuConfig, assigned: &Assignments, kernels: &RangeInclusive<usize>) -> Result<(), CliError> {
    let (least, most) = (*kernels.start(), *kernels.end());
    for (key, numbers) in gpus::numbers_by_kernel(gpu).into_iter().filter(|(_, numbers)| *numbers > most) {
        if assigned.fields().iter().any(|field| field.name().starts_with(key)) {
            return Err(CliError::User(format!("`--set {key}` has {numbers} numbers for {most} kernels: use at most one per kernel")));
        }
        say::warning(format_args!(
            "GPU `{}`: {key} has {numbers} numbers, one per kernel, and this run has {most} kernels: the last have no effect; leave them out if no run has more",
            gpu.name
        ));
    }
    fits::check_ways(least, gpu).map_err(CliError::User)
}

/// Loads a GPU by name or file. Values of a user's file that look like typing errors are questioned
/// on standard error.
pub(super) fn load_gpu(word: &str) -> Result<GpuConfig, CliError> {
    let gpu = gpus::load(word)?;
    say_gpu(word, &gpu.name);
    if !gpus::names().contains(&word) {
        plausible::questions(&gpu).iter().for_each(|question| say::warning(format_args!("{word}: {question}")));
    }
    Ok(gpu)
}

/// Prints the source of a GPU.
pub(super) fn say_gpu(word: &str, name: &str) {
    if gpus::names().contains(&word) {
        say::detail(format_args!("GPU `{word}`: built in"));
    } else {
        say::detail(format_args!("GPU `{name}`: file {word}"));
    }
}
