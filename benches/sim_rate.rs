//! Simulation rate: warp instructions per second of the timing model on the synthetic reference traces (loading excluded),
//! and of the functional interpreter that makes traces.
//!
//! The reference simulator does 138 k (comp), 49 k (shm) and 25 k (mem) per second on a 2-core machine.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mias::accelsim::Warnings;
use mias::experiment::machine::{End, Machine, Options, Run};
use mias::experiment::policy::{Control, IpcUnit, Policy, Transition};
use mias::experiment::simulated::SimulatedGpu;
use mias::experiment::workload;
use mias::{gpu_file, kernels};

/// A run costs about a second.
const SAMPLES: usize = 10;
/// Rows and columns of the matrices that the interpreter multiplies.
const MATRIX: u64 = 128;

fn timing_model(criterion: &mut Criterion) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reference");
    let machine = SimulatedGpu::new(gpu_file::load("rtx2060-accelsim").expect("built in"));
    let options = Options { end: End::Done, profile_cycles: 45_000, transition: Transition::Drain, ipc: IpcUnit::Thread, tbs_per_sm: None };
    let mut group = criterion.benchmark_group("timing model, warp instructions");
    group.sample_size(SAMPLES);
    for name in ["comp", "shm", "mem"] {
        let workloads = workload::read_list(&folder.join(name).join("kernelslist.g"), &mut Warnings::new()).expect("our own trace");
        let run = Run { control: Control::Policy(Policy::LeftOver), workloads: workloads.iter().collect(), options };
        group.throughput(Throughput::Elements(workloads.iter().map(|workload| workload.trace.warp_insts()).sum()));
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| black_box(machine.run(&run, &|_| {}).expect("ends")));
        });
    }
    group.finish();
}

fn interpreter(criterion: &mut Criterion) {
    let mm = kernels::find("mm").expect("a kernel of ours");
    let trace = || kernels::trace(mm, MATRIX, 1, &mut |_, _| {}).expect("a size that mm can do");
    let mut group = criterion.benchmark_group("interpreter, warp instructions traced and checked");
    group.sample_size(SAMPLES);
    group.throughput(Throughput::Elements(trace().warp_insts()));
    group.bench_function(BenchmarkId::new("mm", MATRIX), |bencher| bencher.iter(|| black_box(trace())));
    group.finish();
}

criterion_group!(benches, timing_model, interpreter);
criterion_main!(benches);
