//! Tests of oversubscription with preemption (Lin et al. 2018 with Shieh 2016; sources.md D198).
//!
//! TBs whose contexts are not in place leave, extra TBs leave with them, and capacity becomes free
//! for others. Every run is validated in every cycle ([`Gpu::with_validation`]).

use super::oversubscription::{any_oversubscription, any_small, chases, small, with};
use super::preempt::{Eager, preempting_gpu};
use super::*;
use crate::config::{OversubscriptionConfig, OversubscriptionMechanism, PreemptionConfig, ResumeOn, SwitchModel};
use crate::gpu::{Preemption, Technique};
use crate::sm::Resources;
use mias_registers::preempt::{self, MAX_PLACES};
use mias_registers::technique;

const TECHNIQUES: [u32; 3] = [technique::DRAIN, technique::FLUSH, technique::SWITCH];

/// GPU with both mechanisms.
fn both(mut config: GpuConfig, oversubscription: OversubscriptionConfig, preemption: PreemptionConfig) -> GpuConfig {
    config.sm.preemption = Some(preemption);
    with(config, oversubscription)
}

/// Commands to positions of SMs, each with its delay after the previous one.
type Commands = Vec<(u64, usize, u32, u32)>;

fn any_commands() -> impl Strategy<Value = Commands> {
    let technique = prop::sample::select(TECHNIQUES.to_vec());
    prop::collection::vec((1u64..300, 0usize..2, 0..MAX_PLACES as u32 / 2, technique), 0..40)
}

fn any_preemption() -> impl Strategy<Value = PreemptionConfig> {
    let switch = prop::sample::select(vec![SwitchModel::Traffic, SwitchModel::Stall]);
    let resume = prop::sample::select(vec![ResumeOn::AnySm, ResumeOn::SameSm]);
    (switch, resume).prop_map(|(switch, resume)| PreemptionConfig { switch, resume, ..PreemptionConfig::default() })
}

/// Runs a kernel with commands; copies replace the GPU if requested.
fn commanded(
    config: &GpuConfig,
    trace: &Arc<KernelTrace>,
    commands: &Commands,
    (skip, threads, forks): (bool, usize, bool),
) -> (RunEnd, Stats) {
    let gpu = preempting_gpu(config);
    let mut gpu = if skip { gpu } else { gpu.without_skipping() }.with_threads(threads);
    gpu.launch(once(trace.clone())).expect("fits");
    let mut table = Table::fixed(&[32]);
    let mut until = 60;
    gpu.run(&mut table, until);
    for &(cycles, sm, place, how) in commands {
        gpu.registers_mut().write32(global::MODE, mode::PREEMPT);
        gpu.registers_mut().write32(preempt::at(sm, preempt::COMMAND + 4 * place), how);
        until += cycles;
        if gpu.run(&mut table, until) == RunEnd::AllComplete {
            break;
        }
        if forks {
            gpu = gpu.clone();
        }
    }
    (gpu.run(&mut table, 20_000_000), gpu.stats())
}

/// Kernels with short runs, since each runs three times.
fn short_kernel() -> impl Strategy<Value = Recipe> {
    (random_kernel(), 1u32..24).prop_map(|(mut recipe, tbs)| {
        recipe.tbs = tbs;
        recipe
    })
}

fn fits(config: &GpuConfig, trace: &KernelTrace) -> bool {
    Resources::of_sm(&config.sm).fits(&Resources::of_tb(trace.info(), &config.sm))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For any preemptions at any time, every TB ends once. The work equals that of a run without
    /// preemption and switching, and the discarded work equals the record. Threads, skipping and
    /// copies change nothing.
    #[test]
    fn every_tb_runs_to_its_end_once(
        recipe in short_kernel(),
        config in any_small(),
        oversubscription in any_oversubscription(),
        preemption in any_preemption(),
        commands in any_commands(),
    ) {
        let trace = recipe.trace();
        prop_assume!(fits(&config, &trace));
        let config = both(config, oversubscription, preemption);
        let (end, stats) = commanded(&config, &trace, &commands, (true, 1, false));
        prop_assert_eq!(&end, &RunEnd::AllComplete);
        let [launch] = &stats.launches[..] else { panic!("one launch") };
        prop_assert_eq!(launch.tbs_completed, u64::from(recipe.tbs));
        prop_assert_eq!((launch.useful_warp_insts(), launch.useful_thread_insts()), (trace.warp_insts(), trace.thread_insts()));
        prop_assert_eq!(launch.thrown_away.warp_insts, stats.preemptions.iter().map(Preemption::thrown_away).sum::<u64>());
        for how in [(false, 1, true), (true, 2, false)] {
            prop_assert_eq!(&commanded(&config, &trace, &commands, how), &(RunEnd::AllComplete, stats.clone()), "{:?}", how);
        }
    }

    /// An urgent kernel arrives while another has extra TBs: all TBs of both end, for any victims
    /// and techniques.
    #[test]
    fn an_urgent_kernel_has_its_room(
        first in short_kernel(),
        second in short_kernel(),
        config in any_small(),
        oversubscription in any_oversubscription(),
        preemption in any_preemption(),
        how in 0usize..3,
        arrival in 100u64..3_000,
        priority in 0u8..2,
    ) {
        let traces = [first.trace(), second.trace()];
        prop_assume!(traces.iter().all(|trace| fits(&config, trace)));
        let config = both(config, oversubscription, preemption);
        let run = |skip: bool, threads: usize| {
            let gpu = preempting_gpu(&config);
            let mut gpu = if skip { gpu } else { gpu.without_skipping() }.with_threads(threads);
            gpu.launch(once(traces[0].clone())).expect("fits");
            let late = Launch { arrival_cycle: arrival, stream: 1, priority, sector_offset: 1 << 20, ..once(traces[1].clone()) };
            gpu.launch(late).expect("fits");
            let end = gpu.run(&mut Eager::new(&[32, second.quota + 8], TECHNIQUES[how]), 20_000_000);
            (end, gpu.stats())
        };
        let (end, stats) = run(true, 1);
        prop_assert_eq!(&end, &RunEnd::AllComplete);
        for (launch, trace) in stats.launches.iter().zip(&traces) {
            prop_assert_eq!(launch.tbs_completed, u64::from(trace.tbs()));
            prop_assert_eq!(launch.useful_warp_insts(), trace.warp_insts());
        }
        prop_assert_eq!(run(false, 2), (RunEnd::AllComplete, stats));
    }
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` skips.
mod slow {
    use super::*;

    /// Four TBs fit an SM, and one to three extra ones are resident with many absent warps, when an
    /// urgent kernel arrives. All of them leave by the commanded technique, native and extra ones
    /// alike. The urgent kernel has its TBs by the time that all have left.
    #[test]
    fn extra_tbs_leave_with_those_that_are_commanded() {
        let trace = chases(32, 64, 16, 0, 400);
        let urgent = kernel(4, 64, 16, 0, |_, _| vec![(StaticInst::new(0, Class::Int).writes(4).reads(&[4]), 0); 20]);
        for (mechanism, technique, named) in [
            (OversubscriptionMechanism::Duet, technique::FLUSH, Technique::Flush),
            (OversubscriptionMechanism::Duet, technique::SWITCH, Technique::Switch),
            (OversubscriptionMechanism::DuetTb, technique::SWITCH, Technique::Switch),
            (OversubscriptionMechanism::Virtual, technique::FLUSH, Technique::Flush),
            (OversubscriptionMechanism::Virtual, technique::DRAIN, Technique::Drain),
        ] {
            // Loads in flight of eight flushed TBs would occupy all 16 spare warp numbers.
            let oversubscription =
                OversubscriptionConfig { extra: Some(3), table_warps: Some(32), ..OversubscriptionConfig::of(mechanism) };
            let config = both(
                GpuConfig { sm: crate::config::SmConfig { count: 1, ..small().sm }, ..small() },
                oversubscription,
                PreemptionConfig::default(),
            );
            let mut gpu = preempting_gpu(&config);
            gpu.launch(once(trace.clone())).expect("fits");
            gpu.launch(Launch { arrival_cycle: 2_000, stream: 1, priority: 1, sector_offset: 1 << 20, ..once(urgent.clone()) })
                .expect("fits");
            assert_eq!(gpu.run(&mut Eager::new(&[32, 32], technique), 20_000_000), RunEnd::AllComplete);
            let stats = gpu.stats();
            assert_eq!(stats.oversubscription[0].native_tbs, 4);
            let first = stats.preemptions.iter().map(|tb| tb.commanded_cycle).min().expect("somebody has to leave");
            let left: Vec<_> = stats.preemptions.iter().filter(|tb| tb.commanded_cycle == first).collect();
            assert!(left.len() > 4 && left.iter().all(|tb| tb.technique == named && !tb.refused), "{mechanism:?}: {left:#?}");
            assert_eq!([0, 1].map(|launch| stats.launches[launch].tbs_completed), [32, 4]);
            let [long, urgent] = [0, 1].map(|launch| stats.launches[launch]);
            let issued = urgent.first_issue_cycle.expect("it ran");
            let last = left.iter().filter_map(|tb| tb.left_cycle).max().expect("all have left");
            // A move of dropped contexts still takes its time: two of 16 registers and a state of
            // 128 bytes, 17 cycles each.
            assert!(
                first <= issued && issued <= last + 2 + 2 * 17,
                "{mechanism:?} {named:?}: all have left by {last}, and a TB comes in {issued}"
            );
            assert!(urgent.end_cycle < long.end_cycle, "{mechanism:?} {named:?}");
        }
    }
}
