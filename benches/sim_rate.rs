//! Simulation rate: warp instructions per second of the timing model on the synthetic reference
//! traces (loading excluded), and of the functional interpreter that produces traces.
//!
//! The reference simulator reaches 138 k (comp), 49 k (shm) and 25 k (mem) per second on a 2-core
//! GPU.
//!
//! `--once TRACE RUNS [THREADS [SMS]]` is for `cargo xtask sim-rate`. It loads the trace, simulates
//! it RUNS times, which may be 0, and prints its warp instructions and the seconds of the fastest
//! run. The default is one thread and the GPU's SMs.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use mias_lab::experiment::gpu_runner::{End, GpuRunner, Options, Run};
use mias_lab::experiment::policy::{Control, Policy};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::threads::Threads;
use mias_lab::experiment::workload::{self, Workload};
use mias_lab::gpus;
use mias_trace::accelsim::Warnings;
use mias_workloads::kernels;
use mias_workloads::trace_store::Cache;

/// Number of measured runs per benchmark; a run takes about a second.
const SAMPLES: usize = 10;
/// Rows and columns of the matrices that the interpreter multiplies.
const MATRIX: u64 = 128;

fn load(trace: &str) -> Vec<Workload> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/reference");
    workload::read_list(&folder.join(trace).join("kernelslist.g"), &Cache::off(), &mut Warnings::new()).expect("our own trace")
}

fn warp_insts(workloads: &[Workload]) -> u64 {
    workloads.iter().map(|workload| workload.trace.warp_insts()).sum()
}

/// Creates the reference's GPU, with another number of SMs if given.
fn runner(threads: usize, sms: Option<u32>) -> SimulatedGpu {
    let mut gpu = gpus::load("rtx2060-accelsim").expect("built in");
    gpu.sm.count = sms.unwrap_or(gpu.sm.count);
    SimulatedGpu::new(gpu).with_threads(Threads::new(threads))
}

fn to_the_end(workloads: &[Workload]) -> Run<'_> {
    let options = Options::new(End::Done);
    Run { control: Control::Policy(Policy::LeftOver), workloads: workloads.iter().collect(), options }
}

fn timing_model(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("timing model, warp instructions");
    group.sample_size(SAMPLES);
    for name in ["comp", "shm", "mem"] {
        let workloads = load(name);
        let run = to_the_end(&workloads);
        group.throughput(Throughput::Elements(warp_insts(&workloads)));
        for threads in [1, 2] {
            let runner = runner(threads, None);
            group.bench_function(BenchmarkId::new(name, format!("threads: {threads}")), |bencher| {
                bencher.iter(|| black_box(runner.run(&run, &|_| {}).expect("ends")));
            });
        }
    }
    group.finish();
}

fn interpreter(criterion: &mut Criterion) {
    let mm = kernels::find("mm").expect("a kernel of ours");
    let trace = || kernels::trace(mm.clone(), MATRIX, 1).expect("a size that mm can do");
    let mut group = criterion.benchmark_group("interpreter, warp instructions traced and checked");
    group.sample_size(SAMPLES);
    group.throughput(Throughput::Elements(trace().warp_insts()));
    group.bench_function(BenchmarkId::new("mm", MATRIX), |bencher| bencher.iter(|| black_box(trace())));
    group.finish();
}

criterion_group!(benches, timing_model, interpreter);

/// Loads `trace`, simulates it `runs` times, and prints its warp instructions and the seconds of
/// the fastest run.
fn once(trace: &str, runs: u32, runner: &SimulatedGpu) {
    let workloads = load(trace);
    let run = to_the_end(&workloads);
    let mut fastest = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        black_box(runner.run(&run, &|_| {}).expect("ends"));
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    println!("{} {fastest}", warp_insts(&workloads));
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [option, trace, runs, rest @ ..] = arguments.as_slice()
        && option == "--once"
    {
        let threads = rest.first().map_or(1, |threads| threads.parse().expect("a number of threads"));
        let sms = rest.get(1).map(|sms| sms.parse().expect("a number of SMs"));
        return once(trace, runs.parse().expect("a number of runs"), &runner(threads, sms));
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
}
