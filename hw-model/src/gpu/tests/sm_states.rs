//! Tests of stalled, gated and woken SMs on whole GPUs (sources.md D142), and of kernels' counters
//! in the register block (sources.md D143). The validation hook checks that a stalled SM issues
//! nothing and that a gated one holds nothing.

use super::*;
use crate::config::PowerGatingConfig;
use mias_registers::{KERNEL_SLOTS, sm, sm_state};

const WAKE_CYCLES: u32 = 70;

fn of(sms: u32) -> GpuConfig {
    let mut config = super::of(sms);
    config.sm.power_gating = Some(PowerGatingConfig { wake_cycles: WAKE_CYCLES, wake_fj: 1_000 });
    config.check().expect("a GPU");
    config
}

fn ask(gpu: &mut Gpu, sm: usize, state: u32) {
    gpu.registers_mut().write32(sm::at(sm, sm::STATE_REQUEST), state);
}

fn shown(gpu: &mut Gpu, sm: usize) -> u32 {
    gpu.registers_mut().read32(sm::at(sm, sm::STATE))
}

/// Number of instructions issued by an SM.
fn insts(gpu: &Gpu, sm: usize) -> u64 {
    (0..KERNEL_SLOTS).map(|slot| gpu.sms[sm].kernel_counters(slot).warp_insts).sum()
}

/// Requested states of SMs, and their durations.
type Plan = Vec<(u64, Vec<(usize, u32)>)>;

fn any_plan(sms: usize) -> impl Strategy<Value = Plan> {
    let asks = prop::collection::vec((0..sms, sm_state::ACTIVE..=sm_state::GATED), 0..6);
    prop::collection::vec((1u64..400, asks), 1..8)
}

/// Runs two kernels concurrently with the plan, then with all SMs active until the end. Also
/// returns the statistics at the plan's end.
fn planned(config: &GpuConfig, recipes: [&Recipe; 2], plan: &Plan, skip: bool, threads: usize, fork: bool) -> (Stats, RunEnd, Stats) {
    let gpu = gpu(config);
    let mut gpu = if skip { gpu } else { gpu.without_skipping() }.with_threads(threads);
    launch_all(&mut gpu, recipes.map(Recipe::trace));
    let mut table = Table::fixed(&recipes.map(|recipe| recipe.quota));
    let mut until = 60;
    gpu.run(&mut table, until);
    for (cycles, asks) in plan {
        asks.iter().for_each(|&(sm, state)| ask(&mut gpu, sm, state));
        until += cycles;
        gpu.run(&mut table, until);
        if fork {
            gpu = gpu.clone();
        }
    }
    let at_the_end = gpu.stats();
    (0..config.sm.count as usize).for_each(|sm| ask(&mut gpu, sm, sm_state::ACTIVE));
    let end = gpu.run(&mut table, 5_000_000);
    (at_the_end, end, gpu.stats())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// For any requests, each SM is in one state in every cycle, and kernels complete all work once
    /// SMs are active again. Threads, skipped cycles and copies change no byte.
    #[test]
    fn states_are_conserved_and_deterministic(first in random_kernel(), second in random_kernel(), plan in any_plan(7)) {
        let config = of(7);
        let expected = planned(&config, [&first, &second], &plan, true, 1, false);
        prop_assert_eq!(&expected.1, &RunEnd::AllComplete);
        for stats in [&expected.0, &expected.2] {
            let Some(states) = stats.sm_states else { continue };
            prop_assert_eq!(states.active + states.stalled + states.gated + states.waking, 7 * stats.cycles);
            prop_assert!(states.waking <= u64::from(WAKE_CYCLES) * states.wakes);
        }
        let free = planned(&config, [&first, &second], &Vec::new(), true, 1, false).2;
        prop_assert_eq!(free.sm_states, None);
        for (with, without) in expected.2.launches.iter().zip(&free.launches) {
            prop_assert_eq!((with.warp_insts, with.tbs_completed), (without.warp_insts, without.tbs_completed));
        }
        for (skip, threads, fork) in [(false, 1, false), (true, 2, false), (true, 4, false), (true, 1, true), (false, 4, true)] {
            prop_assert_eq!(&planned(&config, [&first, &second], &plan, skip, threads, fork), &expected, "{} {} {}", skip, threads, fork);
        }
    }

    /// A request for the current state changes nothing, and neither does unused gating hardware.
    #[test]
    fn active_sms_are_as_they_were(recipe in random_kernel(), asks in prop::collection::vec(0usize..7, 0..6)) {
        let plan = vec![(10, asks.into_iter().map(|sm| (sm, sm_state::ACTIVE)).collect())];
        let without = GpuConfig { sm: crate::config::SmConfig { power_gating: None, ..of(7).sm }, ..of(7) };
        let with = planned(&of(7), [&recipe, &recipe], &plan, true, 1, false);
        prop_assert_eq!(with, planned(&without, [&recipe, &recipe], &vec![(10, Vec::new())], true, 1, false));
    }
}

/// One warp with a chain of dependent instructions is delayed by the stall, minus its part in
/// flight at the start: at most its last instruction's latency and five stages. While it is stalled
/// it issues nothing and keeps its TB.
#[test]
fn a_stalled_tb_goes_on_where_it_stood() {
    let config = of(1);
    let chain = kernel(1, 32, 16, 0, |_, _| vec![(StaticInst::new(0, Class::Sp).writes(4).reads(&[4]), 0); 200]);
    let run = |stall: Option<(u64, u64)>| {
        let mut gpu = gpu(&config);
        gpu.launch(once(chain.clone())).expect("fits");
        let mut table = Table::fixed(&[1]);
        if let Some((from, cycles)) = stall {
            gpu.run(&mut table, from);
            ask(&mut gpu, 0, sm_state::STALLED);
            let before = insts(&gpu, 0);
            gpu.run(&mut table, from + cycles);
            assert_eq!((insts(&gpu, 0), gpu.sms[0].resident(0), shown(&mut gpu, 0)), (before, 1, sm_state::STALLED));
            assert!(before > 0 && before < 200);
            ask(&mut gpu, 0, sm_state::ACTIVE);
        }
        assert_eq!(gpu.run(&mut table, 1_000_000), RunEnd::AllComplete);
        let stats = gpu.stats();
        assert_eq!(stats.sm_states.map(|states| states.stalled), stall.map(|(_, cycles)| cycles));
        (stats.launches[0].end_cycle.expect("complete"), stats.launches[0].warp_insts)
    };
    let (end, all) = run(None);
    let in_flight = u64::from(config.sm.units.sp.latency) + 5;
    for from in 200..212 {
        for cycles in [1, 17, 1_000] {
            let (stalled_end, stalled_all) = run(Some((from, cycles)));
            assert_eq!(stalled_all, all);
            assert!((cycles.saturating_sub(in_flight)..=cycles).contains(&(stalled_end - end)), "{from} {cycles}: {}", stalled_end - end);
        }
    }
}

/// A stalled SM takes no TB, and its share of the grid runs on other SMs.
#[test]
fn no_tb_comes_to_a_stalled_sm() {
    let config = of(2);
    let chain = kernel(8, 32, 16, 0, |_, _| vec![(StaticInst::new(0, Class::Sp).writes(4).reads(&[4]), 0); 50]);
    let mut gpu = gpu(&config);
    gpu.launch(once(chain)).expect("fits");
    ask(&mut gpu, 1, sm_state::STALLED);
    assert_eq!(gpu.run(&mut Table::fixed(&[2]), 1_000_000), RunEnd::AllComplete);
    assert_eq!((insts(&gpu, 0), insts(&gpu, 1)), (8 * 51, 0));
}

/// An SM with TBs that is to be gated runs them to their end, takes no other, and is then gated. It
/// takes a TB again in the cycle in which it is awake.
#[test]
fn an_sm_is_gated_when_it_is_empty_and_takes_its_time_to_wake() {
    let config = of(1);
    let store = (StaticInst::new(1, Class::Store(Space::Global)).reads(&[4]).width(4), 4096);
    let chain = kernel(2, 32, 16, 0, |_, _| vec![(StaticInst::new(0, Class::Sp).writes(4).reads(&[4]), 0), store]);
    let mut gpu = gpu(&config);
    gpu.launch(once(chain)).expect("fits");
    let mut table = Table::fixed(&[1]);
    gpu.run(&mut table, 55);
    assert_eq!(gpu.sms[0].resident(0), 1);
    ask(&mut gpu, 0, sm_state::GATED);
    gpu.run(&mut table, 57);
    assert_eq!(shown(&mut gpu, 0), sm_state::EMPTYING);
    gpu.run(&mut table, 5_000);
    assert_eq!((shown(&mut gpu, 0), insts(&gpu, 0)), (sm_state::GATED, 3), "one TB, and the store is acknowledged");
    ask(&mut gpu, 0, sm_state::ACTIVE);
    gpu.run(&mut table, 5_000 + u64::from(WAKE_CYCLES));
    assert_eq!((shown(&mut gpu, 0), gpu.stats().launches[0].tbs_issued), (sm_state::WAKING, 1));
    gpu.run(&mut table, 5_001 + u64::from(WAKE_CYCLES));
    assert_eq!((shown(&mut gpu, 0), gpu.stats().launches[0].tbs_issued), (sm_state::ACTIVE, 2));
    assert_eq!(gpu.run(&mut table, 1_000_000), RunEnd::AllComplete);
    let states = gpu.stats().sm_states.expect("it was gated");
    assert_eq!((states.waking, states.wakes, states.stalled), (u64::from(WAKE_CYCLES), 1, 0));
    assert!(states.gated > 4_000);
}

/// An SM with a request during its wake-up still completes the wake-up.
#[test]
fn a_request_while_waking_is_heeded_when_awake() {
    let mut gpu = gpu(&of(1));
    gpu.launch(Launch { arrival_cycle: 10_000, ..once(kernel(1, 32, 16, 0, |_, _| vec![])) }).expect("fits");
    let mut table = Table::fixed(&[1]);
    ask(&mut gpu, 0, sm_state::GATED);
    gpu.run(&mut table, 100);
    ask(&mut gpu, 0, sm_state::STALLED);
    gpu.run(&mut table, 110);
    ask(&mut gpu, 0, sm_state::GATED);
    gpu.run(&mut table, 99 + u64::from(WAKE_CYCLES));
    assert_eq!(shown(&mut gpu, 0), sm_state::WAKING);
    gpu.run(&mut table, 1_000);
    assert_eq!(shown(&mut gpu, 0), sm_state::GATED);
    let states = gpu.stats().sm_states.expect("it was gated");
    assert_eq!((states.gated, states.waking, states.active, states.wakes), (1_000 - u64::from(WAKE_CYCLES), u64::from(WAKE_CYCLES), 0, 1));
}

/// Windows of a kernel's counters add up to its statistics, count by count.
#[test]
fn kernel_counters_are_the_statistics() {
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
    let store = StaticInst::new(1, Class::Store(Space::Global)).reads(&[4]).width(4);
    let trace = kernel(300, 64, 16, 0, |tb, warp| {
        (0..40u64).map(|i| (if i % 3 == 0 { store } else { load }, u64::from(97 * tb + warp) * 4096 + 4096 * 40 * i)).collect()
    });
    let run = |skip: bool, threads: usize| {
        let gpu = gpu(&of(9));
        let mut gpu = if skip { gpu } else { gpu.without_skipping() }.with_threads(threads);
        gpu.launch(once(trace.clone())).expect("fits");
        let (mut table, mut sums) = (Table::fixed(&[4]), [0u64; 9]);
        for window in 1..40 {
            gpu.run(&mut table, 1_000 * window);
            gpu.settle(gpu.now);
            gpu.load_counters();
            let now = gpu.now;
            gpu.registers_mut().set_now(now);
            gpu.registers_mut().write32(global::KERNEL_SNAPSHOT, 1);
            for (sum, base) in sums.iter_mut().zip((0..9).map(|at| global::KERNEL_CYCLES + 0x20 * at)) {
                *sum += u64::from(gpu.registers_mut().read32(base));
            }
        }
        let stats = gpu.stats();
        (sums, stats)
    };
    let (sums, stats) = run(true, 1);
    let (launch, memory) = (&stats.launches[0], &stats.counters[0].memory);
    let expected = [
        39_000,
        launch.warp_insts,
        launch.thread_insts,
        launch.l2.accesses,
        launch.l2.hits,
        launch.dram_reads,
        launch.dram_writes,
        memory.dram_row_hits,
        launch.tbs_completed,
    ];
    assert_eq!(sums, expected);
    assert!(expected.iter().all(|&count| count > 0), "{expected:?}");
    for (skip, threads) in [(false, 1), (true, 2), (true, 4)] {
        assert_eq!(run(skip, threads), (sums, stats.clone()));
    }
}
