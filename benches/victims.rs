//! Victim selection on the host: from the interrupt by which all SMs request space to its end, on
//! the GPU of Shieh 2016, table 4.1, with the TBs per SM of table 4.2.
//!
//! The register block is plain memory. This is independent of instruction counts on the target
//! (docs/porting/decision-latency.md).

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mias_policies::Firmware;
use mias_policies::policy::AnyPolicy;
use mias_policies::preempt::Scheme;
use mias_registers::bus::Bus;
use mias_registers::{ID_VALUE, MAP_END, PolicyCode, VERSION_VALUE, feature, global, interrupt, preempt, preempt_tb, slot, slot_status};

const SMS: u32 = 15;
const REGISTERS: u32 = 32_768;
const THREADS: u32 = 1_536;

/// Plain memory: reads return the written values.
struct Memory(Vec<u32>);

impl Bus for Memory {
    fn read32(&mut self, offset: u32) -> u32 {
        self.0[offset as usize / 4]
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.0[offset as usize / 4] = value;
    }
}

/// Creates a GPU with `tbs` TBs on each SM, and an urgent kernel.
fn gpu(scheme: Scheme, tbs: u32) -> Memory {
    let mut bus = Memory(vec![0; MAP_END as usize / 4]);
    let threads = THREADS / tbs / 32 * 32;
    for (offset, value) in [
        (global::ID, ID_VALUE),
        (global::VERSION, VERSION_VALUE),
        (global::FEATURES, feature::PREEMPT),
        (global::SM_COUNT, SMS),
        (global::SLOT_COUNT, 8),
        (global::SM_THREADS, THREADS),
        (global::SM_REGISTERS, REGISTERS),
        (global::SM_SHARED_BYTES, 49_152),
        (global::SM_TBS, 8),
        (global::WARP_THREADS, 32),
        (global::DRAM_SECTORS, 259_500),
        (global::STRAP_POLICY, PolicyCode::LeftOver as u32),
        (global::STRAP_PROFILE_WINDOW, 45_000),
        (global::STRAP_PREEMPT, scheme as u32),
        (global::STRAP_PREEMPT_LIMIT, 2_800),
    ] {
        bus.write32(offset, value);
    }
    for (number, priority, threads, registers, shared) in [(0, 0, threads, REGISTERS / tbs / threads, 3_072), (1, 1, 256, 16, 2_048)] {
        for (register, value) in [
            (slot::STATUS, slot_status::OCCUPIED),
            (slot::GRID_TBS, 1_000),
            (slot::TB_THREADS, threads),
            (slot::THREAD_REGISTERS, registers),
            (slot::TB_SHARED_BYTES, shared),
            (slot::PRIORITY, priority),
            (slot::UNISSUED_TBS, SMS),
            (slot::UNFINISHED_TBS, 1_000),
        ] {
            bus.write32(slot::at(number, register), value);
        }
    }
    for sm in 0..SMS as usize {
        for place in 0..tbs {
            let insts = (place + 1) * 40_000 / tbs + sm as u32;
            for (register, value) in [
                (preempt::TB, preempt_tb::LIVE | preempt_tb::FLUSH),
                (preempt::TB_INSTS, insts),
                (preempt::TB_CYCLES, 5 * insts + place),
                (preempt::TB_REGISTERS, place * (REGISTERS / tbs / threads * threads)),
                (preempt::TB_SHARED, place * 3_072),
                (preempt::TB_LEFT, preempt::UNKNOWN),
            ] {
                bus.write32(preempt::at(sm, register + 4 * place), value);
            }
        }
        for (register, value) in [
            (preempt::WANTED, 2 | 1 << 8),
            (preempt::ENDED_TBS, 50),
            (preempt::ENDED_INSTS, 50 * 41_000),
            (preempt::ENDED_CYCLES, 50 * 205_000),
            (preempt::ENDED_CPI, 50 * 80),
            (preempt::ENDED_CPI_SQUARES, 50 * 6_401),
        ] {
            bus.write32(preempt::at(sm, register), value);
        }
    }
    bus
}

fn victims(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("victims");
    for (name, scheme) in [("shieh", Scheme::Shieh), ("chimera", Scheme::Chimera)] {
        for tbs in [3, 6, 8] {
            let mut bus = gpu(scheme, tbs);
            let Ok(mut firmware) = Firmware::<AnyPolicy, 64>::from_straps(&mut bus) else { panic!("map and policy are known") };
            group.bench_function(BenchmarkId::new(name, tbs), |bencher| {
                bencher.iter(|| {
                    bus.write32(global::PREEMPT_WANTED, (1 << SMS) - 1);
                    (0..SMS as usize).for_each(|sm| bus.write32(preempt::at(sm, preempt::RESERVED_SLOT), 0));
                    bus.write32(global::INT_STATUS, interrupt::PREEMPT);
                    let Ok(()) = firmware.on_interrupt(black_box(&mut bus));
                });
            });
            let reserved = (0..SMS as usize).all(|sm| bus.read32(preempt::at(sm, preempt::RESERVED_SLOT)) != 0);
            assert!(reserved, "every SM was to give room");
        }
    }
    group.finish();
}

criterion_group!(benches, victims);
criterion_main!(benches);
