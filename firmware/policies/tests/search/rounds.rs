//! Trials on the whole GPU, round by round, with kernels of given rates.

use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::Context;
use mias_firmware::policy::Next;
use mias_firmware::resources::{Resources, SmLimits, TbShape};
use mias_policies::policy::MiasTrial;
use mias_policies::search::Searches as _;
use mias_policies::search::{KernelCounts, Parameters, Search};
use proptest::prelude::*;

const LIMITS: SmLimits = SmLimits {
    capacity: Resources { threads: 16, registers: 0, shared_bytes: 0, tbs: 32 },
    warp_threads: 1,
    register_granule: 1,
    shared_granule_bytes: 1,
};
const SMS: u16 = 8;
/// Cycles of a step's windows.
pub(super) const WINDOW: u32 = 20_000;

/// Returns kernels whose TBs take these threads of 16.
pub(super) fn kernels(threads: &[u32]) -> Vec<Kernel> {
    let kernel = |threads: &u32| Kernel::new(0, &TbShape { threads: *threads, thread_registers: 0, shared_bytes: 0 }, 1_000_000, &LIMITS);
    threads.iter().map(kernel).collect()
}

pub(super) fn tbs(tbs: &[u8]) -> [u8; 4] {
    let mut all = [0; 4];
    all[..tbs.len()].copy_from_slice(tbs);
    all
}

/// A round of trials: the tried vectors, their lengths, the result, and the length of its rest if
/// the search continues.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) tried: Vec<[u8; 4]>,
    pub(super) cycles: Vec<[u32; 2]>,
    pub(super) stays: [u8; 4],
    pub(super) rest: Option<u32>,
}

/// Runs `count` rounds of kernels with these instructions per cycle; fewer if the search ends.
pub(super) fn rounds(kernels: &[Kernel], count: usize, did: &mut dyn FnMut([u8; 4], usize) -> u32) -> Vec<Round> {
    let gpu = GpuProperties { sm_count: SMS, limits: LIMITS, ..GpuProperties::NONE };
    let context = Context { gpu: &gpu, settings: &Settings::default(), kernels };
    let mut search = Search::NONE;
    search.parameters = Parameters { warm_up: WINDOW, window: WINDOW, able: true, ..Parameters::NONE };
    search.begin(SMS, kernels.len());
    let mut policy = MiasTrial::NEW;
    let mut rounds = Vec::new();
    while rounds.len() < count {
        let (mut tried, mut lasted) = (Vec::new(), Vec::new());
        let rest = loop {
            match policy.search(&context, &mut search) {
                Next::Measure => {}
                Next::Rest(cycles) => break Some(cycles),
                Next::Done => break None,
            }
            let now = search.on_all.expect("SMs are shared").0;
            let cycles = [policy.settle_cycles(&search.parameters), policy.measure_cycles(&search.parameters)];
            for (settled, cycles) in [true, false].into_iter().zip(cycles) {
                for (kernel, counts) in search.counts.iter_mut().enumerate().take(kernels.len()) {
                    *counts = KernelCounts { cycles, instructions: cycles.saturating_mul(did(now, kernel)), ..KernelCounts::NONE };
                }
                if settled {
                    policy.settled(&mut search);
                }
            }
            tried.push(now);
            lasted.push(cycles);
            // The best, four vain exchanges, and up to three kernels whose sixteen TBs are halved
            // four times, each measured twice.
            assert!(tried.len() <= 1 + 4 + 2 * 3 * 4, "{tried:?}");
        };
        policy.give_up(&mut search);
        search.give_up();
        rounds.push(Round { tried, cycles: lasted, stays: search.on_all.expect("SMs are shared").0, rest });
        if rest.is_none() {
            break;
        }
        search.go_on();
    }
    rounds
}

/// Returns an arbitrary function of the configuration as a kernel's rate.
pub(super) fn random(seed: u64, tbs: [u8; 4], kernel: usize) -> u32 {
    let mut state = seed ^ kernel as u64;
    for number in tbs {
        state = (state ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
    10 + (state >> 40) as u32 % 100
}

/// Generates two to four kernels with space for one TB of each.
pub(super) fn several() -> impl Strategy<Value = Vec<Kernel>> {
    prop::collection::vec(1..9_u32, 2..5)
        .prop_map(|threads| kernels(&threads))
        .prop_filter("they fit together", |kernels| kernels.iter().map(|kernel| kernel.demand.threads).sum::<u32>() <= 16)
}
