//! State machine in isolation (sources.md D25 to D32): every event in every phase, and the rules on
//! batches, aborts, dwell, time-outs and fallbacks.

use crate::phases::{COALESCE, GPU, LATE, MIAS, SETTINGS, SMS, events, in_phase, kernel, launched, scheduler};
use mias_firmware::configs::{Origin, TbVector};
use mias_firmware::gpu::GpuProperties;
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::{FixedConfig, LeftOver, Policy, Spatial};
use mias_firmware::scheduler::{Command, Event, Phase, Scheduler};
use mias_firmware::sm_set::SmWord;
use mias_registers::{PhaseCode, fault};

const WINDOW: u64 = SETTINGS.profile_window as u64;

/// Reports all SMs done, with instructions that make configuration `winner` of the round the best,
/// and decides.
fn finish_round<P: Policy>(s: &mut Scheduler<P, 64>, winner: usize, now: u64) {
    for sm in 0..SMS as u8 {
        s.handle(Event::PartitionReached(SmWord::one(sm)), now);
    }
    for sm in 0..SMS {
        assert!(matches!(s.phase(), Phase::Profile { .. }));
        s.handle(Event::ProfileDone(SmWord::one(sm as u8)), now + WINDOW);
    }
    assert_eq!(s.phase(), Phase::Decide);
    for sm in 0..SMS {
        let first = s.quotas(winner);
        let won = s.quotas(usize::from(sm)) == first;
        let sums = s.sums_mut(sm).expect("every SM runs a configuration");
        sums.sms += 1;
        sums.cycles += WINDOW as u32;
        sums.instructions += if won { 2000 } else { 1000 };
    }
    s.handle(Event::CountersRead, now + WINDOW);
}

/// Answers of the scheduler to every event in every phase: rows are phases, and columns the events
/// below. Written by hand from the description in docs/explanation/architecture.md.
#[test]
fn every_event_in_every_phase() {
    use PhaseCode::{Broadcast, Decide, Idle, Partition, Profile, Steady, Transition};
    let (late, events) = (LATE, events());
    let table = [
        (Idle, [Partition, Idle, Idle, Idle, Idle, Idle, Idle, Idle]),
        (Partition, [Partition, Partition, Partition, Partition, Partition, Transition, Partition, Partition]),
        (Transition, [Partition, Transition, Partition, Profile, Transition, Transition, Transition, Transition]),
        (Profile, [Partition, Profile, Partition, Profile, Profile, Decide, Profile, Profile]),
        // No SM's counters were added here, so the decision falls back to Left-over, which is
        // broadcast.
        (Decide, [Partition, Decide, Partition, Decide, Decide, Decide, Broadcast, Decide]),
        (Broadcast, [Partition, Broadcast, Partition, Broadcast, Broadcast, Broadcast, Broadcast, Steady]),
        (Steady, [Partition, Steady, Partition, Steady, Steady, Steady, Steady, Steady]),
    ];
    for (from, row) in table {
        for (event, to) in events.into_iter().zip(row) {
            let mut s = in_phase(from);
            let commands = s.handle(event, late);
            assert_eq!(s.phase().code(), to, "{from:?} on {event:?}");
            let shown = commands.iter().filter(|command| matches!(command, Command::SetPhase(_))).count();
            assert_eq!(shown, usize::from(from != to), "the phase register follows: {from:?} on {event:?}");
        }
    }
}

#[test]
fn the_last_completion_leads_to_idle_from_every_phase() {
    for phase in PhaseCode::ALL.into_iter().filter(|phase| *phase != PhaseCode::Idle) {
        let mut s = in_phase(phase);
        s.handle(Event::Completed(0), 5000);
        s.handle(Event::Completed(1), 5000);
        assert_eq!((s.phase(), s.kernels().len()), (Phase::Idle, 0), "{phase:?}");
    }
}

#[test]
fn one_kernel_goes_straight_to_steady() {
    let mut s = launched(MIAS, 1);
    assert_eq!(s.phase(), Phase::Broadcast);
    s.handle(Event::BroadcastDone, COALESCE);
    assert_eq!((s.phase(), s.broadcast(), s.reschedulings()), (Phase::Steady, Some(TbVector([4, 0, 0, 0])), 1));
}

#[test]
fn two_kernels_are_profiled_and_the_best_is_broadcast() {
    for winner in 0..3 {
        let mut s = launched(MIAS, 2);
        let expected = [TbVector([1, 3, 0, 0]), TbVector([2, 2, 0, 0]), TbVector([3, 1, 0, 0])];
        // Invariant 18: replicas, each configuration on two of six SMs.
        let dealt: Vec<_> = (0..6).map(|sm| s.quotas(sm)).collect();
        assert_eq!(dealt, [expected, expected].concat());
        finish_round(&mut s, winner, 200);
        assert_eq!(s.phase(), Phase::Broadcast);
        assert!((0..6).all(|sm| s.quotas(sm) == expected[winner]), "invariant 26");
        assert_eq!(s.report().winner(), Some(expected[winner]));
        let won: Vec<_> = s.report().tried().map(|tried| (tried.entry.sums.sms, tried.won)).collect();
        assert_eq!(won, (0..3).map(|index| (2, index == winner)).collect::<Vec<_>>());
        assert_eq!(s.reschedulings(), 1);
    }
}

#[test]
fn three_kernels_need_two_rounds_on_six_sms() {
    // 128-thread TBs, of which 8 fit. n0 + n1 + n2 = 8 without single-kernel vectors: C(10, 2) - 3
    // = 42 configurations.
    let mut s = scheduler(MIAS);
    (0..3).for_each(|slot| drop(s.handle(Event::Launched(kernel(slot, 128)), 0)));
    s.handle(Event::Timer, COALESCE);
    assert_eq!(s.report().total_configs(), 42);
    finish_round(&mut s, 2, 200);
    assert_eq!(s.phase(), Phase::Transition, "a second round, around the best of the first");
    let first: Vec<_> = s.report().tried().filter(|tried| tried.entry.round == 0).map(|t| t.entry.position).collect();
    assert_eq!(first.len(), 6);
    let second: Vec<_> = s.report().tried().filter(|tried| tried.entry.round == 1).map(|t| t.entry.position).collect();
    assert_eq!(second.len(), 6);
    assert!(second.iter().all(|position| !first.contains(position) && position.abs_diff(first[2]) <= 6));
    finish_round(&mut s, 1, 3000);
    assert_eq!(s.phase(), Phase::Broadcast, "never a third round");
    assert_eq!(s.reschedulings(), 1);
}

#[test]
fn up_to_twice_as_many_configurations_as_sms_are_all_tried() {
    // 128 and 64 threads: 8 TBs of the first or 16 of the second: (1, 14) .. (7, 2), 7
    // configurations on 6 SMs.
    let mut s = scheduler(MIAS);
    s.handle(Event::Launched(kernel(0, 128)), 0);
    s.handle(Event::Launched(kernel(1, 64)), 0);
    s.handle(Event::Timer, COALESCE);
    finish_round(&mut s, 0, 200);
    finish_round(&mut s, 0, 3000);
    let mut tried: Vec<_> = s.report().tried().map(|tried| tried.entry.vector).collect();
    tried.sort();
    assert_eq!(tried, (1..8).map(|n| TbVector([n, 16 - 2 * n, 0, 0])).collect::<Vec<_>>());
}

#[test]
fn launches_within_the_window_share_one_rescheduling() {
    let mut s = scheduler(MIAS);
    let commands = s.handle(Event::Launched(kernel(0, 256)), 50);
    assert!(commands.contains(&Command::SetTimer(50 + COALESCE)));
    s.handle(Event::Launched(kernel(1, 256)), 149);
    s.handle(Event::Timer, 150);
    assert_eq!((s.reschedulings(), s.scheduled_slots()), (1, &[0, 1][..]));
    // In sequence: two.
    let mut s = launched(MIAS, 1);
    s.handle(Event::BroadcastDone, COALESCE);
    s.handle(Event::Launched(kernel(1, 256)), 5000);
    assert_eq!(s.quotas(0), TbVector([4, 0, 0, 0]), "the first kernel goes on meanwhile");
    s.handle(Event::Timer, 5000 + COALESCE);
    assert_eq!((s.reschedulings(), s.phase()), (2, Phase::Transition));
}

#[test]
fn a_launch_while_profiling_restarts_after_the_minimum_dwell() {
    let mut s = launched(MIAS, 2);
    s.handle(Event::PartitionReached(SmWord::one(0)), 200);
    let commands = s.handle(Event::Launched(kernel(2, 256)), 300);
    assert!(commands.contains(&Command::DisarmAll));
    assert_eq!(s.phase(), Phase::Partition { at: COALESCE + WINDOW });
    s.handle(Event::Timer, 500);
    assert_eq!((s.phase(), s.reschedulings()), (Phase::Partition { at: COALESCE + WINDOW }, 1), "an early timer changes nothing");
    s.handle(Event::Timer, COALESCE + WINDOW);
    assert_eq!((s.phase(), s.reschedulings(), s.scheduled_slots()), (Phase::Transition, 2, &[0, 1, 2][..]));
}

#[test]
fn a_completion_while_profiling_reschedules_the_others() {
    let mut s = launched(MIAS, 2);
    s.handle(Event::PartitionReached(SmWord::one(0)), 200);
    let commands = s.handle(Event::Completed(0), 1500);
    assert!(commands.contains(&Command::Release(0)) && commands.contains(&Command::DisarmAll));
    s.handle(Event::Timer, 1500);
    s.handle(Event::BroadcastDone, 1500);
    assert_eq!((s.phase(), s.scheduled_slots(), s.broadcast()), (Phase::Steady, &[1][..], Some(TbVector([4, 0, 0, 0]))));
    assert_eq!(s.reschedulings(), 2);
}

#[test]
fn completions_of_one_cycle_share_one_rescheduling() {
    let mut s = launched(MIAS, 3);
    finish_round(&mut s, 0, 200);
    finish_round(&mut s, 0, 2000);
    s.handle(Event::BroadcastDone, 3000);
    s.handle(Event::Completed(0), 9000);
    s.handle(Event::Completed(2), 9000);
    s.handle(Event::Timer, 9000);
    assert_eq!((s.reschedulings(), s.scheduled_slots()), (2, &[1][..]));
}

#[test]
fn sms_that_never_got_there_are_left_out() {
    let mut s = launched(MIAS, 2);
    let commands = s.handle(Event::PartitionReached(SmWord::one(4)), 200);
    assert!(commands.contains(&Command::SetTimer(200 + 2 * WINDOW)));
    s.handle(Event::ProfileDone(SmWord::one(4)), 200 + WINDOW);
    s.handle(Event::Timer, 200 + 2 * WINDOW);
    assert_eq!(s.phase(), Phase::Decide);
    assert!(s.done().contains(4) && s.done().len() == 1);
    let sums = s.sums_mut(4).expect("assigned");
    (sums.sms, sums.cycles) = (1, 1000);
    s.handle(Event::CountersRead, 2200);
    assert_eq!(s.broadcast(), Some(TbVector([2, 2, 0, 0])), "the only configuration that was measured");
}

#[test]
fn no_sample_at_all_falls_back_to_left_over() {
    let mut s = in_phase(PhaseCode::Decide);
    let commands = s.handle(Event::CountersRead, 1200);
    assert!(commands.contains(&Command::Fault(fault::NO_SAMPLES)));
    assert_eq!((s.report().origin(), s.broadcast()), (Origin::LeftOverFallback, Some(TbVector([4, 0, 0, 0]))));
    s.handle(Event::BroadcastDone, 1200);
    s.handle(Event::Drained(0), 1300);
    assert_eq!(s.broadcast(), Some(TbVector([4, 4, 0, 0])), "the next kernel's turn");
}

#[test]
fn kernels_that_do_not_share_an_sm_are_placed_spatially() {
    let mut s = scheduler(MIAS);
    (0..2).for_each(|slot| drop(s.handle(Event::Launched(kernel(slot, 1024)), 0)));
    s.handle(Event::Timer, COALESCE);
    assert_eq!((s.report().origin(), s.phase()), (Origin::SpatialFallback, Phase::Broadcast));
    let mut few = Scheduler::<_, 64>::new(MIAS, GpuProperties { sm_count: 1, ..GPU }, SETTINGS);
    (0..2).for_each(|slot| drop(few.handle(Event::Launched(kernel(slot, 1024)), 0)));
    few.handle(Event::Timer, COALESCE);
    assert_eq!(few.report().origin(), Origin::LeftOverFallback);
}

/// Invariant 34: the SMs of the kernels are disjoint and cover all, floor or ceiling, with the
/// remainder for the first.
#[test]
fn spatial_splits_the_sms() {
    for kernels in 1..=4_u8 {
        for sms in u16::from(kernels)..=33 {
            let mut s = Scheduler::<_, 64>::new(Spatial, GpuProperties { sm_count: sms, ..GPU }, SETTINGS);
            (0..kernels).for_each(|slot| drop(s.handle(Event::Launched(kernel(slot, 256)), 0)));
            s.handle(Event::Timer, COALESCE);
            let mut counts = vec![0_u16; kernels.into()];
            for sm in 0..sms {
                let vector = s.quotas(sm.into());
                assert_eq!((vector.present(), vector.0.iter().sum::<u8>()), (1, 4));
                counts[vector.0.iter().position(|tbs| *tbs > 0).expect("one")] += 1;
            }
            let expected = (0..kernels).map(|k| sms / u16::from(kernels) + u16::from(u16::from(k) < sms % u16::from(kernels)));
            assert_eq!(counts, expected.collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_fixed_configuration_stays_with_its_kernels_and_never_starves_the_last() {
    let mut s = launched(FixedConfig { vector: TbVector([0, 3, 2, 0]) }, 3);
    s.handle(Event::BroadcastDone, COALESCE);
    assert_eq!(s.broadcast(), Some(TbVector([0, 3, 1, 0])), "as far as the SM can hold them");
    for (slot, expected) in [(1, TbVector([0, 2, 0, 0])), (2, TbVector([4, 0, 0, 0]))] {
        s.handle(Event::Completed(slot), 500);
        s.handle(Event::Timer, 500);
        s.handle(Event::BroadcastDone, 500);
        assert_eq!(s.broadcast(), Some(expected));
    }
}

#[test]
fn a_fixed_configuration_follows_launches_not_slots() {
    let mut s = launched(FixedConfig { vector: TbVector([3, 1, 2, 0]) }, 2);
    s.handle(Event::BroadcastDone, COALESCE);
    assert_eq!(s.broadcast(), Some(TbVector([3, 1, 0, 0])));
    s.handle(Event::Completed(0), 500);
    s.handle(Event::Timer, 500);
    s.handle(Event::BroadcastDone, 500);
    assert_eq!(s.broadcast(), Some(TbVector([4, 0, 0, 0])), "left alone, the second has the SM for itself");
    // The third kernel takes the first one's slot, and its own part of the configuration.
    s.handle(Event::Launched(kernel(0, 256)), 600);
    s.handle(Event::Timer, 600 + COALESCE);
    assert_eq!((s.scheduled_slots(), s.broadcast()), (&[1, 0][..], Some(TbVector([1, 2, 0, 0]))));
}

#[test]
fn a_fixed_configuration_of_one_kernel_is_kept() {
    assert_eq!(launched(FixedConfig { vector: TbVector([2, 0, 0, 0]) }, 1).broadcast(), Some(TbVector([2, 0, 0, 0])));
}

#[test]
fn left_over_serves_kernels_in_launch_order() {
    let mut s = launched(LeftOver, 3);
    s.handle(Event::BroadcastDone, COALESCE);
    assert_eq!(s.broadcast(), Some(TbVector([4, 0, 0, 0])));
    s.handle(Event::Drained(0), 500);
    s.handle(Event::BroadcastDone, 500);
    assert_eq!((s.scheduled_slots(), s.broadcast(), s.reschedulings()), (&[0, 1][..], Some(TbVector([4, 4, 0, 0])), 1));
    s.handle(Event::Completed(0), 600);
    s.handle(Event::Timer, 600);
    s.handle(Event::BroadcastDone, 600);
    assert_eq!((s.scheduled_slots(), s.broadcast(), s.reschedulings()), (&[1][..], Some(TbVector([4, 0, 0, 0])), 2));
}

#[test]
fn a_kernel_that_fits_no_sm_is_rejected_and_the_others_go_on() {
    let mut s = launched(MIAS, 1);
    s.handle(Event::BroadcastDone, COALESCE);
    let commands = s.handle(Event::Launched(kernel(5, 1056)), 700);
    assert_eq!(commands.as_slice(), [Command::Reject(5), Command::Fault(fault::KERNEL_TOO_LARGE)]);
    assert_eq!((s.phase(), s.kernels().len()), (Phase::Steady, 1));
}

#[test]
fn a_kernel_with_few_tbs_is_not_given_more_than_it_has() {
    let mut s = scheduler(MIAS);
    let one_tb = Kernel { grid_tbs: 1, unfinished_tbs: 1, ..kernel(0, 256) };
    s.handle(Event::Launched(one_tb), 0);
    s.handle(Event::Launched(kernel(1, 256)), 0);
    s.handle(Event::Timer, COALESCE);
    assert_eq!(s.broadcast(), Some(TbVector([1, 3, 0, 0])), "a single candidate needs no profiling");
}
