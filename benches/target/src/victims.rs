//! Counts the instructions of a selection of victims: preemption in firmware
//! (`mias_policies::preempt`), in the build with preemption.

use mias_firmware::resources::{Resources, SmLimits};
use mias_policies::preempt::Scheme;
use mias_registers::bus::{Bus, MappedBus};
use mias_registers::{PolicyCode, feature, global, preempt, preempt_tb, slot, slot_status, sm_bit};
use semihosting::println;

use crate::block;
use crate::scenario::select_victims;

/// SM of the GPU of Shieh 2016, table 4.1.
const SM: SmLimits = SmLimits {
    capacity: Resources { threads: 1536, registers: 32_768, shared_bytes: 49_152, tbs: 8 },
    warp_threads: 32,
    register_granule: 1,
    shared_granule_bytes: 1,
};

/// Numbers of SMs that request space: those of the GPU of Shieh 2016, and twice as many.
const GPUS: [u16; 2] = [15, 30];
/// Numbers of TBs on each SM: those of Shieh 2016, table 4.2.
const TBS: [u32; 3] = [3, 6, 8];

/// Urgent kernel: the synthetic one of Shieh 2016, section 4.2.
const URGENT: (u32, u32, u32) = (256, 16, 2048);

/// Prints all measurements; returns the deepest stack.
pub(crate) fn measure() -> u32 {
    let mut deepest = 0;
    for (name, scheme) in [("shieh", Scheme::Shieh), ("chimera", Scheme::Chimera)] {
        for sms in GPUS {
            for tbs in TBS {
                // SAFETY: no scenario is running.
                let mut bus = unsafe { block::bus() };
                block::describe(&mut bus, sms, &SM, PolicyCode::LeftOver, 0);
                fill(&mut bus, sms, tbs, scheme);
                let (instructions, stack) = select_victims();
                deepest = stack.max(deepest);
                println!("victims {name} {sms} {tbs} {instructions}");
            }
        }
    }
    deepest
}

/// Fills each SM with `tbs` TBs, and adds an urgent kernel that requests space for one TB on each.
fn fill(bus: &mut MappedBus, sms: u16, tbs: u32, scheme: Scheme) {
    let registers = SM.capacity.registers / tbs;
    let threads = 32 * (SM.capacity.threads / tbs / 32);
    let shared = 3_072;
    let kernels = [(0, 0, (threads, registers / threads, shared), 1000), (1, 1, URGENT, u32::from(sms))];
    for (number, priority, (threads, thread_registers, shared), unissued) in kernels {
        for (register, value) in [
            (slot::STATUS, slot_status::OCCUPIED),
            (slot::GRID_TBS, 1000),
            (slot::TB_THREADS, threads),
            (slot::THREAD_REGISTERS, thread_registers),
            (slot::TB_SHARED_BYTES, shared),
            (slot::PRIORITY, priority),
            (slot::UNISSUED_TBS, unissued),
            (slot::UNFINISHED_TBS, 1000),
            // 2 us of 1.4 GHz (Shieh 2016, section 4.2).
            (slot::LATENCY_LIMIT, 2_800),
        ] {
            bus.write32(slot::at(number, register), value);
        }
    }
    for (offset, value) in [
        (global::FEATURES, feature::PREEMPT),
        (global::STRAP_PREEMPT, scheme as u32),
        // 177.4 GB/s at 1.4 GHz, in sectors of 32 bytes: 3.96.
        (global::DRAM_SECTORS, 259_500),
    ] {
        bus.write32(offset, value);
    }
    for sm in 0..usize::from(sms) {
        for place in 0..32 {
            let of_place = preempt::at(sm, 4 * place);
            let live = if place < tbs { preempt_tb::LIVE | preempt_tb::FLUSH } else { 0 };
            // Different on every SM and in every place, and each at a different progress.
            let insts = (place + 1) * 40_000 / tbs + sm as u32;
            for (register, value) in [
                (preempt::TB, live),
                (preempt::TB_INSTS, insts),
                (preempt::TB_CYCLES, 5 * insts + place),
                (preempt::TB_REGISTERS, place * (registers / threads * threads)),
                (preempt::TB_SHARED, place * shared),
                (preempt::TB_LEFT, preempt::UNKNOWN),
            ] {
                bus.write32(of_place + register, value);
            }
        }
        let ended = [
            (preempt::ENDED_TBS, 50),
            (preempt::ENDED_INSTS, 50 * 41_000),
            (preempt::ENDED_CYCLES, 50 * 205_000),
            (preempt::ENDED_CPI, 50 * 80),
            (preempt::ENDED_CPI_SQUARES, 50 * 6_401),
        ];
        let rest = [(preempt::WANTED, 2 | 1 << 8), (preempt::RESERVED_SLOT, 0), (preempt::RESERVED_LOW, 0), (preempt::RESERVED_HIGH, 0)];
        for (register, value) in ended.into_iter().chain(rest) {
            bus.write32(preempt::at(sm, register), value);
        }
        let (word, bit) = sm_bit(sm);
        let offset = global::PREEMPT_WANTED + 4 * word as u32;
        let words = bus.read32(offset);
        bus.write32(offset, if bit == 1 { bit } else { words | bit });
    }
}
