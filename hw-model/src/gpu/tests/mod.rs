//! Comparison of the GPU with arithmetic: latencies, rates and conservation; and sleeping changes
//! nothing.
//!
//! Kernels here are made by hand; the scheduler is a table of quotas.

mod active_warps;
mod cap;
mod context_moves;
mod dram_order;
mod fetch;
mod first_run;
mod global_limits;
mod lin18;
mod lines;
mod memory_issue;
mod options;
mod oversubscription;
mod oversubscription_preempted;
mod preempt;
mod reserved;
mod shares_written;
mod sharing_counts;
mod sm_states;
mod snapshot;
mod starvation;
mod steering;
mod switches;
mod texture_cache;
mod threads;
mod ways;
mod ways_written;
mod wide;

use super::*;
use crate::hand_made::{Recipe, config, kernel, random_kernel};
use crate::register_block::Straps;
use crate::sm::{ISSUE_CLASSES, IssueClass};
use mias_registers::bus::Bus;
use mias_registers::{PolicyCode, global, interrupt, mode, slot, slot_control};
use mias_warp_trace::isa::{Class, Space, StaticInst};
use mias_warp_trace::{KernelTrace, Step};
use proptest::prelude::*;
use std::borrow::Borrow;
use std::sync::Arc;

/// Firmware that gives the n-th kernel launched `quotas[n]` TBs per SM; from `phases[i].0` on those
/// of `phases[i].1`.
struct Table {
    phases: Vec<(u64, Vec<u32>)>,
    slots: Vec<u32>,
    ideal: bool,
}

impl Table {
    fn fixed(quotas: &[u32]) -> Self {
        Table { phases: vec![(0, quotas.to_vec())], slots: Vec::new(), ideal: false }
    }

    fn apply(&self, registers: &mut RegisterBlock, now: u64) {
        let Some((_, quotas)) = self.phases.iter().rev().find(|(from, _)| *from <= now) else { return };
        for (slot, quota) in self.slots.iter().zip(quotas) {
            registers.write32(global::QUOTA_ALL + 4 * slot, *quota);
        }
        registers.write32(global::COMMIT, 1);
    }
}

impl Microcontroller for Table {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        let status = registers.read32(global::INT_STATUS);
        registers.write32(global::INT_STATUS, status);
        registers.write32(global::MODE, if self.ideal { mode::IDEAL } else { mode::DRAIN });
        while registers.read32(global::LAUNCH_COUNT) > 0 {
            self.slots.push(registers.read32(global::LAUNCH_SLOT));
            registers.write32(global::LAUNCH_POP, 1);
        }
        let completed = registers.read32(global::COMPLETED);
        registers.write32(global::COMPLETED, completed);
        for number in (0..8).filter(|n| completed >> n & 1 == 1) {
            registers.write32(slot::at(number, slot::CONTROL), slot_control::RELEASE);
        }
        let now = registers.now();
        self.apply(registers, now);
        if let Some((next, _)) = self.phases.iter().find(|(from, _)| *from > now) {
            registers.write32(global::TIMER_LOW, *next as u32);
            registers.write32(global::TIMER_HIGH, 0);
        }
    }
}

fn gpu(config: &GpuConfig) -> Gpu {
    let mut gpu = Gpu::new(config, Straps::new(PolicyCode::LeftOver)).with_validation();
    let events = interrupt::LAUNCH | interrupt::COMPLETED | interrupt::DRAINED | interrupt::TIMER;
    gpu.registers_mut().write32(global::INT_ENABLE, events);
    gpu
}

fn once(trace: Arc<KernelTrace>) -> Launch {
    Launch::new(trace)
}

/// Launch of a kernel on its own stream and its own sectors.
fn beside(stream: u32, trace: Arc<KernelTrace>) -> Launch {
    Launch { stream, sector_offset: u64::from(stream) << 20, ..once(trace) }
}

fn launch_all(gpu: &mut Gpu, traces: impl IntoIterator<Item = Arc<KernelTrace>>) {
    for (stream, trace) in (0..).zip(traces) {
        gpu.launch(beside(stream, trace)).expect("fits");
    }
}

/// GPU with these kernels launched concurrently.
fn launched(config: &GpuConfig, traces: impl IntoIterator<Item = Arc<KernelTrace>>) -> Gpu {
    let mut gpu = gpu(config);
    launch_all(&mut gpu, traces);
    gpu
}

/// Quotas of the recipes, at least one TB each.
fn quotas(recipes: &[impl Borrow<Recipe>]) -> Table {
    Table::fixed(&recipes.iter().map(|recipe| recipe.borrow().quota.max(1)).collect::<Vec<_>>())
}

/// Runs kernels concurrently until all have ended.
fn all(config: &GpuConfig, recipes: &[impl Borrow<Recipe>]) -> (RunEnd, Stats) {
    let mut gpu = launched(config, recipes.iter().map(|recipe| recipe.borrow().trace()));
    (gpu.run(&mut quotas(recipes), 5_000_000), gpu.stats())
}

/// Runs a single kernel with `tbs` TBs per SM until it has ended.
fn alone(config: &GpuConfig, trace: Arc<KernelTrace>, tbs: u32) -> Stats {
    let mut gpu = launched(config, [trace]);
    assert_eq!(gpu.run(&mut Table::fixed(&[tbs]), 20_000_000), RunEnd::AllComplete);
    gpu.stats()
}

fn cycles(config: &GpuConfig, trace: Arc<KernelTrace>) -> u64 {
    alone(config, trace, 32).launches[0].end_cycle.expect("complete")
}

/// Warp instructions of each launch.
fn insts(stats: &Stats) -> Vec<u64> {
    stats.launches.iter().map(|launch| launch.warp_insts).collect()
}

/// GPU with `sms` SMs, on which kernels start soon.
fn of(sms: u32) -> GpuConfig {
    let mut config = config();
    (config.sm.count, config.launch.latency_cycles) = (sms, 50);
    config
}

/// First 4,000 cycles of a kernel, with or without skipping.
fn run_of(config: &GpuConfig, recipe: &Recipe, skip: bool) -> (RunEnd, Stats) {
    let gpu = gpu(config);
    let mut gpu = if skip { gpu } else { gpu.without_skipping() };
    gpu.launch(once(recipe.trace())).expect("fits");
    let end = gpu.run(&mut Table::fixed(&[recipe.quota]), 4_000);
    (end, gpu.stats())
}

/// Number of cycles that one more `inst` costs in one warp, from runs of 100 and 300 of them.
fn cost(config: &GpuConfig, step: Step) -> u64 {
    let run = |count: usize| cycles(config, kernel(1, 32, 16, 0, |_, _| vec![step; count]));
    let difference = run(300) - run(100);
    assert_eq!(difference % 200, 0);
    difference / 200
}

#[test]
fn a_dependent_chain_costs_the_latency_plus_five_stages() {
    let config = config();
    let units = &config.sm.units;
    for (class, timing) in [
        (Class::Int, units.int),
        (Class::Sp, units.sp),
        (Class::Dp, units.dp),
        (Class::Sfu, units.sfu),
        (Class::Tensor, units.tensor),
        (Class::Texture, units.texture),
        (Class::Uniform, units.uniform),
    ] {
        let inst = StaticInst::new(0, class).writes(4).reads(&[4, 5]);
        assert_eq!(cost(&config, (inst, 0)), u64::from(timing.latency) + 5, "{class:?}");
    }
}

#[test]
fn instructions_without_registers_cost_their_interval() {
    let config = config();
    assert_eq!(cost(&config, (StaticInst::new(0, Class::Branch), 0)), u64::from(config.sm.units.branch.interval));
}

#[test]
fn unloaded_memory_latencies_are_the_sums_of_their_parts() {
    let config = config();
    let load = |space| StaticInst::new(0, Class::Load(space)).writes(4).reads(&[4]).width(4);
    // Issue, collect, dispatch, cut: four stages, then the pipeline; a hit frees its register at
    // once.
    assert_eq!(cost(&config, (load(Space::Global), 0x1000)), u64::from(config.l1.latency) + 4);
    // Shared memory uses the write-back port, one stage more.
    assert_eq!(cost(&config, (load(Space::Shared), 0)), u64::from(config.sm.shared_latency) + 5);
    let strided = |stride: u8| load(Space::Shared).width(stride);
    assert_eq!(cost(&config, (strided(8), 0)), u64::from(config.sm.shared_latency) + 6, "two passes");
    assert_eq!(cost(&config, (strided(16), 0)), u64::from(config.sm.shared_latency) + 8, "four passes");
}

#[test]
fn four_sub_cores_issue_four_instructions_per_cycle_at_most() {
    let mut config = config();
    config.sm.units.uniform.interval = 1;
    let inst = StaticInst::new(0, Class::Uniform);
    let run = |count: usize| cycles(&config, kernel(1, 1024, 16, 0, |_, _| vec![(inst, 0); count]));
    // 32 warps on 4 schedulers: 8 instructions per scheduler for each one of a warp.
    assert_eq!(run(300) - run(100), 200 * 8);
}

#[test]
fn a_barrier_holds_every_warp_until_the_last_arrives() {
    let config = config();
    let slow = StaticInst::new(0, Class::Dp).writes(4).reads(&[4]);
    let barrier = StaticInst::new(8, Class::Barrier);
    let fast = StaticInst::new(16, Class::Int).writes(5).reads(&[5]);
    // Warp 0 works before the barrier, warp 1 behind it, so nothing overlaps.
    let apart = cycles(
        &config,
        kernel(1, 64, 16, 0, |_, warp| {
            let work = [(slow, 0); 50];
            let mut steps = if warp == 0 { work.to_vec() } else { vec![] };
            steps.push((barrier, 0));
            steps.extend(if warp == 1 { work.to_vec() } else { vec![] });
            steps.push((fast, 0));
            steps
        }),
    );
    let alone = cycles(&config, kernel(1, 64, 16, 0, |_, _| vec![(slow, 0); 50]));
    // Warp 0 reaches the barrier when its last instruction has issued, 49 latencies after its
    // first; then warp 1 starts.
    let chain = 49 * (u64::from(config.sm.units.dp.latency) + 5);
    assert!((chain..chain + 5).contains(&(apart - alone)), "{apart} against {alone}");
}

#[test]
fn a_kernel_that_gets_no_quota_is_reported_not_waited_for() {
    let config = config();
    let mut gpu = gpu(&config);
    gpu.launch(once(kernel(1, 32, 16, 0, |_, _| vec![]))).expect("fits");
    let RunEnd::Stuck(report) = gpu.run(&mut Table::fixed(&[0]), u64::MAX) else { panic!("not stuck") };
    assert!(report.to_string().contains("1 to issue"), "{report}");
}

#[test]
fn a_tb_that_does_not_fit_is_refused_with_the_resource() {
    let config = config();
    let too_wide = kernel(1, 1024, 65, 0, |_, _| vec![]);
    let error = gpu(&config).launch(once(too_wide)).expect_err("68 x 1024 registers");
    assert!(error.to_string().contains("69632 registers"), "{error}");
}

/// Small GPU that a few TBs fill.
fn small() -> GpuConfig {
    let mut config = config();
    config.sm.count = 3;
    config
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Two concurrent kernels: every TB runs once (the validation hook), and instructions do not
    /// depend on the policy (sources.md D102). Each scheduler-cycle has one class, and cache
    /// outcomes add up. Running every cycle gives the statistics of skipping (sources.md D107 to
    /// D109).
    #[test]
    fn invariants_of_a_shared_run(first in random_kernel(), second in random_kernel(), ideal: bool) {
        let (a, b) = (first.trace(), second.trace());
        let (qa, qb) = (first.quota, second.quota);
        let config = small();
        let run = |quotas: &[u32], skip: bool| {
            let mut gpu = gpu(&config);
            if !skip {
                gpu = gpu.without_skipping();
            }
            for (stream, trace) in [&a, &b].into_iter().enumerate() {
                gpu.launch(Launch { stream: stream as u32, ..once(trace.clone()) }).expect("fits");
            }
            let phases = vec![(0, quotas.to_vec()), (5_600, vec![quotas[1], quotas[0]])];
            let mut table = Table { phases, slots: Vec::new(), ideal };
            assert_eq!(gpu.run(&mut table, 5_000_000), RunEnd::AllComplete);
            gpu.stats()
        };
        let stats = run(&[qa, qb], true);
        for (launch, trace) in stats.launches.iter().zip([&a, &b]) {
            prop_assert_eq!(launch.warp_insts, trace.warp_insts());
            prop_assert_eq!(launch.thread_insts, trace.thread_insts());
            prop_assert_eq!(launch.tbs_completed, u64::from(trace.tbs()));
            prop_assert_eq!(launch.issue_slots[0], launch.warp_insts, "who issues is charged");
        }
        for LaunchCounters { sm, .. } in &stats.counters {
            prop_assert_eq!(sm.l1_accesses, sm.l1_hits + sm.l1_misses + sm.l1_pending_hits);
        }
        for class in 0..ISSUE_CLASSES {
            let all: u64 = stats.sms.iter().map(|sm| sm.counters.issue_slots[class]).sum();
            let charged: u64 = stats.launches.iter().map(|launch| launch.issue_slots[class]).sum();
            // Only cycles of a scheduler without warps are attributed to no kernel.
            let idle = class == IssueClass::IdleOrControl as usize;
            prop_assert!(charged == all || idle && charged < all, "class {class}: {charged} of {all}");
        }
        for sm in &stats.sms {
            prop_assert_eq!(sm.counters.cycles, stats.cycles);
            prop_assert_eq!(sm.counters.issue_slots.iter().sum::<u64>(), 4 * stats.cycles);
            prop_assert!(sm.counters.issue_cycles + sm.counters.memory_stall_cycles <= stats.cycles);
            prop_assert_eq!(sm.resident, [0; KERNEL_SLOTS]);
        }
        prop_assert_eq!(&stats, &run(&[qa, qb], false));
        let other = run(&[qb, qa], true);
        prop_assert_eq!(other.launches[0].thread_insts, stats.launches[0].thread_insts);
    }
}

mod quanta;
mod rates;
mod turns;
