//! Preemption on the GPU model at critical times: while SMs profile, while a context moves, for
//! concurrent requests, and by late commands. Each is tested in every cycle of an interval, so that
//! no result depends on one cycle.

use crate::common::hand_made::HandMade;
use crate::common::rig::{LAUNCH_LATENCY, SCHEMES, Setting, launch, small_gpu};
use mias_hw_model::config::PreemptionConfig;
use mias_hw_model::gpu::{Gpu, Launch, Microcontroller, Preemption, RunEnd, Stats, Technique};
use mias_hw_model::register_block::RegisterBlock;
use mias_policies::Firmware;
use mias_registers::bus::Bus;
use mias_registers::{KERNEL_SLOTS, PhaseCode, PolicyCode, preempt, preempt_scheme, technique};

/// Upper bound on the cycles of a run.
const TOO_LONG: u64 = 2_000_000;

/// Latency limit of a preemption in cycles.
const LIMIT: u32 = 1_000;

/// Cycle until which commands are given.
const COMMANDED: u64 = 6_000;

/// The firmware, which must raise no fault; with its phases, and the TBs and quotas of each slot on
/// SMs before the interrupt that led there.
struct Watched {
    firmware: Firmware,
    phases: Vec<(u64, PhaseCode)>,
    held: Vec<Vec<[(u32, u32); KERNEL_SLOTS]>>,
}

impl Microcontroller for Watched {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        let before = held(registers);
        let Ok(()) = self.firmware.on_interrupt(registers);
        assert_eq!(registers.faults(), 0, "faults in cycle {}", registers.now());
        let phase = registers.phase().expect("a phase");
        if self.phases.last().map(|(_, last)| *last) != Some(phase) {
            self.phases.push((registers.now(), phase));
            self.held.push(before);
        }
    }
}

/// Returns the TBs of each slot on each SM, and their quota.
fn held(registers: &RegisterBlock) -> Vec<[(u32, u32); KERNEL_SLOTS]> {
    let sms = 0..registers.gpu().sm_count as usize;
    sms.map(|sm| std::array::from_fn(|slot| (registers.resident(sm, slot), registers.quota(sm, slot)))).collect()
}

/// Creates `sms` SMs that preempt by a scheme, under a policy.
fn gpu(sms: u32, policy: PolicyCode, scheme: u32) -> (Gpu, Watched) {
    set_up(sms, &Setting { preempt: (scheme, LIMIT), ..Setting::new(policy, false) })
}

/// Creates `sms` SMs with preemption support.
fn set_up(sms: u32, setting: &Setting) -> (Gpu, Watched) {
    let mut config = small_gpu(sms);
    config.sm.preemption = Some(PreemptionConfig::default());
    let mut gpu = Gpu::new(&config, setting.straps()).with_validation();
    let firmware = Firmware::from_straps(gpu.registers_mut()).expect("the firmware knows its map");
    (gpu, Watched { firmware, phases: Vec::new(), held: Vec::new() })
}

/// Runs to the end, and checks that every TB has been completed once.
fn finish(gpu: &mut Gpu, watched: &mut Watched, kernels: &[&HandMade]) -> Stats {
    assert_eq!(gpu.run(watched, TOO_LONG), RunEnd::AllComplete);
    let stats = gpu.stats();
    for (launch, kernel) in stats.launches.iter().zip(kernels) {
        assert_eq!(launch.tbs_completed, u64::from(kernel.tbs));
    }
    stats
}

fn urgent(kernel: &HandMade, stream: u32, arrival: u64, priority: u8) -> Launch {
    Launch { priority, ..launch(&kernel.trace(), stream, arrival) }
}

/// The profile continues, its window neither restarted nor shortened: as many decisions as without
/// the urgent kernel, which has its room at once.
#[test]
fn an_sm_is_preempted_within_its_window() {
    let [first, second, other] = [HandMade::compute(60, 256, 120), HandMade::memory(40, 256, 6), HandMade::compute(4, 256, 10)];
    for scheme in [preempt_scheme::SHIEH, preempt_scheme::CHIMERA, preempt_scheme::FLUSH] {
        let run = |arrival: Option<u64>| {
            let (mut gpu, mut watched) = gpu(2, PolicyCode::MiasIpc, scheme);
            for (kernel, stream) in [&first, &second].into_iter().zip(0..) {
                gpu.launch(launch(&kernel.trace(), stream, 0)).expect("fits");
            }
            let mut kernels = vec![&first, &second];
            if let Some(arrival) = arrival {
                gpu.launch(urgent(&other, 2, arrival, 1)).expect("fits");
                kernels.push(&other);
            }
            let stats = finish(&mut gpu, &mut watched, &kernels);
            (stats, watched.phases)
        };
        let (_, alone) = run(None);
        let at = |phases: &[(u64, PhaseCode)], wanted| phases.iter().find(|(_, phase)| *phase == wanted).map(|(cycle, _)| *cycle);
        let begin = at(&alone, PhaseCode::Profile).expect("it profiles");
        // Its TBs may issue a launch latency later, within a window of 400 cycles.
        for arrival in (begin + 10..begin + 90).step_by(26) {
            let (stats, phases) = run(Some(arrival));
            assert!(!stats.preemptions.is_empty(), "somebody has to leave");
            assert_eq!(at(&phases, PhaseCode::Profile), Some(begin), "the window begins when it did");
            let profiles = |phases: &[(u64, PhaseCode)]| phases.iter().filter(|(_, phase)| *phase == PhaseCode::Profile).count();
            assert_eq!(profiles(&phases), profiles(&alone), "an urgent kernel schedules nothing anew");
        }
    }
}

/// A kernel that is not urgent, and one that is, arrive in each interval of a switch of whole
/// contexts.
#[test]
fn a_launch_during_a_switch_waits_for_nothing() {
    let long = HandMade { registers: 64, ..HandMade::compute(8, 256, 400) };
    let [first, second] = [HandMade::compute(4, 256, 10), HandMade::compute(6, 128, 30)];
    let run = |arrival: u64, priority: u8| {
        let (mut gpu, mut watched) = gpu(1, PolicyCode::LeftOver, preempt_scheme::SWITCH);
        gpu.launch(launch(&long.trace(), 0, 0)).expect("fits");
        gpu.launch(urgent(&first, 1, 1_500, 1)).expect("fits");
        gpu.launch(urgent(&second, 2, arrival, priority)).expect("fits");
        finish(&mut gpu, &mut watched, &[&long, &first, &second])
    };
    let before = run(1_000_000, 0);
    let switched = || before.preemptions.iter().filter(|tb| tb.left_cycle.is_some());
    let begin = switched().map(|tb| tb.commanded_cycle).min().expect("they are switched");
    let end = switched().filter_map(|tb| tb.left_cycle).max().expect("they have left");
    assert!(end > begin + 1_000, "a context of 64 KiB takes its time");
    for arrival in (begin..end).step_by(499) {
        for priority in [0, 1, 2] {
            run(arrival - u64::from(LAUNCH_LATENCY), priority);
        }
    }
}

/// Two urgent kernels arrive together. Both soon have TBs there under any scheme, and neither
/// excludes the other.
#[test]
fn two_urgent_kernels_at_once_both_have_their_room() {
    let long = HandMade::compute(24, 256, 300);
    let [first, second] = [HandMade::compute(6, 256, 20), HandMade { shared: 20_000, ..HandMade::compute(4, 512, 20) }];
    for scheme in SCHEMES.into_iter().filter(|scheme| *scheme != preempt_scheme::ORACLE) {
        for priorities in [[1, 1], [1, 2], [2, 1]] {
            let (mut gpu, mut watched) = gpu(2, PolicyCode::LeftOver, scheme);
            gpu.launch(launch(&long.trace(), 0, 0)).expect("fits");
            for ((kernel, priority), stream) in [&first, &second].into_iter().zip(priorities).zip(1..) {
                gpu.launch(urgent(kernel, stream, 1_500, priority)).expect("fits");
            }
            let stats = finish(&mut gpu, &mut watched, &[&long, &first, &second]);
            let [long, first, second] = &stats.launches[..] else { panic!("three launches") };
            assert!(first.end_cycle < long.end_cycle && second.end_cycle < long.end_cycle, "scheme {scheme}: both are before the long one");
        }
    }
}

/// Late commands: the firmware does not check whether the TB is still in its place, is the same
/// one, or may still be flushed. Each command is executed or refused, and every TB runs once.
#[test]
fn commands_that_come_late_are_carried_out_or_refused() {
    // Loads, computes, and stores to the loaded data: it may be flushed until then.
    let kernel = HandMade::memory(24, 256, 4);
    let (mut carried_out, mut refused, mut ended) = (0, 0, 0);
    for how in [technique::DRAIN, technique::FLUSH, technique::SWITCH] {
        for every in [7, 20, 61, 150, 400] {
            let (mut gpu, mut watched) = gpu(1, PolicyCode::LeftOver, preempt_scheme::SHIEH);
            gpu.launch(launch(&kernel.trace(), 0, 0)).expect("fits");
            let mut now = u64::from(LAUNCH_LATENCY);
            while now < COMMANDED && gpu.run(&mut watched, now) == RunEnd::CycleLimit {
                for place in 0..5 {
                    gpu.registers_mut().write32(preempt::at(0, preempt::COMMAND + 4 * place), how);
                }
                now += every;
            }
            let stats = finish(&mut gpu, &mut watched, &[&kernel]);
            let of_those = |is_refused: bool| stats.preemptions.iter().filter(move |tb| tb.refused == is_refused);
            (carried_out, refused) = (carried_out + of_those(false).count(), refused + of_those(true).count());
            // A TB that had issued all its instructions had ended (sources.md D133), and is not
            // executed again.
            let whole = kernel.trace().warp_insts() / u64::from(kernel.tbs);
            assert!(stats.preemptions.iter().all(|tb| tb.refused || tb.ended == (tb.warp_insts == whole)), "{:?}", stats.preemptions);
            ended += of_those(false).filter(|tb| tb.technique == Technique::Flush && tb.ended).count();
            let again: u64 = stats.preemptions.iter().map(Preemption::thrown_away).sum();
            assert_eq!(stats.launches[0].warp_insts, kernel.trace().warp_insts() + again, "technique {how}, every {every} cycles");
        }
    }
    assert!(carried_out > 0 && refused > 0 && ended > 0, "{carried_out} carried out, {refused} refused, {ended} to be flushed had ended");
}

/// Two urgent kernels need the whole of an SM that a third one fills. The second requests it while
/// the contexts of the first one's victims move. The freed space belongs to the first, whose TBs
/// arrive as soon as they would alone.
///
/// A second kernel of the same priority waits for the first one's TBs to end. One of a higher
/// priority does not. Its request comes when the SM's commands are done, and the first one's TBs
/// are among its victims.
#[test]
fn what_is_reserved_for_one_is_not_taken_by_the_next() {
    let long = HandMade { registers: 64, ..HandMade::compute(8, 256, 400) };
    let urgent_one = HandMade::compute(4, 256, 1_000);
    let run = |second: Option<u8>| {
        let (mut gpu, mut watched) = gpu(1, PolicyCode::LeftOver, preempt_scheme::SWITCH);
        gpu.launch(launch(&long.trace(), 0, 0)).expect("fits");
        gpu.launch(urgent(&urgent_one, 1, 1_500, 1)).expect("fits");
        let mut kernels = vec![&long, &urgent_one];
        if let Some(priority) = second {
            gpu.launch(urgent(&urgent_one, 2, 2_000, priority)).expect("fits");
            kernels.push(&urgent_one);
        }
        finish(&mut gpu, &mut watched, &kernels)
    };
    let alone = run(None);
    let room = |stats: &Stats, launch: usize| {
        let launch = &stats.launches[launch];
        (launch.first_issue_cycle.expect("it has TBs"), launch.all_issued_cycle.expect("it has all of them"))
    };
    let (first, all) = room(&alone, 1);
    assert!(first < all && first > 2_000 + u64::from(LAUNCH_LATENCY), "the second comes while room is made: {first} to {all}");
    for priority in [1, 2] {
        let stats = run(Some(priority));
        assert_eq!(room(&stats, 1), (first, all), "priority {priority}: the first has what was reserved for it");
        let (second, _) = room(&stats, 2);
        assert!(second > all, "priority {priority}: at {second}");
        let of_first = stats.preemptions.iter().filter(|tb| tb.launch == 1 && !tb.refused).count();
        let end = stats.launches[1].end_cycle.expect("it ended");
        if priority == 1 {
            assert_eq!(of_first, 0, "equals do not yield");
        } else {
            assert!(of_first > 0 && second < end, "{of_first} of the first leave, and the second comes at {second}, not after {end}");
        }
    }
}

/// Tests of `cargo xtask ci` that `cargo xtask test` leaves out.
mod slow {
    use super::*;

    /// Two kernels under MIAS: the first fills three SMs before the second arrives, and an SM holds
    /// four TBs of either. With a preemptive transition, as many TBs are commanded to leave as
    /// exceed their new quota: for the tried partitions, and then for the chosen one. With other
    /// transitions there is no command. The time from the choice until SMs reach their quotas shows
    /// which transition waits for TBs to end.
    #[test]
    fn a_broadcast_makes_its_room_by_commands() {
        let [first, second] = [HandMade::compute(90, 256, 2_000), HandMade::compute(60, 256, 1_500)];
        let run = |preempt: (u32, u32), ideal: bool| {
            let setting = Setting { preempt, ideal, ..Setting::new(PolicyCode::MiasIpc, false) };
            let (mut gpu, mut watched) = set_up(3, &setting);
            gpu.launch(launch(&first.trace(), 0, 0)).expect("fits");
            gpu.launch(launch(&second.trace(), 1, 3_000)).expect("fits");
            // It tries, measures, and has chosen: no phase in between is visible after an
            // interrupt.
            let tried = [PhaseCode::Transition, PhaseCode::Profile, PhaseCode::Steady];
            let chosen = |watched: &Watched| watched.phases.windows(3).position(|three| three.iter().map(|(_, phase)| *phase).eq(tried));
            let is_there = |gpu: &Gpu| held(gpu.registers()).iter().flatten().all(|(resident, quota)| resident <= quota);
            loop {
                assert_eq!(gpu.run(&mut watched, gpu.cycle() + 10), RunEnd::CycleLimit, "kernels are long");
                // Quotas reach the SMs one after the other.
                if let Some(at) = chosen(&watched).filter(|at| gpu.cycle() > watched.phases[at + 2].0 + 20 && is_there(&gpu)) {
                    let quotas = held(gpu.registers());
                    return (gpu.stats(), gpu.cycle(), quotas, at, watched);
                }
            }
        };
        let (stats, settled, last, at, watched) = run((preempt_scheme::SHIEH, LIMIT), false);
        let [tried, chosen] = [at, at + 2].map(|phase| (watched.phases[phase].0, &watched.held[phase]));
        for (begin, before, after, end) in [(tried.0, tried.1, chosen.1, chosen.0), (chosen.0, chosen.1, &last, settled)] {
            let mut all = 0;
            for (sm, (before, after)) in before.iter().zip(after).enumerate() {
                for slot in [0, 1] {
                    let excess = before[slot].0.saturating_sub(after[slot].1);
                    let of = |tb: &&Preemption| tb.sm as usize == sm && tb.launch == slot && (begin..end).contains(&tb.commanded_cycle);
                    let commanded = stats.preemptions.iter().filter(of).count();
                    assert_eq!(commanded, excess as usize, "SM {sm}, slot {slot}, cycles {begin} to {end}: {:?}", stats.preemptions);
                    all += excess;
                }
            }
            assert!(all > 0, "nobody has to leave, and the test shows nothing");
        }
        let took = settled - chosen.0;
        let [drained, ideal] = [false, true].map(|ideal| {
            let (stats, settled, _, at, watched) = run((preempt_scheme::NONE, 0), ideal);
            assert_eq!(stats.preemptions, [], "ideal: {ideal}");
            settled - watched.phases[at + 2].0
        });
        assert!(ideal <= took && took <= u64::from(LIMIT) && drained > 4 * took, "{ideal}, {took}, {drained} cycles");
    }
}
