//! Comparison of preemption with arithmetic: the time of each technique; no TB is lost or ends
//! twice; and reservations are kept for their kernel.

use super::*;
use crate::config::{PreemptionConfig, ResumeOn, SwitchModel};
use crate::gpu::{Preemption, Technique};
use mias_registers::preempt::{self, MAX_PLACES};
use mias_registers::{preempt_command, preempt_tb, technique};

/// GPU with one SM that preempts.
pub(super) fn preempting(switch: SwitchModel, resume: ResumeOn) -> GpuConfig {
    let mut config = config();
    config.sm.count = 1;
    config.sm.preemption = Some(PreemptionConfig { switch, resume, ..PreemptionConfig::default() });
    config
}

/// Firmware that sets quotas and preempts all possible victims by one technique, with a flush only
/// where it is allowed.
pub(super) struct Eager {
    table: Table,
    technique: u32,
    asked: u32,
}

impl Eager {
    pub(super) fn new(quotas: &[u32], technique: u32) -> Self {
        Eager { table: Table::fixed(quotas), technique, asked: 0 }
    }
}

impl Microcontroller for Eager {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        self.table.on_interrupt(registers);
        registers.write32(global::MODE, mode::PREEMPT);
        for sm in 0..registers.read32(global::SM_COUNT) as usize {
            let wanted = registers.read32(global::PREEMPT_WANTED + 4 * (sm as u32 / 32));
            registers.write32(global::PREEMPT_WANTED + 4 * (sm as u32 / 32), wanted & 1 << (sm % 32));
            let Some(slot) = registers.read32(preempt::at(sm, preempt::WANTED)).checked_sub(1).filter(|_| wanted >> (sm % 32) & 1 != 0)
            else {
                continue;
            };
            let slot = slot & 7;
            registers.write32(preempt::at(sm, preempt::RESERVED_LOW), u32::MAX);
            registers.write32(preempt::at(sm, preempt::RESERVED_SLOT), slot + 1);
            for place in 0..MAX_PLACES as u32 {
                let tb = registers.read32(preempt::at(sm, preempt::TB + 4 * place));
                if tb & preempt_tb::LIVE != 0 && tb >> preempt_tb::SLOT_SHIFT & 7 != slot {
                    let may = self.technique != technique::FLUSH || tb & preempt_tb::FLUSH != 0;
                    self.asked += 1;
                    registers.write32(preempt::at(sm, preempt::COMMAND + 4 * place), if may { self.technique } else { technique::SWITCH });
                }
            }
        }
    }
}

pub(super) fn preempting_gpu(config: &GpuConfig) -> Gpu {
    let mut gpu = gpu(config);
    let events = interrupt::LAUNCH | interrupt::COMPLETED | interrupt::DRAINED | interrupt::TIMER | interrupt::PREEMPT;
    gpu.registers_mut().write32(global::INT_ENABLE, events);
    gpu
}

/// Long kernel that fills an SM of the reference GPU with TBs of 256 threads, and an urgent one
/// that arrives in the middle.
fn interrupted(config: &GpuConfig, technique: u32, store_first: bool) -> (Gpu, Eager) {
    let long = kernel(8, 256, 32, 1024, |tb, warp| {
        let place = 4096 * u64::from(tb) + 128 * u64::from(warp);
        let load = (StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[5]).width(4), place);
        let store = (StaticInst::new(1, Class::Store(Space::Global)).reads(&[4, 5]).width(4), place);
        let body = (0..4000).map(|n| (StaticInst::new(8 + n % 4, Class::Sp).writes(6).reads(&[6, 4, 5]), 0));
        let mut steps: Vec<Step> = vec![load];
        steps.extend(store_first.then_some(store));
        steps.extend(body);
        steps.push(store);
        steps
    });
    let urgent = kernel(2, 256, 32, 0, |_, _| (0..50).map(|_| (StaticInst::new(0, Class::Sp).writes(4).reads(&[4]), 0)).collect());
    let mut gpu = preempting_gpu(config);
    gpu.launch(once(long)).expect("fits");
    let latency = u64::from(config.launch.latency_cycles);
    gpu.launch(Launch { arrival_cycle: 3000 + latency, stream: 1, priority: 1, sector_offset: 1 << 20, ..once(urgent) }).expect("fits");
    (gpu, Eager::new(&[32, 32], technique))
}

fn run_interrupted(config: &GpuConfig, technique: u32, store_first: bool) -> Stats {
    let (mut gpu, mut eager) = interrupted(config, technique, store_first);
    assert_eq!(gpu.run(&mut eager, 1_000_000), RunEnd::AllComplete);
    gpu.stats()
}

fn latency(tb: &Preemption) -> u64 {
    tb.left_cycle.expect("it has left") - tb.commanded_cycle
}

#[test]
fn a_flush_takes_no_time_and_all_work_again() {
    let config = preempting(SwitchModel::Traffic, ResumeOn::AnySm);
    let alone = run_interrupted(&config, technique::DRAIN, false);
    let stats = run_interrupted(&config, technique::FLUSH, false);
    let flushed: Vec<_> = stats.preemptions.iter().filter(|tb| tb.technique == Technique::Flush).collect();
    assert!(!flushed.is_empty() && flushed.iter().all(|tb| latency(tb) == 0 && tb.warp_insts > 0), "{:?}", stats.preemptions);
    // Exactly the discarded instructions are executed again.
    let again: u64 = flushed.iter().map(|tb| tb.warp_insts).sum();
    assert_eq!(stats.launches[0].warp_insts, alone.launches[0].warp_insts + again);
    // All lanes take part. The rest is useful work.
    let lost = stats.launches[0].thrown_away;
    assert_eq!((lost.warp_insts, lost.thread_insts), (again, 32 * again));
    assert_eq!(stats.launches[0].useful_thread_insts(), alone.launches[0].thread_insts);
    assert_eq!(stats.launches[0].tbs_completed, 8);
    // The urgent kernel starts as soon as its launch latency is over.
    let [start, first] = [stats.launches[1].start_cycle, stats.launches[1].first_issue_cycle].map(Option::unwrap);
    assert!(first - start - u64::from(config.launch.latency_cycles) <= 1, "{}", first - start);
}

#[test]
fn a_tb_that_has_overwritten_what_it_loaded_is_not_flushed() {
    let config = preempting(SwitchModel::Traffic, ResumeOn::AnySm);
    let stats = run_interrupted(&config, technique::FLUSH, true);
    assert!(stats.preemptions.iter().all(|tb| tb.technique == Technique::Switch), "{:?}", stats.preemptions);
    assert!(!stats.preemptions.is_empty());
}

#[test]
fn a_drain_takes_as_long_as_the_tb() {
    let config = preempting(SwitchModel::Traffic, ResumeOn::AnySm);
    let stats = run_interrupted(&config, technique::DRAIN, false);
    let [_, urgent] = &stats.launches[..] else { panic!("two launches") };
    let last = stats.preemptions.iter().filter_map(|tb| tb.left_cycle).min().expect("they have left");
    assert!(urgent.first_issue_cycle.expect("it ran") + 1 >= last);
    assert_eq!(stats.launches[0].warp_insts, 8 * 8 * 4003);
}

/// A context of 8,192 registers, 1,024 bytes and eight warps of 288: 1,128 sectors out and as many
/// back, at most one per cycle and SM.
#[test]
fn a_switch_moves_the_context_out_and_in() {
    let config = preempting(SwitchModel::Traffic, ResumeOn::AnySm);
    let (mut gpu, mut eager) = interrupted(&config, technique::SWITCH, false);
    assert_eq!(gpu.run(&mut eager, 1_000_000), RunEnd::AllComplete);
    let stats = gpu.stats();
    let sectors = (4 * 8192 + 1024 + 8 * 288) / 32;
    let switched: Vec<_> = stats.preemptions.iter().filter(|tb| tb.technique == Technique::Switch).collect();
    assert!(!switched.is_empty());
    for tb in &switched {
        // Contexts move one after the other, behind those commanded with it.
        let number =
            1 + switched.iter().filter(|other| other.commanded_cycle == tb.commanded_cycle && other.left_cycle < tb.left_cycle).count()
                as u64;
        assert!(latency(tb) >= sectors * number, "{} cycles for {sectors} sectors, behind {number}", latency(tb));
        assert!(latency(tb) < 2 * sectors * number + 2000, "{}: {:#?}", latency(tb), stats.preemptions);
    }
    let drained = run_interrupted(&config, technique::DRAIN, false);
    let [with, without] = [&stats, &drained].map(|stats| stats.counters[0].memory.request_packets);
    assert_eq!(with - without, 2 * sectors * switched.len() as u64);
    // Nothing is executed twice.
    assert_eq!(stats.launches[0].warp_insts, drained.launches[0].warp_insts);
}

/// The firmware is notified that all commands of an SM are done as soon as the last context has
/// left, and not earlier.
#[test]
fn the_end_of_commands_is_posted() {
    let config = preempting(SwitchModel::Traffic, ResumeOn::AnySm);
    let (gpu, eager) = interrupted(&config, technique::SWITCH, false);
    let (mut all, mut served) = (gpu.clone(), Eager { ..eager });
    all.run(&mut served, 1_000_000);
    let preemptions = all.stats().preemptions;
    let first = preemptions.iter().map(|tb| tb.commanded_cycle).min().expect("they are switched");
    let done = |until: u64| {
        let (mut gpu, mut eager) = (gpu.clone(), Eager::new(&[32, 32], technique::SWITCH));
        gpu.run(&mut eager, until);
        let registers = gpu.registers_mut();
        (registers.read32(global::PREEMPT_DONE), registers.read32(global::INT_STATUS) & interrupt::PREEMPT_DONE != 0)
    };
    // Only the commands of the first decision count: later ones would make the SM busy again.
    let last = preemptions.iter().filter(|tb| tb.commanded_cycle == first).filter_map(|tb| tb.left_cycle).max().expect("they have left");
    assert_eq!(done(last - 1), (0, false));
    assert_eq!(done(last + 1), (1, true));
}

/// Firmware that takes a number of cycles to choose.
struct Slow {
    eager: Eager,
    cycles: u64,
    /// Number of calls with a requesting SM, and of those in which its commands were in progress.
    asked: u32,
    asked_in_between: u32,
    /// Number of SMs for which the last decision time was computed.
    looked_at: u32,
}

impl Microcontroller for Slow {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        let asks = registers.read32(global::PREEMPT_WANTED) & 1 != 0;
        if asks {
            let result = |place: usize| registers.read32(preempt::at(0, preempt::COMMAND + 4 * place as u32));
            let busy = (0..MAX_PLACES).map(result).any(|result| result & preempt_command::BUSY != 0);
            (self.asked, self.asked_in_between) = (self.asked + 1, self.asked_in_between + u32::from(busy));
        }
        self.eager.on_interrupt(registers);
        self.looked_at = registers.preempt_work().0;
        let now = u64::from(registers.read32(global::CYCLE_LOW));
        registers.finish_decision(if asks { now + self.cycles } else { now });
    }
}

/// While the firmware chooses, a third kernel arrives, so all SMs are examined and the waiting one
/// requests again. The commands answer that too. It requests again only after their execution, so
/// no victim is chosen for positions that will become free. And a later read without requests takes
/// no decision time.
#[test]
fn an_sm_does_not_ask_while_its_commands_are_carried_out() {
    let config = preempting(SwitchModel::Traffic, ResumeOn::AnySm);
    for cycles in [0, 200, 2_000] {
        let (mut gpu, eager) = interrupted(&config, technique::SWITCH, false);
        let third = kernel(1, 32, 8, 0, |_, _| vec![(StaticInst::new(0, Class::Sp).writes(4).reads(&[4]), 0)]);
        let arrival_cycle = 3_100 + u64::from(config.launch.latency_cycles);
        gpu.launch(Launch { arrival_cycle, stream: 2, sector_offset: 1 << 21, ..once(third) }).expect("fits");
        gpu.registers_mut().time_decisions();
        let mut slow =
            Slow { eager: Eager { table: Table::fixed(&[32, 32, 32]), ..eager }, cycles, asked: 0, asked_in_between: 0, looked_at: 9 };
        assert_eq!(gpu.run(&mut slow, 1_000_000), RunEnd::AllComplete);
        assert_eq!((slow.asked, slow.asked_in_between, slow.looked_at), (1, 0, 0), "{cycles} cycles");
        let stats = gpu.stats();
        assert_eq!(stats.preemptions.len(), 4, "{:?}", stats.preemptions);
    }
}

/// Late commands apply to the TBs shown to the firmware. They are refused if other TBs are there by
/// then, including the urgent kernel's, or if no kernel waits for the capacity any more.
#[test]
fn late_commands_are_for_who_was_shown() {
    let config = preempting(SwitchModel::Traffic, ResumeOn::AnySm);
    let arithmetic =
        |insts: u32| move |_: u32, _: u32| (0..insts).map(|_| (StaticInst::new(0, Class::Sp).writes(4).reads(&[4]), 0)).collect();
    let mut refused = [0; 4];
    for (refused, cycles) in refused.iter_mut().zip([0, 300, 3_000, 30_000]) {
        let mut gpu = preempting_gpu(&config);
        let latency = u64::from(config.launch.latency_cycles);
        gpu.launch(once(kernel(40, 256, 32, 0, arithmetic(300)))).expect("fits");
        let urgent = kernel(3, 256, 32, 0, arithmetic(900));
        gpu.launch(Launch { arrival_cycle: 3_000 + latency, stream: 1, priority: 1, sector_offset: 1 << 20, ..once(urgent) })
            .expect("fits");
        gpu.registers_mut().time_decisions();
        let mut slow = Slow { eager: Eager::new(&[32, 32], technique::SWITCH), cycles, asked: 0, asked_in_between: 0, looked_at: 0 };
        assert_eq!(gpu.run(&mut slow, 1_000_000), RunEnd::AllComplete);
        let stats = gpu.stats();
        let all_issued = stats.launches[1].all_issued_cycle.expect("it ran");
        for tb in stats.preemptions.iter().filter(|tb| !tb.refused) {
            assert!(tb.launch == 0 && tb.commanded_cycle <= all_issued, "{cycles} cycles: {tb:?}, all issued by {all_issued}");
        }
        *refused = stats.preemptions.iter().filter(|tb| tb.refused).count();
        assert_eq!([0, 1].map(|launch| stats.launches[launch].tbs_completed), [40, 3]);
    }
    assert!(refused[0] == 0 && refused[2] > 0 && refused[3] > 0, "{refused:?}");
}

/// Shieh 2016, section 4.1: the time of registers and shared memory at the SM's share of bandwidth.
#[test]
fn the_papers_switch_is_a_stall_of_the_estimated_length() {
    let config = preempting(SwitchModel::Stall, ResumeOn::SameSm);
    let stats = run_interrupted(&config, technique::SWITCH, false);
    let drained = run_interrupted(&config, technique::DRAIN, false);
    let beats = u64::from(config.dram.channels * config.dram.beats_per_cycle) * u64::from(config.clocks.dram_khz);
    let per = u64::from(config.dram.burst_beats) * u64::from(config.clocks.core_khz);
    let cycles = (u64::from(4 * 8192 + 1024_u32) * per).div_ceil(32 * beats);
    let switched: Vec<_> = stats.preemptions.iter().filter(|tb| tb.technique == Technique::Switch).collect();
    assert!(!switched.is_empty());
    for tb in switched {
        assert!(latency(tb).abs_diff(cycles) <= 1, "{} for {cycles}", latency(tb));
    }
    let packets = |stats: &Stats| stats.counters[0].memory.request_packets;
    assert_eq!(packets(&stats), packets(&drained));
    assert_eq!(stats.launches[0].warp_insts, drained.launches[0].warp_insts);
}

/// A TB that has issued everything and waits for its stores leaves at once by any technique,
/// regardless of its flush bit. It is not executed again. The firmware is notified when all
/// commands of an SM are done.
#[test]
fn a_tb_that_has_issued_all_has_ended() {
    for technique in [technique::DRAIN, technique::FLUSH, technique::SWITCH] {
        let config = preempting(SwitchModel::Traffic, ResumeOn::AnySm);
        // The TB overwrites its loaded data, so it may not be flushed, with stores to as many
        // places as threads, which take long.
        let storing = kernel(1, 256, 32, 1024, |_, warp| {
            let place = 128 * u64::from(warp);
            let load = (StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[5]).width(4), place);
            let store = (StaticInst::new(1, Class::Store(Space::Global)).reads(&[4, 5]).width(4), place);
            vec![load, store]
        });
        let mut gpu = preempting_gpu(&config);
        gpu.launch(once(storing)).expect("fits");
        let mut table = Table::fixed(&[32]);
        gpu.registers_mut().write32(global::MODE, mode::PREEMPT);
        let mut now = 0;
        let issued_all = loop {
            now += 1;
            assert!(now < 100_000, "it has a tail");
            gpu.run(&mut table, now);
            let (programs, at) = (gpu.programs.clone(), gpu.now);
            let Some(tb) = gpu.sms[0].tb_status(0, at, true, &programs) else { continue };
            // The load, the store and the exit of eight warps.
            if tb.insts == 24 && gpu.sms[0].resident(0) == 1 {
                break tb;
            }
        };
        assert!(!issued_all.flush, "it has overwritten what it loaded");
        let (programs, at, free) = (gpu.programs.clone(), gpu.now, gpu.sms[0].resident(0));
        let carried = gpu.sms[0].preempt(0, technique, at, &programs).expect("not refused");
        assert_eq!((carried.left, carried.ended, free, gpu.sms[0].resident(0)), (true, true, 1, 0), "its room is free");
        assert_eq!(gpu.run(&mut table, 1_000_000), RunEnd::AllComplete);
        let stats = gpu.stats();
        assert_eq!((stats.launches[0].tbs_completed, stats.launches[0].warp_insts), (1, 24));
        assert!(stats.launches[0].end_cycle.expect("it ended") <= at + 1, "nothing is waited for");
    }
}

/// A look-ahead is correct if nothing changes.
#[test]
fn a_look_ahead_sees_when_tbs_end() {
    let config = preempting(SwitchModel::Traffic, ResumeOn::AnySm);
    let (mut gpu, mut eager) = interrupted(&config, technique::DRAIN, false);
    assert_eq!(gpu.run(&mut eager, 2_000 + u64::from(config.launch.latency_cycles)), RunEnd::CycleLimit);
    let told = gpu.look_ahead(1_000_000);
    assert_eq!(told.len(), gpu.sms[0].resident(0) as usize);
    let mut plain = gpu.clone();
    plain.registers.sleep();
    let programs = plain.programs.clone();
    for place in 0..MAX_PLACES {
        let _ = plain.sms[0].preempt(place, technique::DRAIN, plain.now, &programs);
    }
    for end in &told {
        let mut at = plain.clone();
        at.run(&mut eager, end.ends - 1);
        let before = at.stats().launches[0].tbs_completed;
        at.run(&mut eager, end.ends + 1);
        assert!(at.stats().launches[0].tbs_completed > before, "{end:?}");
    }
    plain.set_tb_ends(told);
}

/// For any two kernels, any technique and both models of a switch, relaunched or not: under
/// [`Gpu::with_validation`] no TB is lost or ends twice, and threads and sleep change nothing.
mod slow {
    use super::*;

    fn run(first: &Recipe, second: &Recipe, how: (u32, SwitchModel, ResumeOn, u64, u8), skip: bool, threads: usize) -> (RunEnd, Stats) {
        let (technique, switch, resume, arrival, priority) = how;
        let mut config = preempting(switch, resume);
        config.sm.count = 2;
        let mut gpu = preempting_gpu(&config).with_threads(threads);
        if !skip {
            gpu = gpu.without_skipping();
        }
        gpu.launch(once(first.trace())).expect("fits");
        let late = Launch { arrival_cycle: arrival, stream: 1, priority, sector_offset: 1 << 20, ..once(second.trace()) };
        gpu.launch(late).expect("fits");
        let mut eager = Eager::new(&[first.quota, second.quota + 8], technique);
        let end = gpu.run(&mut eager, 400_000);
        (end, gpu.stats())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
        #[test]
        fn no_tb_is_lost_or_ends_twice(
            first in random_kernel(),
            second in random_kernel(),
            how in (1u32..4, prop::bool::ANY, prop::bool::ANY, 4_000u64..9_000, 0u8..2),
        ) {
            let (technique, stall, same, arrival, priority) = how;
            let switch = if stall { SwitchModel::Stall } else { SwitchModel::Traffic };
            let resume = if same { ResumeOn::SameSm } else { ResumeOn::AnySm };
            let how = (technique, switch, resume, arrival, priority);
            let (end, stats) = run(&first, &second, how, true, 1);
            prop_assert_eq!(&end, &RunEnd::AllComplete);
            let completed = [&first, &second].map(|kernel| u64::from(kernel.tbs));
            prop_assert_eq!([0, 1].map(|n| stats.launches[n].tbs_completed), completed);
            prop_assert_eq!(&run(&first, &second, how, false, 1), &(RunEnd::AllComplete, stats.clone()));
            prop_assert_eq!(&run(&first, &second, how, true, 2), &(RunEnd::AllComplete, stats));
        }
    }
}
