//! Conversion of command-line words to workloads: kernels and their arrivals.

use super::arrivals::{Arrival, Arrive};
use super::dump::Dumps;
use super::tracing::Tracing;
use super::{CliError, progress, say};
use mias_lab::cancel::Cancel;
use mias_lab::choice::Choice;
use mias_lab::experiment::gpu_runner::{Options, RunError};
use mias_lab::experiment::parameters::Order;
use mias_lab::experiment::recorded::label;
use mias_lab::experiment::request::Request;
use mias_lab::experiment::workload::{Workload, check_copies, place, place_for};
use mias_trace::accelsim::Warnings;
use mias_workloads::kernels::{self, Kernel, Spec};
use mias_workloads::trace_store::{self, Traced};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of kernels that the firmware schedules at a time.
const MOST_KERNELS: usize = mias_firmware::configs::MAX_KERNELS;

/// Maximum number of kernels in a queue: the launches that the firmware sees.
const MOST_QUEUED_KERNELS: usize = mias_registers::queue::ENTRIES;

/// Returns the workloads of the kernel words, each executed and traced once, on separate streams,
/// with the arrivals in `arrive`. A kernel named twice is launched twice, with separate buffers;
/// the second launch of `fwt` is called `fwt#2`.
pub(super) fn workloads(words: &[String], arrive: Arrive<'_>, tracing: &Tracing, cancel: &Cancel) -> Result<Vec<Workload>, CliError> {
    launched(&ordered(requests(words)?, arrive), arrive, &mut Dumps::default(), (tracing, cancel))
}

/// Returns the workloads as in [`workloads`], optionally with PTX that nvcc compiles for an
/// architecture, and with memory dumps.
pub(super) fn dumped_workloads(
    (words, nvcc): (&[String], Option<&str>),
    arrive: Arrive<'_>,
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
    launched(&ordered(requests, arrive), arrive, dumps, kept)
}

/// Returns the workload of one kernel that options describe instead of a word.
pub(super) fn user_workload(
    kernel: Kernel,
    arrive: Arrive<'_>,
    dumps: &mut Dumps,
    kept: (&Tracing, &Cancel),
) -> Result<Vec<Workload>, CliError> {
    let requests = [(kernel.name().to_owned(), Request::Kernel(Spec::of(Arc::new(kernel))))];
    launched(&requests, arrive, dumps, kept)
}

/// Returns the kernels for calibration: any number of different kernels, which run alone and in
/// pairs.
pub(super) fn calibration(words: &[String], tracing: &Tracing, cancel: &Cancel) -> Result<Vec<Workload>, CliError> {
    let traced = traced(&requests(words)?, &Dumps::default(), tracing, cancel)?;
    let stream = |(stream, workload)| Workload { stream: stream as u32, ..workload };
    let mut workloads: Vec<Workload> = traced.into_values().enumerate().map(stream).collect();
    place(&mut workloads);
    Ok(workloads)
}

/// Returns the kernels in launch order.
fn ordered(mut requests: Vec<(String, Request)>, arrive: Arrive<'_>) -> Vec<(String, Request)> {
    if arrive.parameters.order == Order::Reversed {
        requests.reverse();
    }
    requests
}

fn launched(
    requests: &[(String, Request)],
    arrive: Arrive<'_>,
    dumps: &mut Dumps,
    (tracing, cancel): (&Tracing, &Cancel),
) -> Result<Vec<Workload>, CliError> {
    let options = arrive.parameters.options;
    if requests.len() > MOST_QUEUED_KERNELS {
        return Err(CliError::User(format!("{} kernels; a queue draws from at most {MOST_QUEUED_KERNELS}", requests.len())));
    }
    if requests.len() > MOST_KERNELS && options.queue.is_none() {
        return Err(CliError::User(format!("{} kernels; the firmware schedules at most {MOST_KERNELS} at a time", requests.len())));
    }
    if options.share_memory && requests.iter().all(|(_, request)| request.spec().is_some()) {
        return Err(CliError::User("share-memory applies to traces, and no kernel is a trace".into()));
    }
    let labels = labels(&requests.iter().map(|(word, request)| request.name(word)).collect::<Vec<_>>());
    let arrivals = arrive.of(&labels)?;
    if let Some((label, arrival)) = arrivals.iter().find(|(_, arrival)| arrival.priority > 0 && !options.transition.preempts()) {
        let (priority, transition) = (arrival.priority, options.transition.name());
        say::warning(format_args!(
            "{label}: priority={priority} has no effect with transition `{transition}`, which does not preempt; use `--transition preempt`"
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

/// Refuses `warm-l2` for kernels without data to warm the L2 with.
pub(super) fn warmable(workloads: &[Workload], options: Options) -> Result<(), CliError> {
    match options.warm_l2 {
        true => check_copies(workloads.iter()).map_err(|why| CliError::User(format!("warm-l2: {why}"))),
        false => Ok(()),
    }
}

/// Parses all words before anything runs.
fn requests(words: &[String]) -> Result<Vec<(String, Request)>, CliError> {
    words.iter().map(|word| Ok((word.clone(), Request::parse(word)?))).collect()
}

/// Parses all words and drops duplicates; without words, returns every built-in kernel.
pub(super) fn different(words: &[String]) -> Result<Vec<(String, Request)>, CliError> {
    if words.is_empty() {
        return kernels::names().map(|name| Ok((name.to_owned(), Request::parse(name)?))).collect();
    }
    let mut different: Vec<(String, Request)> = requests(words)?;
    let mut seen = BTreeSet::new();
    different.retain(|(word, _)| seen.insert(word.clone()));
    Ok(different)
}

/// Returns the workloads of different kernels that run in isolation, each executed and traced once,
/// in order.
pub(super) fn apart(requests: &[(String, Request)], tracing: &Tracing, cancel: &Cancel) -> Result<Vec<Workload>, CliError> {
    let mut traced = traced(requests, &Dumps::default(), tracing, cancel)?;
    Ok(requests.iter().filter_map(|(word, _)| traced.remove(word)).collect())
}

/// Executes and traces each different kernel once, as far as needed, unless its trace is cached.
/// Recorded traces are read.
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
    // Print the sources in the order of the names, after the bar is removed.
    let sources = Mutex::new(Vec::new());
    let traced = different.into_par_iter().map(|(word, request)| {
        if cancel.requested() {
            // Skip kernels that have not started after an interrupt.
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

/// Returns the labels of launches: the kernel's name, with a number from the second launch on.
fn labels(names: &[String]) -> Vec<String> {
    let number = |at: usize| names[..=at].iter().filter(|name| **name == names[at]).count();
    names.iter().enumerate().map(|(at, name)| label(name, number(at))).collect()
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
