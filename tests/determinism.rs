//! Equal inputs give equal bytes, in every run and with any number of workers.

use mias_lab::experiment::compare::{Watch, compare};
use mias_lab::experiment::gpu_runner::{End, Options};
use mias_lab::experiment::policy::{Policy, Transition};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::{Workload, place};
use mias_lab::gpus;
use mias_report::comparison_json;
use mias_workloads::kernels;
use std::sync::Arc;

/// Number of SMs: few enough for runs of seconds, and enough to try every configuration.
const SMS: u32 = 6;

/// Watch that ignores progress.
struct Unwatched;

impl Watch for Unwatched {
    fn planned(&self, _runs: usize) {}
    fn cycles(&self, _cycles: u64) {}
    fn finished(&self) {}
}

/// Runs from PTX to JSON with `workers` threads: both kernels traced, every policy and
/// configuration run, the report rendered.
fn comparison(workers: usize, options: Options) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().unwrap();
    pool.install(|| {
        let traced = |(name, size, stream)| {
            let trace = kernels::trace(kernels::find(name).unwrap(), size, 1).unwrap();
            Workload::new(name, Arc::new(trace), stream)
        };
        let mut workloads: Vec<Workload> = [("mm", 128, 0), ("fwt", 1 << 15, 1)].map(traced).into();
        place(&mut workloads);
        let mut gpu = gpus::load("rtx2060").unwrap();
        gpu.sm.count = SMS;
        let result = compare(&SimulatedGpu::new(gpu.clone()), &workloads, &Policy::ALL, options, &Unwatched).unwrap();
        comparison_json::render(&result, &gpu, &workloads, options).unwrap()
    })
}

/// Returns options with a window, also for every measuring policy.
fn window() -> Options {
    Options { profile_cycles: 1_000, search_cycles: 1_000, ..Options::new(End::Cycles(120_000)) }
}

fn equal_bytes(options: Options) {
    let measuring = Policy::ALL.iter().filter(|policy| policy.measures()).count();
    let first = comparison(1, options);
    let report: serde_json::Value = serde_json::from_str(&first).unwrap();
    // The first window of trials is a quarter of a step.
    let least = |policy: &serde_json::Value| if policy == "mias-trial" { 250 } else { 1_000 };
    let profiled = |result: &&serde_json::Value| result["profile_cycles"].as_u64() >= Some(least(&result["policy"]));
    assert_eq!(
        report["results"].as_array().unwrap().iter().filter(profiled).count(),
        measuring,
        "every policy that measures had its window: {first}"
    );
    assert_eq!(first, comparison(1, options), "once more");
    assert_eq!(first, comparison(4, options), "four workers");
}

/// Tests of `cargo xtask ci` that `cargo xtask test` leaves out.
mod slow {
    use super::*;

    #[test]
    fn equal_comparisons_are_equal_bytes_with_any_number_of_workers() {
        equal_bytes(window());
    }

    #[test]
    fn so_are_those_of_kernels_until_done() {
        equal_bytes(Options { end: End::Done, transition: Transition::Ideal, ..window() });
    }
}
