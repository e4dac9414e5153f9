//! From typed words to things: kernels, arrivals, options.

use super::args::{CommonArgs, MemoryIssueArgs};
use super::arrivals::{Arrival, Arrive};
use super::choices::{FirmwareKind, InFlight, MemoryIssue, MemoryIssueFrom as From, Relaunch, Until};
use super::dump::Dumps;
use super::tracing::Tracing;
use super::{CliError, contexts, dram, partition, preemption, progress, say};
use mias_hw_model::config::{GpuConfig, InFlightLimit, MemoryIssueConfig, MemoryIssueFrom, MemoryOrder};
use mias_lab::choice::Choice;
use mias_lab::cosim::{Core, Image, Parts};
use mias_lab::experiment::cancel::Cancel;
use mias_lab::experiment::fits;
use mias_lab::experiment::levels::Levels;
use mias_lab::experiment::machine::{End, Options, RunError, SEARCH_CYCLES};
use mias_lab::experiment::policy::{IpcUnit, Policy};
use mias_lab::experiment::recorded::label;
use mias_lab::experiment::request::Request;
use mias_lab::experiment::workload::{Workload, check_copies, place, place_for};
use mias_lab::gpus::{self, plausible};
use mias_trace::accelsim::Warnings;
use mias_workloads::kernels::{self, Kernel, Spec};
use mias_workloads::trace_store::{self, Traced};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::{Arc, Mutex, PoisonError};

/// Kernels that the firmware schedules at a time.
const MOST_KERNELS: usize = mias_firmware::configs::MAX_KERNELS;

/// Kernels that a queue is drawn from: as many as the firmware sees launches.
const MOST_QUEUED_KERNELS: usize = mias_registers::queue::ENTRIES;

/// The machine of a word. What looks like a slip in a user's file is asked about on standard error.
pub(super) fn machine(word: &str) -> Result<GpuConfig, CliError> {
    let gpu = gpus::load(word)?;
    say_machine(word, &gpu.name);
    if !gpus::names().contains(&word) {
        plausible::questions(&gpu).iter().for_each(|question| say::warning(format_args!("{word}: {question}")));
    }
    Ok(gpu)
}

/// Says where the machine of a word is from.
pub(super) fn say_machine(word: &str, name: &str) {
    if gpus::names().contains(&word) {
        say::detail(format_args!("machine `{word}`: built in"));
    } else {
        say::detail(format_args!("machine `{name}`: file {word}"));
    }
}

/// The machine of a run, with what its options say of memory issue, ways, miss resources and DRAM requests for as many kernels as share an SM.
pub(super) fn machine_for(common: &CommonArgs, kernels: &RangeInclusive<usize>) -> Result<GpuConfig, CliError> {
    let mut gpu = machine(&common.gpu)?;
    partition::apply(&common.partition, &mut gpu, kernels)?;
    preemption::apply(&common.preemption, common.transition, &mut gpu)?;
    contexts::apply(&common.contexts, &mut gpu)?;
    let kernels = *kernels.end();
    dram::apply(&common.dram, &mut gpu, kernels)?;
    let MemoryIssueArgs { memory_issue, in_flight, in_flight_interval, memory_issue_from, warp_quota, active_warps } = &common.memory_issue;
    let given = |option: &str, numbers: usize| match numbers {
        0 => Ok(()),
        numbers if numbers <= kernels => Ok(()),
        numbers => Err(CliError::User(format!("`--{option}` has {numbers} numbers for {kernels} kernels: give one for each, or fewer"))),
    };
    let mut config = gpu.sm.memory_issue.take().unwrap_or_default();
    if let Some(order) = memory_issue {
        config.order = match order {
            MemoryIssue::Scheduler => MemoryOrder::Scheduler,
            MemoryIssue::RoundRobin => MemoryOrder::RoundRobin,
            MemoryIssue::Quota => MemoryOrder::Quota,
        };
    }
    if let Some(limits) = in_flight {
        (config.in_flight, config.limits) = match limits {
            InFlight::None => (InFlightLimit::None, Vec::new()),
            InFlight::Dynamic => (InFlightLimit::Dynamic, Vec::new()),
            InFlight::DynamicGlobal => (InFlightLimit::DynamicGlobal, Vec::new()),
            InFlight::Firmware => (InFlightLimit::Firmware, Vec::new()),
            InFlight::Static(limits) => (InFlightLimit::Static, limits.clone()),
        };
        if config.in_flight != InFlightLimit::DynamicGlobal {
            config.broadcast_cycles = None;
        }
        if config.in_flight != InFlightLimit::Firmware {
            config.interval_cycles = None;
        }
        given("in-flight", config.limits.len())?;
    }
    if let Some(cycles) = in_flight_interval {
        if config.in_flight != InFlightLimit::Firmware {
            return Err(CliError::User("`--in-flight-interval` is how often the firmware looks: add `--in-flight firmware`".into()));
        }
        config.interval_cycles = Some(*cycles);
    }
    if let Some(from) = memory_issue_from {
        config.from = match from {
            From::Reset => MemoryIssueFrom::Reset,
            From::Decision => MemoryIssueFrom::Decision,
        };
    }
    if !warp_quota.is_empty() {
        given("warp-quota", warp_quota.len())?;
        config.warp_quota.clone_from(warp_quota);
    }
    if !active_warps.is_empty() {
        given("active-warps", active_warps.len())?;
        gpu.sm.active_warps.clone_from(active_warps);
    }
    let holds = MemoryIssueConfig { from: MemoryIssueFrom::Reset, ..config.clone() } != MemoryIssueConfig::default();
    gpu.sm.memory_issue = holds.then_some(config);
    // Options with too many have been refused: those ask for something of this run. These are of the file, which is of more runs than this one, with
    // fewer kernels, too; and nobody waits for a kernel that is not there.
    for (key, numbers) in gpus::numbers_by_kernel(&gpu).into_iter().filter(|(_, numbers)| *numbers > kernels) {
        say::warning(format_args!(
            "machine `{}`: {key} has {numbers} numbers, one for each kernel, and this run has {kernels}: the last mean nothing here; leave them out if no run has more",
            gpu.name
        ));
    }
    Ok(gpu)
}

/// The kernels by word, each executed and traced once, on a stream of its own, arriving as `arrive` says. A kernel named
/// twice is launched twice, with buffers of its own; the second launch of `fwt` is called `fwt#2`.
pub(super) fn workloads(
    words: &[String],
    arrive: Arrive<'_>,
    options: Options,
    tracing: &Tracing,
    cancel: &Cancel,
) -> Result<Vec<Workload>, CliError> {
    launched(&requests(words)?, arrive, options, &mut Dumps::default(), (tracing, cancel))
}

/// The same, with PTX of nvcc's for this architecture if there is one; and some of what the kernels leave in memory.
pub(super) fn dumped_workloads(
    (words, nvcc): (&[String], Option<&str>),
    arrive: Arrive<'_>,
    options: Options,
    dumps: &mut Dumps,
    kept: (&Tracing, &Cancel),
) -> Result<Vec<Workload>, CliError> {
    let mut requests = requests(words)?;
    for (_, request) in &mut requests {
        if let (Some(architecture), Request::Kernel(spec)) = (nvcc, &*request) {
            let spec = spec.clone().with_nvcc(architecture).map_err(|error| CliError::User(error.to_string()))?;
            *request = Request::Kernel(spec);
        }
    }
    launched(&requests, arrive, options, dumps, kept)
}

/// The same for one kernel that is described by options instead of a word.
pub(super) fn user_workload(
    kernel: Kernel,
    arrive: Arrive<'_>,
    options: Options,
    dumps: &mut Dumps,
    kept: (&Tracing, &Cancel),
) -> Result<Vec<Workload>, CliError> {
    let requests = [(kernel.name().to_owned(), Request::Kernel(Spec::of(Arc::new(kernel))))];
    launched(&requests, arrive, options, dumps, kept)
}

/// Kernels for calibration: any number of different ones, which run alone and in pairs.
pub(super) fn calibration(words: &[String], tracing: &Tracing, cancel: &Cancel) -> Result<Vec<Workload>, CliError> {
    let traced = traced(&requests(words)?, &Dumps::default(), tracing, cancel)?;
    let stream = |(stream, workload)| Workload { stream: stream as u32, ..workload };
    let mut workloads: Vec<Workload> = traced.into_values().enumerate().map(stream).collect();
    place(&mut workloads);
    Ok(workloads)
}

fn launched(
    requests: &[(String, Request)],
    arrive: Arrive<'_>,
    options: Options,
    dumps: &mut Dumps,
    (tracing, cancel): (&Tracing, &Cancel),
) -> Result<Vec<Workload>, CliError> {
    if requests.len() > MOST_QUEUED_KERNELS {
        return Err(CliError::User(format!("{} kernels given, a queue is drawn from at most {MOST_QUEUED_KERNELS}", requests.len())));
    }
    if requests.len() > MOST_KERNELS && options.queue.is_none() {
        return Err(CliError::User(format!("{} kernels given, the firmware schedules at most {MOST_KERNELS} at a time", requests.len())));
    }
    if options.share_memory && requests.iter().all(|(_, request)| request.spec().is_some()) {
        return Err(CliError::User("--share-memory: it is for traces, and none of the kernels is one".into()));
    }
    let labels = labels(&requests.iter().map(|(word, request)| request.name(word)).collect::<Vec<_>>());
    let arrivals = arrive.of(&labels, options)?;
    if let Some((label, arrival)) = arrivals.iter().find(|(_, arrival)| arrival.priority > 0 && !options.transition.preempts()) {
        let (priority, transition) = (arrival.priority, options.transition.name());
        say::warning(format_args!(
            "{label}: nobody makes room under the transition `{transition}`, and priority={priority} means nothing; with `--transition preempt` it does"
        ));
    }
    dumps.find(requests, &labels)?;
    let traced = traced(requests, dumps, tracing, cancel)?;
    let arriving = |(stream, ((word, _), label)): (usize, (&(String, Request), &String))| {
        let workload = traced.get(word)?.clone();
        let Arrival { cycle, priority, latency_limit } = arrivals.get(label.as_str()).copied().unwrap_or_default();
        Some(Workload { name: label.clone(), arrival_cycle: cycle, priority, latency_limit, stream: stream as u32, ..workload })
    };
    let mut workloads: Vec<Workload> = requests.iter().zip(&labels).enumerate().filter_map(arriving).collect();
    place_for(&mut workloads, &options);
    warmable(&workloads, options)?;
    Ok(workloads)
}

/// Refuses to warm the L2 where there is nothing to warm it with.
pub(super) fn warmable(workloads: &[Workload], options: Options) -> Result<(), CliError> {
    match options.warm_l2 {
        true => check_copies(workloads.iter()).map_err(|why| CliError::User(format!("--warm-l2: {why}"))),
        false => Ok(()),
    }
}

/// Reads all words before anything is run.
fn requests(words: &[String]) -> Result<Vec<(String, Request)>, CliError> {
    words.iter().map(|word| Ok((word.clone(), Request::parse(word)?))).collect()
}

/// The same, each word once; no word at all names every kernel of ours.
pub(super) fn different(words: &[String]) -> Result<Vec<(String, Request)>, CliError> {
    if words.is_empty() {
        return kernels::names().map(|name| Ok((name.to_owned(), Request::parse(name)?))).collect();
    }
    let mut different: Vec<(String, Request)> = requests(words)?;
    let mut seen = BTreeSet::new();
    different.retain(|(word, _)| seen.insert(word.clone()));
    Ok(different)
}

/// Different kernels that run apart from each other: each executed and traced once, in order.
pub(super) fn apart(requests: &[(String, Request)], tracing: &Tracing, cancel: &Cancel) -> Result<Vec<Workload>, CliError> {
    let mut traced = traced(requests, &Dumps::default(), tracing, cancel)?;
    Ok(requests.iter().filter_map(|(word, _)| traced.remove(word)).collect())
}

/// Executes and traces each different kernel, once and as far as it is needed, unless its trace is cached. Recorded ones are read.
fn traced(
    requests: &[(String, Request)],
    dumps: &Dumps,
    tracing: &Tracing,
    cancel: &Cancel,
) -> Result<BTreeMap<String, Workload>, CliError> {
    let different: BTreeMap<&String, &Request> = requests.iter().map(|(word, request)| (word, request)).collect();
    let names: Vec<String> = different.iter().map(|(word, request)| request.name(word)).collect();
    let bar = progress::tracing(&names);
    let needs = tracing.needs(different.len());
    let warnings = Mutex::new(Warnings::new());
    // Said in the order of their names, once the bar is gone.
    let sources = Mutex::new(Vec::new());
    let traced = different.into_par_iter().map(|(word, request)| {
        if cancel.requested() {
            // Nobody wants those that have not begun.
            return Err(RunError::Interrupted.into());
        }
        let spec = match request {
            Request::Kernel(spec) => spec,
            Request::Trace(trace) => {
                let mut own = Warnings::new();
                let workload = trace.read(&tracing.cache, &mut own)?;
                sources.lock().unwrap_or_else(PoisonError::into_inner).push(format!("`{}`: recorded trace", request.name(word)));
                warnings.lock().unwrap_or_else(PoisonError::into_inner).add(&own);
                return Ok((word.clone(), workload));
            }
        };
        let mut before = 0;
        let mut progress = |done, tbs| {
            if before == 0 {
                bar.inc_length(tbs);
            }
            bar.inc(done - before);
            before = done;
            if cancel.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let prepared = spec.prepare()?;
        let traced = match dumps.wants(word) {
            true => {
                let (key, span, live) = (trace_store::key(&prepared), prepared.sector_span(), prepared.liveness());
                Traced { trace: dumps.record(word, &prepared, &mut progress)?, source: None, key, span, is_cached: false, live }
            }
            false => tracing.cache.traced(prepared, needs, &mut progress)?,
        };
        let from = if traced.is_cached { "trace from the cache" } else { "executed" };
        sources.lock().unwrap_or_else(PoisonError::into_inner).push(format!("`{}`: {from}", spec.name(word)));
        Ok((word.clone(), Workload::executed(&spec.name(word), traced)))
    });
    let traced = traced.collect::<Result<_, CliError>>();
    bar.finish_and_clear();
    let mut sources = sources.into_inner().unwrap_or_else(PoisonError::into_inner);
    sources.sort();
    sources.iter().for_each(say::detail);
    let warnings = warnings.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !warnings.is_empty() {
        say::warning(warnings);
    }
    tracing.cache.notes().iter().for_each(say::warning);
    if cancel.requested() { Err(RunError::Interrupted.into()) } else { traced }
}

/// What each launch is called: the kernel's name, and its number where it is not the first of that name.
fn labels(names: &[String]) -> Vec<String> {
    let number = |at: usize| names[..=at].iter().filter(|name| **name == names[at]).count();
    names.iter().enumerate().map(|(at, name)| label(name, number(at))).collect()
}

/// The image that decides by these policies on this machine; none for the firmware in this process. SMs are dealt out as given by the search.
pub(super) fn image(common: &CommonArgs, policies: &[Policy], gpu: &GpuConfig) -> Result<Option<Image>, CliError> {
    let core = match common.firmware {
        FirmwareKind::Native if common.image.is_some() => return Err(CliError::User("--image: give --firmware qemu too".into())),
        FirmwareKind::Native => return Ok(None),
        FirmwareKind::Qemu => Core::CortexM4,
        FirmwareKind::QemuM0 => Core::CortexM0,
        FirmwareKind::QemuRiscv => Core::RiscV,
    };
    let image = match &common.image {
        Some(file) => Ok(Image { core, file: file.clone() }),
        None => {
            let searches = common.shares.is_some() || policies.iter().any(|policy| policy.searches());
            let controls = gpu.sm.oversubscription.is_some_and(|contexts| contexts.is_controlled_by_firmware());
            let levels = common.levels != Levels::None;
            Image::built_for(core, Parts { preempts: common.transition.preempts(), searches, controls, levels })
        }
    };
    image.map(Some).map_err(|error| CliError::User(error.to_string()))
}

/// The options that every command has.
pub(super) fn options(common: &CommonArgs) -> Options {
    Options {
        end: if common.until == Some(Until::Done) { End::Done } else { End::Cycles(common.cycles) },
        profile_cycles: common.profile_cycles,
        search_cycles: common.search_cycles.unwrap_or(SEARCH_CYCLES),
        shares: common.shares,
        transition: common.transition,
        latency: common.latency,
        ipc: common.ipc,
        tbs_per_sm: None,
        open_sms: None,
        relaunch: common.relaunch == Relaunch::On,
        share_memory: common.share_memory,
        warm_l2: common.warm_l2,
        sample_cycles: None,
        counted: common.counted,
        precision: common.precision,
        requests: None,
        levels: common.levels,
        queue: None,
    }
}

/// Whether `--shares` are SMs of so many kernels on the machine.
pub(super) fn check_shares(options: Options, kernels: usize, gpu: &GpuConfig) -> Result<(), CliError> {
    let checked = options.shares.map_or(Ok(()), |shares| shares.check(kernels, gpu.sm.count));
    checked.map_err(|message| CliError::User(format!("--shares: {message}")))
}

/// Whether the machine can do what the policies ask of it, with SMs given or not.
pub(super) fn check_fits(policies: &[Policy], options: Options, kernels: usize, gpu: &GpuConfig) -> Result<(), CliError> {
    let fits = fits::check_sms(policies, kernels, gpu).and_then(|()| fits::check_gating(policies, options, gpu));
    fits.map_err(|message| CliError::User(format!("--policy: {message}")))
}

/// The SMs that TBs may go to, which the machine must have.
pub(super) fn open_sms(sms: Option<u32>, gpu: &GpuConfig) -> Result<Option<u32>, CliError> {
    match sms {
        Some(sms) if sms > gpu.sm.count => {
            let (name, count) = (&gpu.name, gpu.sm.count);
            Err(CliError::User(format!("--sms {sms}: `{name}` has {count} SMs; give {count} or fewer")))
        }
        _ => Ok(sms),
    }
}

/// The options of runs in which a kernel is alone: nothing is profiled, and no SM changes its configuration.
pub(super) fn alone(cycles: u64, ipc: IpcUnit) -> Options {
    Options { ipc, ..Options::new(End::Cycles(cycles)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_named_twice_is_two_launches() {
        let names = ["mm", "fwt", "mm", "mm"].map(str::to_owned);
        assert_eq!(labels(&names), ["mm", "fwt", "mm#2", "mm#3"]);
    }
}
