//! Preemption over a register block of the test's own: who is taken off which SM, and kernels with a priority beside the policy (Shieh 2016,
//! chapter 3; sources.md D134 to D136).
#![allow(missing_docs)]

mod cases;
mod desk;

use cases::cases;
use desk::{CONTEXT, Desk, Tb};
use mias_firmware::driver::Observer;
use mias_firmware::preempt::{Scheme, Selection};
use mias_firmware::regs::{fault, global, interrupt, mode, preempt, preempt_command, preempt_reserve, slot, slot_control, technique};
use proptest::prelude::*;

/// Four TBs of 1,000 registers, of a kernel whose TBs take 1,000 instructions of one cycle; TB `n` has done `done[n]`.
fn four(scheme: Scheme, done: [u32; 4]) -> Desk {
    let mut desk = Desk::new(scheme, 1);
    desk.kernel(0, 0, 50, 1000, 0, 100);
    desk.ended(0, 0, &[(1000, 1000), (1000, 1000)]);
    for (place, insts) in done.into_iter().enumerate() {
        desk.tb(0, place, Tb { slot: 0, insts, cycles: insts, registers: 1000 * place as u32, flushable: true, ..Tb::default() });
    }
    desk
}

/// Two of them are in the way of each position of a kernel of priority 1 whose TBs take 2,000 registers.
fn urgent_beside(mut desk: Desk, unissued: u32, limit: u32) -> Desk {
    desk.kernel(1, 1, 50, 2000, 0, unissued);
    desk.set(slot::at(1, slot::LATENCY_LIMIT), limit);
    desk
}

/// Position 0 is of TBs that have 100 and 200 instructions left, position 1 of such that have done 20 and 10.
#[test]
fn the_candidate_that_loses_least_within_the_limit_is_taken() {
    for (limit, position, how) in [
        // Both drain: nothing is lost.
        (200, 0, [(0, technique::DRAIN, 100), (1, technique::DRAIN, 200)]),
        // One has to be flushed, which loses 800. At position 1 only 30 are.
        (199, 1, [(2, technique::FLUSH, 0), (3, technique::FLUSH, 0)]),
        (0, 1, [(2, technique::FLUSH, 0), (3, technique::FLUSH, 0)]),
    ] {
        let mut desk = urgent_beside(four(Scheme::Shieh, [900, 800, 20, 10]), 1, limit);
        desk.wants(0, 1, 2);
        desk.serve();
        assert_eq!(desk.commands(0), how, "limit {limit}");
        assert_eq!(desk.reserved(0), (2, 1 << position), "limit {limit}");
        assert_eq!(desk.get(global::PREEMPT_WANTED), 0);
    }
}

#[test]
fn positions_are_reserved_before_the_first_command() {
    let mut desk = urgent_beside(four(Scheme::Shieh, [900, 800, 20, 10]), 2, 0);
    desk.wants(0, 1, 2);
    desk.serve();
    let of_sm: Vec<u32> = desk.writes.iter().map(|(offset, _)| *offset).filter(|offset| *offset >= preempt::BASE).collect();
    let commands = [2, 3, 0, 1].map(|place| preempt::at(0, preempt::COMMAND + 4 * place));
    assert_eq!(
        of_sm[..3],
        [preempt::RESERVED_LOW, preempt::RESERVED_HIGH, preempt::RESERVED_SLOT].map(|register| preempt::at(0, register))
    );
    let mut after = of_sm[3..].to_vec();
    after.sort_unstable();
    let mut commands = commands.to_vec();
    commands.sort_unstable();
    assert_eq!(after, commands, "both positions, each TB once");
    assert_eq!(desk.reserved(0), (2, 0b11));
}

/// Shieh 2016, figure 3.9: TB 1 is in the way of both positions of 1,500 registers. Gone for the one, it is not for the other.
#[test]
fn a_victim_of_two_candidates_leaves_once() {
    let mut desk = four(Scheme::Shieh, [40, 30, 20, 10]);
    desk.kernel(1, 1, 50, 1500, 0, 2);
    desk.wants(0, 1, 2);
    desk.serve();
    assert_eq!(desk.commands(0), [0, 1, 2].map(|place| (place, technique::FLUSH, 0)));
    assert_eq!(desk.reserved(0), (2, 0b11));
}

#[test]
fn every_scheme_has_its_techniques() {
    let drain = |left| (technique::DRAIN, left);
    let switch = (technique::SWITCH, CONTEXT);
    for (scheme, first, second) in [
        (Scheme::Drain, drain(100), drain(200)),
        (Scheme::Switch, switch, switch),
        (Scheme::Flush, (technique::FLUSH, 0), switch),
        // The limit is what TB 0 takes to drain; a switch is too slow, and TB 1 may not be flushed.
        (Scheme::Shieh, drain(100), drain(200)),
        (Scheme::Chimera, drain(100), drain(200)),
        (Scheme::ChimeraPlus, drain(100), drain(200)),
        (Scheme::Oracle, drain(100), drain(200)),
    ] {
        let mut desk = Desk::new(scheme, 1);
        desk.kernel(0, 0, 50, 1000, 0, 100);
        desk.ended(0, 0, &[(1000, 1000), (1000, 1000)]);
        for (place, insts) in [900, 800].into_iter().enumerate() {
            desk.tb(0, place, Tb { slot: 0, insts, cycles: insts, registers: 1000 * place as u32, flushable: place == 0, ..Tb::default() });
        }
        desk.kernel(1, 1, 50, 2000, 0, 1);
        desk.set(slot::at(1, slot::LATENCY_LIMIT), 100);
        // The second position is not to be had: it is the kernel's own.
        desk.tb(0, 2, Tb { slot: 1, insts: 5, cycles: 5, registers: 2000, flushable: true, ..Tb::default() });
        desk.wants(0, 1, 1);
        desk.serve();
        let expected: Vec<_> = [first, second].into_iter().zip(0..).map(|((how, estimate), place)| (place, how, estimate)).collect();
        if scheme.is_whole() {
            // Whole SMs are for a kernel that has them to itself: its own TB is no reason against it.
            assert_eq!(desk.reserved(0).0, 2 | preempt_reserve::WHOLE_SM, "{scheme:?}");
        }
        assert_eq!(desk.commands(0), expected, "{scheme:?}");
    }
}

/// TBs that have ended vary less than those that run: their rate of 1 counts, and not the running TB's own of 4.
#[test]
fn estimates_are_those_of_the_scheme() {
    for (scheme, known, expected) in [
        (Scheme::Chimera, None, 400),
        (Scheme::ChimeraPlus, None, 100),
        (Scheme::Shieh, None, 100),
        (Scheme::Oracle, None, 100),
        (Scheme::Oracle, Some(77), 77),
        (Scheme::Shieh, Some(77), 100),
    ] {
        let mut desk = Desk::new(scheme, 1);
        desk.kernel(0, 0, 50, 4000, 0, 100);
        desk.ended(0, 0, &[(1000, 1000), (1000, 1000)]);
        desk.tb(0, 0, Tb { slot: 0, insts: 900, cycles: 3600, left: known, ..Tb::default() });
        // A TB that is leaving: it has a rate, too.
        desk.tb(0, 1, Tb { slot: 0, insts: 900, cycles: 900, leaving: technique::DRAIN, ..Tb::default() });
        desk.kernel(1, 1, 50, 4000, 0, 1);
        desk.set(slot::at(1, slot::LATENCY_LIMIT), 1000);
        desk.wants(0, 1, 1);
        desk.serve();
        assert_eq!(desk.commands(0), [(0, technique::DRAIN, expected)], "{scheme:?} {known:?}");
    }
}

#[test]
fn a_tb_that_is_leaving_counts_as_gone_and_is_not_commanded_again() {
    let mut desk = urgent_beside(four(Scheme::Shieh, [900, 800, 20, 10]), 1, 0);
    for place in [0, 1] {
        desk.tb(
            0,
            place,
            Tb { slot: 0, insts: 900, cycles: 900, registers: 1000 * place as u32, leaving: technique::SWITCH, ..Tb::default() },
        );
    }
    desk.wants(0, 1, 2);
    desk.serve();
    assert_eq!((desk.commands(0), desk.reserved(0)), (vec![], (2, 0b01)), "a position that is free costs nothing");
}

/// Three SMs that want room for 3, 1 and 2 TBs, and 4 are to come: turns give 2, 1 and 1.
#[test]
fn the_need_is_covered_by_all_sms_in_turn() {
    for (unissued, expected) in [(0, [0, 0, 0]), (1, [1, 0, 0]), (2, [1, 1, 0]), (4, [2, 1, 1]), (5, [2, 1, 2]), (100, [3, 1, 2])] {
        let mut desk = Desk::new(Scheme::Shieh, 3);
        desk.kernel(0, 0, 50, 1000, 0, 100);
        desk.kernel(1, 1, 50, 1000, 0, unissued);
        for sm in 0..3 {
            (0..4).for_each(|place| {
                desk.tb(sm, place, Tb { slot: 0, insts: 10, cycles: 10, registers: 1000 * place as u32, flushable: true, ..Tb::default() })
            });
        }
        (0..).zip([3, 1, 2]).for_each(|(sm, count)| desk.wants(sm, 1, count));
        desk.serve();
        assert_eq!([0, 1, 2].map(|sm| desk.commands(sm).len()), expected, "{unissued} to come");
        assert_eq!([0, 1, 2].map(|sm| desk.reserved(sm).1.count_ones() as usize), expected);
        // Asked again, nobody more leaves for what is reserved already.
        desk.writes.clear();
        (0..).zip([3, 1, 2]).for_each(|(sm, count)| desk.wants(sm, 1, count));
        desk.serve();
        assert!((0..3).all(|sm| desk.commands(sm).is_empty()), "{unissued} to come");
    }
}

#[test]
fn an_sm_that_cannot_give_its_part_is_made_up_for_by_others() {
    let mut desk = Desk::new(Scheme::Shieh, 2);
    desk.kernel(0, 0, 50, 1000, 0, 100);
    desk.kernel(1, 1, 50, 1000, 0, 4);
    desk.kernel(2, 5, 50, 1000, 0, 0);
    for place in 0..4 {
        // All but one of SM 0 are of a kernel of higher priority.
        let slot = if place == 0 { 0 } else { 2 };
        desk.tb(0, place, Tb { slot, registers: 1000 * place as u32, cycles: 5, ..Tb::default() });
        desk.tb(1, place, Tb { slot: 0, registers: 1000 * place as u32, cycles: 5, ..Tb::default() });
    }
    desk.wants(0, 1, 4);
    desk.wants(1, 1, 4);
    desk.serve();
    assert_eq!([0, 1].map(|sm| desk.commands(sm).len()), [1, 3]);
}

#[test]
fn of_equal_priority_those_beyond_their_quota_yield_and_no_more() {
    for (quota, leaving, expected) in [(4, 0, 0), (3, 0, 0), (2, 0, 2), (0, 0, 2), (1, 1, 2), (2, 1, 0)] {
        let mut desk = four(Scheme::Shieh, [900, 800, 20, 10]);
        desk.kernel(1, 0, 50, 2000, 0, 1);
        desk.quota(0, 0, 4, quota);
        (2..2 + leaving).for_each(|place| {
            desk.tb(
                0,
                place,
                Tb { slot: 0, insts: 1, cycles: 1, registers: 1000 * place as u32, leaving: technique::DRAIN, ..Tb::default() },
            );
        });
        desk.wants(0, 1, 1);
        desk.serve();
        let commands = desk.commands(0).len();
        // With one leaving that was in the way of position 1, its neighbour is enough.
        let expected = if leaving == 1 && expected == 2 { 1 } else { expected };
        let expected = if (quota, leaving) == (2, 1) { 1 } else { expected };
        assert_eq!(commands, expected, "quota {quota}, {leaving} leaving");
    }
}

#[test]
fn of_higher_priority_nobody_yields() {
    let mut desk = four(Scheme::Shieh, [900, 800, 20, 10]);
    desk.kernel(1, 0, 50, 2000, 0, 1);
    desk.set(slot::at(0, slot::PRIORITY), 1);
    desk.quota(0, 0, 4, 0);
    desk.wants(0, 1, 1);
    desk.serve();
    assert_eq!((desk.commands(0), desk.reserved(0)), (vec![], (0, 0)));
}

/// Four TBs of 250 threads fill 1,000. Position 0 of a TB of 500 threads and 1,000 registers is in the way of one only.
#[test]
fn threads_and_a_tb_slot_become_free_too() {
    let mut desk = Desk::new(Scheme::Shieh, 1);
    desk.kernel(0, 0, 250, 1000, 0, 100);
    desk.kernel(1, 1, 500, 1000, 0, 1);
    for place in 0..4 {
        desk.tb(0, place, Tb { slot: 0, insts: 10, cycles: 10, registers: 1000 * place as u32, flushable: true, ..Tb::default() });
    }
    desk.wants(0, 1, 2);
    desk.serve();
    assert_eq!(desk.commands(0), [(0, technique::FLUSH, 0), (1, technique::FLUSH, 0)]);
    // All registers but the last 2,000 are free, but no TB slot: one has to leave, the first.
    let mut desk = Desk::new(Scheme::Shieh, 1);
    desk.set(global::SM_TBS, 2);
    desk.kernel(0, 0, 50, 1000, 0, 100);
    desk.kernel(1, 1, 50, 1000, 0, 1);
    for place in 0..2 {
        desk.tb(0, place, Tb { slot: 0, insts: 10, cycles: 10, registers: 2000 + 1000 * place as u32, flushable: true, ..Tb::default() });
    }
    desk.wants(0, 1, 1);
    desk.serve();
    assert_eq!((desk.commands(0), desk.reserved(0)), (vec![(0, technique::FLUSH, 0)], (2, 0b1)));
}

/// SM 0 loses 40 and 50 instructions, SM 1 10 and 20, SM 2 has a TB that need not yield. Two TBs of the kernel fill an SM.
#[test]
fn chimera_takes_whole_sms_the_cheapest_first() {
    for (unissued, expected) in [(1, [0, 2, 0]), (2, [0, 2, 0]), (3, [2, 2, 0]), (9, [2, 2, 0])] {
        let mut desk = Desk::new(Scheme::Chimera, 3);
        desk.kernel(0, 0, 50, 2000, 0, 100);
        desk.kernel(1, 1, 50, 2000, 0, unissued);
        desk.kernel(2, 7, 50, 2000, 0, 0);
        for (sm, [first, second]) in [[40, 50], [10, 20], [1, 1]].into_iter().enumerate() {
            desk.tb(sm, 0, Tb { slot: 0, insts: first, cycles: first, flushable: true, ..Tb::default() });
            let slot = if sm == 2 { 2 } else { 0 };
            desk.tb(sm, 1, Tb { slot, insts: second, cycles: second, registers: 2000, flushable: true, ..Tb::default() });
            desk.wants(sm, 1, 2);
        }
        desk.serve();
        assert_eq!([0, 1, 2].map(|sm| desk.commands(sm).len()), expected, "{unissued} to come");
        for (sm, commands) in expected.into_iter().enumerate() {
            let reserved = if commands == 0 { (0, 0) } else { (2 | preempt_reserve::WHOLE_SM, 0b11) };
            assert_eq!(desk.reserved(sm), reserved, "SM {sm}");
        }
    }
}

/// Two TBs that drain in 100 and 300 cycles at one instruction per cycle: the first one's slots idle for 200. A switch of one would lose
/// twice `CONTEXT`.
#[test]
fn chimera_counts_what_idles_until_the_last_has_left() {
    #[derive(Default)]
    struct Watch(Vec<(usize, u32)>);
    impl Observer for Watch {
        fn preemption(&mut self, selection: &Selection<'_>) {
            self.0.extend(selection.victims().map(|(place, _, choice)| (place, choice.cost.overhead)));
        }
    }
    for (scheme, limit, expected) in [
        (Scheme::Chimera, 300, vec![(0, 200), (1, 0)]),
        // The second is late by draining: it is flushed, and nothing idles that is counted.
        (Scheme::Chimera, 299, vec![(0, 0), (1, 700)]),
        (Scheme::Shieh, 300, vec![(0, 0)]),
    ] {
        let mut desk = Desk::new(scheme, 1);
        desk.kernel(0, 0, 50, 2000, 0, 100);
        desk.kernel(1, 1, 50, 2000, 0, 1);
        desk.set(slot::at(1, slot::LATENCY_LIMIT), limit);
        desk.ended(0, 0, &[(1000, 1000), (1000, 1000)]);
        for (place, insts) in [900, 700].into_iter().enumerate() {
            desk.tb(0, place, Tb { slot: 0, insts, cycles: insts, registers: 2000 * place as u32, flushable: true, ..Tb::default() });
        }
        desk.wants(0, 1, 2);
        let mut watch = Watch::default();
        desk.serve_watched(&mut watch);
        assert_eq!(watch.0, expected, "{scheme:?} {limit}");
    }
}

#[test]
fn the_limit_is_the_launch_s_or_the_straps() {
    for (own, strap, how) in
        [(200, 0, technique::DRAIN), (0, 200, technique::DRAIN), (100, 200, technique::FLUSH), (0, 0, technique::FLUSH)]
    {
        let mut desk = Desk::new(Scheme::Shieh, 1);
        desk.kernel(0, 0, 50, 4000, 0, 100);
        desk.ended(0, 0, &[(1000, 1000), (1000, 1000)]);
        desk.tb(0, 0, Tb { slot: 0, insts: 800, cycles: 800, flushable: true, ..Tb::default() });
        desk.kernel(1, 1, 50, 4000, 0, 1);
        desk.set(slot::at(1, slot::LATENCY_LIMIT), own);
        desk.set(global::STRAP_PREEMPT_LIMIT, strap);
        desk.wants(0, 1, 1);
        desk.serve();
        assert_eq!(desk.commands(0)[0].1, how, "{own} {strap}");
    }
}

#[test]
fn what_watches_is_told_of_every_candidate() {
    #[derive(Default)]
    struct Watch(Vec<String>);
    impl Observer for Watch {
        fn preemption(&mut self, selection: &Selection<'_>) {
            let candidates: Vec<_> =
                selection.candidates().map(|one| (one.position, one.places, one.cost.latency, one.cost.overhead)).collect();
            self.0.push(format!(
                "SM {} for {} limit {}: {candidates:?} -> {}",
                selection.sm, selection.slot, selection.limit, selection.chosen.position
            ));
        }
    }
    let mut desk = urgent_beside(four(Scheme::Shieh, [900, 800, 20, 10]), 2, 199);
    desk.wants(0, 1, 2);
    let mut watch = Watch::default();
    desk.serve_watched(&mut watch);
    assert_eq!(watch.0, ["SM 0 for 1 limit 199: [(0, 3, 100, 800), (1, 12, 0, 30)] -> 1", "SM 0 for 1 limit 199: [(0, 3, 100, 800)] -> 0"]);
}

#[test]
fn straps_decide_whether_and_how() {
    for (scheme, able, faults, on) in [
        (Scheme::None as u32, true, 0, false),
        (Scheme::None as u32, false, 0, false),
        (Scheme::Shieh as u32, true, 0, true),
        (Scheme::Shieh as u32, false, fault::NO_PREEMPTION, false),
        (8, true, fault::NO_PREEMPTION, false),
    ] {
        let desk = Desk::strapped(scheme, able, 1);
        assert_eq!(desk.faults(), faults);
        assert_eq!(desk.get(global::MODE), if on { mode::PREEMPT } else { mode::DRAIN });
        assert_eq!(desk.get(global::INT_ENABLE) & interrupt::PREEMPT != 0, on);
        assert_eq!(desk.firmware.preemption() != Scheme::None, on);
    }
}

#[test]
fn without_the_strap_a_priority_is_nothing_and_nobody_leaves() {
    let mut desk = urgent_beside(four(Scheme::None, [900, 800, 20, 10]), 1, 0);
    desk.launch(1);
    desk.interrupt(interrupt::LAUNCH);
    assert_eq!((desk.firmware.scheduler().kernels().len(), desk.firmware.urgent_slots()), (1, 0));
    desk.wants(0, 1, 1);
    desk.interrupt(interrupt::PREEMPT);
    assert_eq!((desk.commands(0), desk.get(global::INT_STATUS)), (vec![], 0));
}

#[test]
fn an_urgent_kernel_has_its_quota_at_once_and_beside_the_policy() {
    let mut desk = Desk::new(Scheme::Shieh, 2);
    desk.kernel(0, 0, 50, 1000, 0, 100);
    desk.launch(0);
    desk.interrupt(interrupt::LAUNCH);
    desk.kernel(5, 3, 50, 2000, 0, 10);
    desk.launch(5);
    let quota = global::QUOTA_ALL + 4 * 5;
    desk.writes.clear();
    desk.interrupt(interrupt::LAUNCH);
    let phase = desk.firmware.scheduler().phase();
    assert!(desk.writes.windows(2).any(|two| two == [(quota, 2), (global::COMMIT, 1)]), "4,000 registers hold two");
    assert_eq!((desk.firmware.urgent_slots(), desk.firmware.scheduler().kernels().len()), (1 << 5, 1));
    // The policy's own rescheduling, of the batch of slot 0, leaves it alone.
    desk.writes.clear();
    desk.set(global::CYCLE_LOW, 1 << 20);
    desk.interrupt(interrupt::TIMER);
    assert_ne!(desk.firmware.scheduler().phase(), phase);
    assert!(desk.writes.contains(&(global::COMMIT, 1)) && !desk.writes.iter().any(|(offset, _)| *offset == quota));
    assert_eq!(desk.firmware.scheduler().reschedulings(), 1);
    // Several at a time; each is released when it has completed.
    desk.kernel(6, 1, 50, 2000, 0, 10);
    desk.launch(6);
    desk.interrupt(interrupt::LAUNCH);
    assert_eq!(desk.firmware.urgent_slots(), 0b110_0000);
    desk.complete(5);
    desk.interrupt(interrupt::COMPLETED);
    assert_eq!(desk.firmware.urgent_slots(), 0b100_0000);
    assert!(desk.writes.contains(&(slot::at(5, slot::CONTROL), slot_control::RELEASE)));
    assert_eq!(desk.firmware.scheduler().reschedulings(), 1);
}

#[test]
fn an_urgent_kernel_that_fits_nowhere_is_rejected() {
    let mut desk = Desk::new(Scheme::Shieh, 1);
    desk.kernel(3, 1, 50, 5000, 0, 10);
    desk.launch(3);
    desk.interrupt(interrupt::LAUNCH);
    assert!(desk.writes.contains(&(slot::at(3, slot::CONTROL), slot_control::REJECT)));
    assert_eq!((desk.faults(), desk.firmware.urgent_slots()), (fault::KERNEL_TOO_LARGE, 0));
    assert_eq!(desk.get(global::LAUNCH_COUNT), 0);
}

/// Four kernels are what the scheduler takes, the fifth and the seventh wait, the sixth is urgent.
#[test]
fn an_urgent_kernel_does_not_wait_behind_others() {
    let mut desk = Desk::new(Scheme::Shieh, 1);
    for slot in 0..7 {
        desk.kernel(slot, u32::from(slot == 5), 50, 1000, 0, 10);
        desk.launch(slot as u32);
    }
    desk.interrupt(interrupt::LAUNCH);
    assert_eq!((desk.firmware.scheduler().kernels().len(), desk.firmware.urgent_slots()), (4, 1 << 5));
    assert_eq!(desk.get(global::LAUNCH_COUNT), 1, "the seventh hides nobody");
    // Those that wait come in their order.
    for (done, expected) in [(0, 4), (1, 6)] {
        desk.complete(done);
        desk.interrupt(interrupt::COMPLETED);
        let last = desk.firmware.scheduler().kernels().last().map(|kernel| kernel.slot);
        assert_eq!(last, Some(expected));
    }
}

#[test]
fn urgent_kernels_are_found_after_a_reset() {
    let mut desk = Desk::new(Scheme::Shieh, 1);
    desk.kernel(2, 1, 50, 1000, 0, 10);
    desk.kernel(4, 0, 50, 1000, 0, 10);
    desk.restart();
    desk.interrupt(interrupt::TIMER);
    assert_eq!((desk.firmware.urgent_slots(), desk.firmware.scheduler().kernels().len()), (1 << 2, 1));
}

proptest! {
    #![proptest_config(cases(400))]

    /// Whatever lies where: a position that is reserved becomes free by those that leave, a TB that comes has its threads and its TB slot, nobody
    /// leaves who need not, or who leaves already, and nobody is flushed who may not be.
    #[test]
    fn what_is_commanded_makes_room(
        scheme in prop_oneof![Just(Scheme::Drain), Just(Scheme::Switch), Just(Scheme::Flush), Just(Scheme::Shieh), Just(Scheme::Oracle), Just(Scheme::Chimera)],
        tbs in proptest::collection::vec((0..4_u8, 0..30_u32, 0..2000_u32, 1..4000_u32, 0..4_u32, any::<bool>()), 0..12),
        demands in proptest::collection::vec((1..5_u32, 1..12_u32, 0..12_u32), 4),
        priorities in (0..2_u32, 0..2_u32, 0..2_u32),
        quotas in (0..4_u32, 0..4_u32, 0..4_u32),
        (count, need, limit) in (1..6_u32, 0..6_u32, 0..3000_u32),
    ) {
        let mut desk = Desk::new(scheme, 1);
        let each = |slot: usize| (50 * demands[slot].0, 50 * demands[slot].0 * demands[slot].1, 100 * demands[slot].2);
        let priorities = [priorities.0, priorities.1, priorities.2, 1];
        for (slot, priority) in priorities.into_iter().enumerate() {
            let (threads, registers, shared) = each(slot);
            desk.kernel(slot, priority, threads, registers, shared, if slot == 3 { need } else { 5 });
        }
        desk.set(slot::at(3, slot::LATENCY_LIMIT), limit);
        // As many as fit, one after the other.
        let (mut here, mut next) = (Vec::new(), (0, 0, 0));
        for (slot, gap, insts, cycles, leaving, flushable) in tbs {
            let (threads, registers, shared) = each(slot.into());
            let start = (next.0 + gap, next.1 + gap);
            if start.0 + registers > desk::REGISTERS || start.1 + shared > desk::SHARED || next.2 + threads > desk::THREADS || here.len() == desk::TBS {
                continue;
            }
            let leaving = if leaving == 0 { technique::SWITCH } else { technique::NONE };
            desk.tb(0, here.len(), Tb { slot, insts, cycles, registers: start.0, shared: start.1, flushable, leaving, left: None });
            here.push((slot, start, leaving != technique::NONE, flushable));
            next = (start.0 + registers, start.1 + shared, next.2 + threads);
        }
        let residents = [0, 1, 2_u8].map(|slot| here.iter().filter(|tb| tb.0 == slot).count() as u32);
        (0..).zip(residents).zip([quotas.0, quotas.1, quotas.2]).for_each(|((slot, resident), quota)| desk.quota(0, slot, resident, quota));
        desk.wants(0, 3, count);
        desk.serve();
        let commands = desk.commands(0);
        let (who, positions) = desk.reserved(0);
        let mut gone = [0_u32; 3];
        for &(place, how, _) in &commands {
            let (slot, _, leaving, flushable) = here[place];
            prop_assert!(slot != 3 && !leaving && priorities[usize::from(slot)] <= 1);
            prop_assert!(how != technique::FLUSH || flushable);
            gone[usize::from(slot)] += 1;
        }
        for slot in 0..3 {
            let leaving = here.iter().filter(|tb| usize::from(tb.0) == slot && tb.2).count() as u32;
            let excess = residents[slot].saturating_sub([quotas.0, quotas.1, quotas.2][slot] + leaving);
            prop_assert!(priorities[slot] == 0 || gone[slot] <= excess, "slot {}", slot);
        }
        let stays = |place: usize| !here[place].2 && commands.iter().all(|command| command.0 != place);
        let (threads, registers, shared) = each(3);
        let meets = |a: u32, n: u32, b: u32, m: u32| a < b + m && b < a + n && n != 0 && m != 0;
        let free = |position: u32, stays: &dyn Fn(usize) -> bool| {
            (0..here.len()).filter(|place| stays(*place)).all(|place| {
                let (slot, start, ..) = here[place];
                let (_, other_registers, other_shared) = each(slot.into());
                !meets(position * registers, registers, start.0, other_registers) && !meets(position * shared, shared, start.1, other_shared)
            })
        };
        for position in (0..64).filter(|position| positions >> position & 1 != 0) {
            prop_assert!(free(position, &stays), "position {}", position);
        }
        let staying: Vec<_> = (0..here.len()).filter(|place| stays(*place)).collect();
        let used: u32 = staying.iter().map(|place| each(here[*place].0.into()).0).sum();
        prop_assert!(positions == 0 || used + positions.count_ones() * threads <= desk::THREADS);
        prop_assert!(positions == 0 || staying.len() + positions.count_ones() as usize <= desk::TBS);
        prop_assert!(positions.count_ones() <= count.min(need) || scheme.is_whole() && positions.count_ones() <= count);
        prop_assert_eq!(who == 0, positions == 0);
        // Where a position was free to begin with, nobody had to leave for the first.
        let from_the_start = (0..desk.positions(3)).any(|position| free(position, &|place| !here[place].2));
        if !scheme.is_whole() && need > 0 && from_the_start && here.len() < desk::TBS && next.2 + threads <= desk::THREADS {
            prop_assert!(positions != 0);
            prop_assert!(positions.count_ones() > 1 || commands.is_empty());
        }
        for (_, how, estimate) in commands {
            prop_assert!(how != technique::FLUSH || estimate == 0);
            prop_assert!(estimate < 1 << (32 - preempt_command::ESTIMATE_SHIFT));
        }
    }
}
