//! MIAS-Roofline: its share of DRAM and its score against exact arithmetic, and hand-computed
//! decisions (docs/results/roofline.md).

use super::world::{Counts, World, shape};
use crate::cases::cases;
use mias_firmware::quantity::{Gain, SectorRate, Share, Worth};
use mias_policies::metric::roofline::{Objective, part, share, traffic, value};
use mias_registers::{PhaseCode, PolicyCode};
use proptest::prelude::*;

/// Returns the warp instructions of two kernels and their loaded sectors, all of which miss.
fn counts(instructions: [u32; 2], sectors: u32) -> Counts {
    let [first, second] = instructions.map(|warps| 32 * warps);
    Counts { instructions: [first, second, 0, 0], load_requests: sectors, l2_accesses: sectors, ..Counts::default() }
}

/// A streaming kernel and a compute-bound one, on a DRAM that moves 8 sectors per cycle: 15/16 of
/// that are 7,500 in a window of 1,000 cycles. Ten SMs of the first alone demand 15,000 and would
/// reach half the rate, 2,000; of 3-1 they demand 11,250 and reach 2/3.
fn streaming(_: usize, tbs: &[u32]) -> Counts {
    match tbs {
        [4, 0] => counts([4000, 0], 1500),
        [0, 4] => counts([0, 4000], 0),
        [1, 3] => counts([1300, 2900], 450),
        [2, 2] => counts([2400, 2000], 750),
        [3, 1] => counts([3400, 1200], 1125),
        _ => panic!("no such configuration: {tbs:?}"),
    }
}

fn chosen(policy: PolicyCode, count: fn(usize, &[u32]) -> Counts) -> (Vec<u32>, Vec<f64>) {
    let mut world = World::new(policy, 10, &[shape(256), shape(256)], &[]);
    world.profile(count);
    assert_eq!((world.phase(), world.faults()), (PhaseCode::Steady, 0));
    let scores = world.firmware.report().tried().filter_map(|tried| tried.score);
    let scores = scores.map(|score| score.numerator.to_u128() as f64 / score.denominator.to_u128() as f64).collect();
    (world.shared(), scores)
}

fn close(scores: &[f64], expected: [f64; 3]) {
    assert_eq!(scores.len(), 3);
    for (score, expected) in scores.iter().zip(expected) {
        assert!((score / expected - 1.0).abs() < 2e-3, "{scores:?}, not {expected}");
    }
}

/// In the profile, more TBs of the streaming kernel are better. On all SMs 3-1 exceeds DRAM's
/// bandwidth.
#[test]
fn what_dram_does_not_carry_is_not_chosen() {
    let (config, scores) = chosen(PolicyCode::MiasRooflineStp, streaming);
    assert_eq!(config, [2, 2]);
    // Alone 2,000 and 4,000.
    close(&scores, [0.65 + 0.725, 1.2 + 0.5, (1.7 + 0.3) * 2.0 / 3.0]);
    let (config, scores) = chosen(PolicyCode::MiasRoofline, streaming);
    assert_eq!(config, [2, 2]);
    let both = |instructions: f64, progress: f64| (instructions / 3000.0_f64).powi(2) * progress;
    close(&scores, [both(4200.0, 1.375), both(4400.0, 1.7), both(4600.0 * 2.0 / 3.0, 2.0 * 2.0 / 3.0)]);
    for policy in [PolicyCode::MiasIpc, PolicyCode::MiasStp] {
        assert_eq!(chosen(policy, streaming).0, [3, 1], "{policy:?}");
    }
}

/// No DRAM traffic: 1-3 is slightly the fastest, 3-1 advances both kernels the most, and 2-2 is
/// nearly as good in either.
#[test]
fn of_what_is_nearly_as_fast_the_one_that_furthers_all_is_chosen() {
    fn uneven(_: usize, tbs: &[u32]) -> Counts {
        match tbs {
            [4, 0] => counts([400, 0], 0),
            [0, 4] => counts([0, 4000], 0),
            [1, 3] => counts([100, 3800], 0),
            [2, 2] => counts([260, 3600], 0),
            [3, 1] => counts([390, 2500], 0),
            _ => panic!("no such configuration: {tbs:?}"),
        }
    }
    assert_eq!(chosen(PolicyCode::MiasIpc, uneven).0, [1, 3]);
    let (config, scores) = chosen(PolicyCode::MiasRooflineStp, uneven);
    assert_eq!(config, [3, 1]);
    close(&scores, [0.25 + 0.95, 0.65 + 0.9, 0.975 + 0.625]);
    let (config, scores) = chosen(PolicyCode::MiasRoofline, uneven);
    assert_eq!(config, [2, 2]);
    let both = |instructions: f64, progress: f64| (instructions / 2200.0_f64).powi(2) * progress;
    close(&scores, [both(3900.0, 1.2), both(3860.0, 1.55), both(2890.0, 1.6)]);
}

/// 7 configurations and 2 references on 6 SMs: the first round gives the isolated rates.
#[test]
fn a_second_round_keeps_what_was_measured_alone() {
    let mut world = World::new(PolicyCode::MiasRooflineStp, 6, &[shape(128), shape(128)], &[]);
    // Alone the first kernel demands 15,000 sectors of 7,500; together there is no traffic. By
    // measured progress the second counts more.
    let count = |_: usize, tbs: &[u32]| {
        let sectors = if tbs[1] == 0 { 2500 } else { 0 };
        let more = if tbs == [6, 2] { 30 } else { 0 };
        counts([100 * tbs[0], 160 * tbs[1] + more], sectors)
    };
    world.profile(count);
    assert_eq!(world.phase(), PhaseCode::Transition);
    world.profile(count);
    // Of n TBs of the first: n / 4 + (8 - n) / 8, and slightly more for 6-2 (of 1,280 alone); 7-1
    // still makes 1.875.
    assert_eq!((world.phase(), world.shared()), (PhaseCode::Steady, vec![7, 1]));
    let report = world.firmware.report();
    let best = report.tried().filter_map(|tried| tried.score).max().expect("scored");
    let best = best.numerator.to_u128() as f64 / best.denominator.to_u128() as f64;
    assert!((best - 1.875).abs() < 2e-3, "{best}");
}

#[test]
fn stores_go_to_dram_whether_they_hit_or_not() {
    // Loads 60 and stores 40, all of which miss; the same with store hits; loads of which half hit,
    // without stores.
    assert_eq!([traffic(60, 100, 0), traffic(60, 100, 40), traffic(100, 100, 50)], [100, 100, 50]);
    // Contradictory counters.
    assert_eq!([traffic(200, 100, 300), traffic(0, u32::MAX, 0)], [0, u32::MAX]);
}

#[test]
fn a_dram_that_is_not_known_is_no_limit() {
    assert_eq!(share(u32::MAX, 1, 256, SectorRate::ZERO), Share::ONE);
    assert_eq!(share(0, 0, 10, SectorRate::ONE), Share::ONE);
}

proptest! {
    #![proptest_config(cases(256))]

    /// The share is the exact quotient of whole sectors: 16 leading bits on either side are
    /// accurate to 5 parts of 2^16.
    #[test]
    fn the_share_is_that_of_exact_arithmetic(sectors in 0_u32..1 << 28, cycles in 0_u32..1 << 25, sms in 1_u16..=256, bits in 1_u32..) {
        let moved = (u128::from(bits) * u128::from(cycles) * 15) >> 20;
        let asked = u128::from(sectors) * u128::from(sms);
        let exact = if moved >= asked { 65_536 } else { (moved << 16) / asked };
        let share = share(sectors, cycles, sms, SectorRate::from_bits(bits));
        prop_assert!(u128::from(share.to_bits()).abs_diff(exact) <= 5 && share <= Share::ONE, "{share}, not {exact}");
    }

    /// The score agrees with floating point without truncation.
    #[test]
    fn the_score_is_that_of_exact_arithmetic(speedup in 1_u32 << 13..1 << 18, progress in 1_u32 << 13..1 << 18, share in 1_u32 << 14..=65_536) {
        let [s, p] = [speedup, progress].map(|count| f64::from(count) * f64::from(share) / 65_536.0 / 65_536.0);
        let near = |value: Worth, exact: f64| (value.to_num::<f64>() - exact).abs() <= exact * 0.02 + 1e-5;
        let [speedup, progress, share] = [speedup, progress, share].map(Gain::from_bits);
        prop_assert!(near(value(Objective::Stp, speedup, progress, share), p));
        prop_assert!(near(value(Objective::Both, speedup, progress, share), (s.powi(2) * p).min(256.0)));
    }

    /// An increase of any input never lowers a score, for any counters.
    #[test]
    fn more_is_not_worse(a in any::<[u32; 2]>(), more in any::<[u32; 2]>(), shares in [0..=65_536_u32, 0..=65_536_u32]) {
        let b = [a[0].saturating_add(more[0]), a[1].saturating_add(more[1])];
        let [low, high] = [shares[0].min(shares[1]), shares[0].max(shares[1])].map(Share::from_bits);
        let (less, more) = (a.map(Gain::from_bits), b.map(Gain::from_bits));
        for objective in [Objective::Both, Objective::Stp] {
            prop_assert!(value(objective, less[0], less[1], low) <= value(objective, more[0], more[1], high));
        }
        prop_assert!(part(a[0], low) <= a[0]);
    }
}
