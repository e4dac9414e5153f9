//! MIAS-Duel: trials on the whole GPU and their winners, against exact arithmetic
//! (docs/explanation/policies-mias.md).

use super::world::{Counts, World, shape};
use crate::cases::cases;
use mias_registers::{PhaseCode, PolicyCode};
use proptest::prelude::*;

/// Returns the warp instructions of two kernels without DRAM traffic.
fn counts([first, second]: [u32; 2]) -> Counts {
    Counts { instructions: [32 * first, 32 * second, 0, 0], ..Counts::default() }
}

/// Two kernels with four TBs per SM: SMK-P has 2-2.
fn world() -> World {
    World::new(PolicyCode::MiasDuel, 10, &[shape(256), shape(256)], &[])
}

/// Runs a profile in which `best` is the best of 1-3, 2-2 and 3-1. Alone the kernels make 1,000 and
/// 4,000.
fn profile(world: &mut World, best: [u32; 2]) {
    world.profile(|_, tbs| match tbs {
        [_, 0] => counts([1000, 0]),
        [0, _] => counts([0, 4000]),
        tbs => counts(if tbs == best { [900, 3600] } else { [500, 2000] }),
    });
}

/// Runs a warm-up window with arbitrary counts, and a measured one.
fn trial(world: &mut World, vector: [u32; 2], made: [u32; 2]) {
    try_with(world, vector, counts(made));
}

fn try_with(world: &mut World, vector: [u32; 2], made: Counts) {
    for counted in [counts([7, 4000 - made.instructions[1] / 32]), made] {
        assert_eq!((world.phase(), world.shared()), (PhaseCode::Transition, vector.to_vec()), "it is tried on all SMs");
        world.profile(|_, _| counted);
    }
}

#[test]
fn what_both_choose_is_not_tried() {
    let mut world = world();
    profile(&mut world, [2, 2]);
    assert_eq!((world.phase(), world.shared()), (PhaseCode::Steady, vec![2, 2]));
}

/// In the profile 3-1 looked far better. On all SMs the trial decides.
#[test]
fn the_trial_decides_and_not_the_profile() {
    for (of_chosen, better) in [([600, 1600], [2, 2]), ([800, 2000], [3, 1])] {
        let mut world = world();
        profile(&mut world, [3, 1]);
        // 0.5 + 0.6 of the isolated rates; 0.6 + 0.4, and 0.8 + 0.5.
        trial(&mut world, [2, 2], [500, 2400]);
        trial(&mut world, [3, 1], of_chosen);
        assert_eq!((world.phase(), world.shared(), world.faults()), (PhaseCode::Steady, better.to_vec(), 0));
    }
}

/// Traffic beyond DRAM's bandwidth reduces a profile, but not a trial, which already includes the
/// limit: 15,000 sectors a window from ten SMs, of which DRAM moves 7,500.
#[test]
fn a_trial_counts_whole() {
    let mut world = world();
    profile(&mut world, [3, 1]);
    trial(&mut world, [2, 2], [500, 2400]);
    try_with(&mut world, [3, 1], Counts { load_requests: 1500, l2_accesses: 1500, ..counts([800, 2000]) });
    assert_eq!((world.phase(), world.shared()), (PhaseCode::Steady, vec![3, 1]));
}

/// Three kernels with three TBs per SM: without one of them the others would make more, but such a
/// configuration is not a candidate.
#[test]
fn no_kernel_is_left_out() {
    let mut world = World::new(PolicyCode::MiasDuel, 10, &[shape(256), shape(256), shape(256)], &[]);
    while world.phase() == PhaseCode::Transition {
        world.profile(|_, tbs| {
            let present = tbs.iter().filter(|tbs| **tbs != 0).count();
            assert!(present != 2, "{tbs:?}");
            let made = if tbs[0] == 2 { 3200 } else { 1600 };
            Counts {
                instructions: [0, 1, 2, 3].map(|kernel| if tbs.get(kernel).is_some_and(|tbs| *tbs != 0) { made } else { 0 }),
                ..Counts::default()
            }
        });
    }
    // SMK-P also has 2-1-1, because the first kernel's share is smallest first.
    assert_eq!((world.phase(), world.shared()), (PhaseCode::Steady, vec![2, 1, 1]));
}

/// Kernels that do not fit one SM together have nothing to try.
#[test]
fn kernels_that_share_no_sm_have_sms_of_their_own() {
    let mut world = World::new(PolicyCode::MiasDuel, 10, &[shape(1024), shape(1024)], &[]);
    assert_eq!(world.phase(), PhaseCode::Steady, "nothing is profiled");
    assert!(world.is_spatial());
}

proptest! {
    #![proptest_config(cases(300))]

    /// The better of the two by the sum of the kernels' progress, unless they are closer than the
    /// resolution of progress.
    #[test]
    fn the_better_stays(smk in [0..4000_u32, 0..4000_u32], chosen in [0..4000_u32, 0..4000_u32]) {
        let progress = |made: [u32; 2]| f64::from(made[0]) / 1000.0 + f64::from(made[1]) / 4000.0;
        prop_assume!((progress(smk) - progress(chosen)).abs() > 1e-3);
        let mut world = world();
        profile(&mut world, [3, 1]);
        trial(&mut world, [2, 2], smk);
        trial(&mut world, [3, 1], chosen);
        let better = if progress(smk) > progress(chosen) { [2, 2] } else { [3, 1] };
        prop_assert_eq!((world.phase(), world.shared()), (PhaseCode::Steady, better.to_vec()));
    }
}
