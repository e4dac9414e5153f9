//! Decision latency on the host: from latched counters to the chosen configuration, per metric, at
//! 30 SMs.
//!
//! Two kernels with 3 configurations (mm + fwt) and with 7 (blk + bopt), sources.md D24. The
//! counters are read through the register file, as the driver does. This is independent of
//! instruction counts on the target.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use mias_hw_model::register_block::{GpuDescription, KernelDescriptor, RawCounters, RegisterBlock, Straps};
use mias_policies::Firmware;
use mias_policies::policy::AnyPolicy;
use mias_registers::bus::Bus;
use mias_registers::counters::Counter;
use mias_registers::{PhaseCode, PolicyCode, global};

const SMS: usize = 30;
const WINDOW: u64 = 45_000;

type Image = Firmware<AnyPolicy, 64>;

fn gpu(policy: PolicyCode) -> GpuDescription {
    GpuDescription::reference(SMS, Straps::new(policy))
}

fn kernel(tb_threads: u32, thread_registers: u32, tb_shared_bytes: u32) -> KernelDescriptor {
    KernelDescriptor { grid_tbs: 1_000_000, tb_threads, thread_registers, tb_shared_bytes, ..KernelDescriptor::default() }
}

/// Creates plausible counters, memory-bound to a varying degree.
fn counters(sm: usize, cycle: u64) -> RawCounters {
    let share = sm as u64 % 7 + 1;
    RawCounters::of([
        (Counter::Cycles, cycle),
        (Counter::IssueCycles, cycle * share / 10),
        (Counter::MemoryStallCycles, cycle * (9 - share) / 10),
        (Counter::LoadRequests, cycle / share),
        (Counter::WarpInsts, cycle * share / 8),
        (Counter::ThreadInsts, cycle * share * 4),
        (Counter::OutstandingMisses, cycle * (9 - share) * 3),
    ])
}

/// Creates a GPU whose last SM has just ended its window, before the firmware reacts.
fn about_to_decide(policy: PolicyCode, kernels: [KernelDescriptor; 2]) -> (RegisterBlock, Image) {
    let mut file = RegisterBlock::new(gpu(policy));
    let mut firmware = Image::from_straps(&mut file).expect("the map is the firmware's own");
    for kernel in kernels {
        file.post_launch(kernel).expect("a free slot");
    }
    firmware.on_interrupt(&mut file);
    file.tick(5_000, |sm| counters(sm, 0));
    firmware.on_interrupt(&mut file);
    for sm in 0..SMS {
        (0..2).for_each(|slot| file.set_resident(sm, slot, file.quota(sm, slot)));
    }
    file.tick(6_000, |sm| counters(sm, 0));
    firmware.on_interrupt(&mut file);
    assert_eq!(file.phase(), Some(PhaseCode::Profile));
    file.tick(6_000 + WINDOW, |sm| counters(sm, WINDOW));
    (file, firmware)
}

fn decision(criterion: &mut Criterion) {
    let pairs = [("mm+fwt (3)", [kernel(256, 39, 2048), kernel(256, 22, 0)]), ("blk+bopt (7)", [kernel(128, 23, 0), kernel(128, 32, 516)])];
    let metrics = [
        ("ipc", PolicyCode::MiasIpc),
        ("ipm-ipc", PolicyCode::MiasIpmIpc),
        ("factor", PolicyCode::MiasFactor),
        ("linear", PolicyCode::MiasLinear),
    ];
    let mut group = criterion.benchmark_group("decision at 30 SMs");
    for (name, kernels) in pairs {
        for (metric, policy) in metrics {
            let ready = about_to_decide(policy, kernels);
            group.bench_function(BenchmarkId::new(metric, name), |bencher| {
                bencher.iter_batched_ref(
                    || ready.clone(),
                    |(file, firmware)| {
                        firmware.on_interrupt(file);
                        black_box(file.read32(global::PHASE))
                    },
                    BatchSize::SmallInput,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, decision);
criterion_main!(benches);
