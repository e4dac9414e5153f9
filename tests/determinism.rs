//! The same input gives the same bytes: on every run, and with any number of workers.

use mias::experiment::compare::{Watch, compare};
use mias::experiment::machine::{End, Options};
use mias::experiment::policy::{IpcUnit, Policy, Transition};
use mias::experiment::simulated::SimulatedGpu;
use mias::experiment::workload::{Workload, place};
use mias::report::comparison_json;
use mias::{gpu_file, kernels};
use std::sync::Arc;

/// Progress is nobody's business here.
struct Unwatched;

impl Watch for Unwatched {
    fn planned(&self, _runs: usize) {}
    fn cycles(&self, _cycles: u64) {}
    fn finished(&self) {}
}

/// From PTX to JSON: both kernels traced, every policy and configuration run, the report rendered, by `workers` threads.
fn comparison(workers: usize, options: Options) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().unwrap();
    pool.install(|| {
        let traced = |(name, size, stream)| {
            let trace = kernels::trace(kernels::find(name).unwrap(), size, 1, &mut |_, _| {}).unwrap();
            Workload::new(name, Arc::new(trace), stream)
        };
        let mut workloads: Vec<Workload> = [("mm", 256, 0), ("fwt", 1 << 17, 1)].map(traced).into();
        place(&mut workloads);
        let gpu = gpu_file::load("rtx2060").unwrap();
        let result = compare(&SimulatedGpu::new(gpu.clone()), &workloads, &Policy::ALL, options, &Unwatched).unwrap();
        comparison_json::render(&result, &gpu, &workloads, options).unwrap()
    })
}

#[test]
fn equal_comparisons_are_equal_bytes_with_any_number_of_workers() {
    let window = Options { end: End::Cycles(16_000), profile_cycles: 2_000, transition: Transition::Drain, ipc: IpcUnit::Thread };
    let done = Options { end: End::Done, transition: Transition::Ideal, ..window };
    for options in [window, done] {
        let first = comparison(1, options);
        assert!(first.len() > 1_000 && first.contains("mias-factor"), "a whole report: {first}");
        for workers in [1, 4] {
            assert_eq!(first, comparison(workers, options), "{workers} workers");
        }
    }
}
