//! Generation of all maximal configurations for 2, 3 and 4 kernels on an SM of the thesis' GPU
//! (sources.md D24).

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mias_firmware::configs::{Candidate, Generator};
use mias_firmware::resources::{Resources, SmLimits, TbShape};

const RTX2060: SmLimits = SmLimits {
    capacity: Resources { threads: 1024, registers: 65_536, shared_bytes: 65_536, tbs: 32 },
    warp_threads: 32,
    register_granule: 4,
    shared_granule_bytes: 1,
};

fn candidate(threads: u32, thread_registers: u32, shared_bytes: u32) -> Candidate {
    Candidate { demand: RTX2060.demand(&TbShape { threads, thread_registers, shared_bytes }), cap: u8::MAX }
}

fn generation(criterion: &mut Criterion) {
    // blk, bopt, dxtc, mm.
    let kernels = [candidate(128, 23, 0), candidate(128, 32, 516), candidate(64, 98, 2048), candidate(256, 39, 2048)];
    let mut group = criterion.benchmark_group("configurations");
    for count in 2..=4 {
        let kernels = &kernels[..count];
        let total = Generator::new(RTX2060.capacity, kernels).count();
        group.throughput(Throughput::Elements(total as u64));
        group.bench_function(BenchmarkId::new("kernels", format!("{count} ({total})")), |bencher| {
            bencher.iter(|| Generator::new(black_box(RTX2060.capacity), black_box(kernels)).count());
        });
    }
    group.finish();
}

criterion_group!(benches, generation);
criterion_main!(benches);
