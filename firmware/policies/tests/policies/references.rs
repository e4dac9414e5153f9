//! Policies that compare with kernels alone: MIAS-STP, MIAS with guard, and direct measurement
//! (sources.md D43, D44 and D53).

use super::world::{Counts, World, shape};
use mias_firmware::configs::Origin;
use mias_registers::{PhaseCode, PolicyCode, global, option};

/// Returns the counts of an SM with two kernels of which it holds four TBs: alone 4000 and 400 warp
/// instructions.
fn complementary(_: usize, tbs: &[u32]) -> Counts {
    let instructions = match tbs {
        [4, 0] => [4000, 0, 0, 0],
        [0, 4] => [0, 400, 0, 0],
        [1, 3] => [1000, 380, 0, 0],
        [2, 2] => [2400, 220, 0, 0],
        [3, 1] => [3100, 120, 0, 0],
        _ => panic!("no such configuration: {tbs:?}"),
    };
    // More TBs of the first reduce load_requests, so IPM*IPC takes as many of those as possible.
    Counts { instructions: instructions.map(|warps| 32 * warps), load_requests: 100 * tbs[1], ..Counts::default() }
}

/// Returns counts as `complementary` does, except that together the kernels reach only half the
/// rate.
fn harmful(sm: usize, tbs: &[u32]) -> Counts {
    let mut counts = complementary(sm, tbs);
    if tbs.iter().all(|tbs| *tbs != 0) {
        counts.instructions = counts.instructions.map(|count| count / 2);
    }
    counts
}

fn world(policy: PolicyCode, sms: usize, options: u32) -> World {
    World::new(policy, sms, &[shape(256), shape(256)], &[(global::STRAP_OPTIONS, options)])
}

/// By IPC 3-1 wins with 3220. STP is 0.25 + 0.95, 0.6 + 0.55, 0.775 + 0.3, so 1-3 wins by progress.
#[test]
fn stp_is_decided_by_what_kernels_do_alone() {
    for options in [0, option::WARP_IPC] {
        let mut world = world(PolicyCode::MiasStp, 10, options);
        let dealt: Vec<Vec<u32>> = (0..5).map(|sm| world.quotas(sm)).collect();
        assert_eq!(dealt, [[4, 0], [0, 4], [1, 3], [2, 2], [3, 1]], "each kernel alone, and the configurations");
        world.profile(complementary);
        assert_eq!((world.phase(), world.shared()), (PhaseCode::Steady, vec![1, 3]));
        let scores: Vec<f64> = world
            .firmware
            .report()
            .tried()
            .skip(2)
            .map(|tried| {
                let score = tried.score.expect("measured");
                score.numerator.to_u128() as f64 / score.denominator.to_u128() as f64
            })
            .collect();
        for (score, expected) in scores.iter().zip([1.2, 1.15, 1.075]) {
            assert!((score - expected).abs() < 1e-4, "{scores:?}");
        }
        assert_eq!(world.faults(), 0);
    }
    // By IPC, for comparison.
    let mut ipc = world(PolicyCode::MiasIpc, 9, 0);
    ipc.profile(complementary);
    assert_eq!(ipc.shared(), [3, 1]);
}

/// More configurations than SMs after the references: a second round, which does not measure the
/// references again.
#[test]
fn a_second_round_needs_no_references() {
    let mut world = World::new(PolicyCode::MiasStp, 6, &[shape(128), shape(128)], &[]);
    let alone =
        |tbs: &[u32]| Counts { instructions: [100 * tbs[0], 100 * tbs[1] + if tbs == [2, 6] { 50 } else { 0 }, 0, 0], ..Counts::default() };
    world.profile(|_, tbs| alone(tbs));
    assert_eq!(world.phase(), PhaseCode::Transition, "7 configurations and 2 references on 6 SMs");
    assert!((0..6).all(|sm| world.quotas(sm).iter().all(|tbs| *tbs != 0)), "none alone");
    world.profile(|_, tbs| alone(tbs));
    assert_eq!((world.phase(), world.shared()), (PhaseCode::Steady, vec![2, 6]));
    assert_eq!(world.firmware.report().tried().count(), 9, "all were tried");
}

#[test]
fn too_few_sms_for_references_are_shared_spatially() {
    for policy in [PolicyCode::MiasStp, PolicyCode::MiasGuard] {
        let mut world = world(policy, 2, 0);
        assert_eq!(world.phase(), PhaseCode::Steady);
        assert!(world.is_spatial());
    }
}

#[test]
fn the_guard_lets_pass_what_gains_and_stops_what_loses() {
    let mut gains = world(PolicyCode::MiasGuard, 10, 0);
    gains.profile(complementary);
    assert_eq!(gains.shared(), [3, 1], "the choice of IPM*IPC");
    // 3-1 makes 0.5375 of the progress of one kernel after the other.
    let mut loses = world(PolicyCode::MiasGuard, 10, 0);
    loses.profile(harmful);
    assert!(loses.phase() == PhaseCode::Steady && loses.is_spatial());
    let report = loses.firmware.report();
    assert_eq!((report.origin(), report.winner(), report.settled()), (Origin::SpatialFallback, None, true));
    assert_eq!(report.tried().count(), 5, "what was measured is kept");
    // Plain MIAS by the same metric does not detect it.
    let mut plain = world(PolicyCode::MiasIpmIpc, 9, 0);
    plain.profile(harmful);
    assert_eq!(plain.shared(), [3, 1]);
}

/// Progress of exactly 1 is no gain; slightly more is.
#[test]
fn the_guard_asks_for_more_than_one() {
    for (second, spatial) in [(200, true), (201, false)] {
        let mut world = World::new(PolicyCode::MiasGuard, 9, &[shape(512), shape(512)], &[]);
        // One configuration, 1-1, in addition to two references.
        world.profile(|_, tbs| {
            let instructions = if tbs == [1, 1] { [2000, second, 0, 0] } else { [2000 * tbs[0], 200 * tbs[1], 0, 0] };
            Counts { instructions, ..Counts::default() }
        });
        assert_eq!(world.is_spatial(), spatial, "{second}");
    }
}

/// Spatial first, then SMK-P on all SMs; the better is kept.
#[test]
fn two_partitions_are_measured_one_after_the_other() {
    type Count = fn(usize, &[u32]) -> Counts;
    for (count, spatial) in [(complementary as Count, false), (harmful as Count, true)] {
        let mut world = world(PolicyCode::Maestro, 9, 0);
        assert!(world.phase() == PhaseCode::Transition && world.is_spatial());
        world.profile(count);
        assert_eq!((world.phase(), world.shared()), (PhaseCode::Transition, vec![2, 2]), "SMK-P: equal kernels, equal shares");
        world.profile(count);
        assert_eq!(world.phase(), PhaseCode::Steady);
        if spatial {
            assert!(world.is_spatial());
            assert_eq!((world.firmware.report().origin(), world.firmware.report().settled()), (Origin::Policy, true));
        } else {
            // 0.6 + 0.55 of the rates on SMs of their own.
            assert_eq!(world.shared(), [2, 2]);
        }
    }
}
