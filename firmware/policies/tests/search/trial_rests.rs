//! Long trials after a rest (sources.md D213): hand-computed steps, and properties for any kernels.

use super::rounds::{WINDOW, kernels, random, rounds, several, tbs};
use crate::cases::cases;
use proptest::prelude::*;

/// Window of a long trial, five times the usual length.
const LONG: u32 = 100_000;

/// Two kernels with 16 and 8 fitting TBs; SMK-P has 8 and 4. The second is as fast with two TBs as
/// with four, and slightly faster than with one. The difference is too large for the short trials.
/// It slows down the first.
fn held_up(tbs: [u8; 4], kernel: usize) -> u32 {
    match (kernel, tbs[1]) {
        (0, 1) => 30 * u32::from(tbs[0]),
        (0, 2) => 50 * u32::from(tbs[0]),
        (0, more) => 100 * u32::from(tbs[0]) / u32::from(more),
        (_, 1) => 400,
        (_, _) => 1_000,
    }
}

#[test]
fn the_room_of_half_the_tbs_is_given_away() {
    let rounds = rounds(&kernels(&[1, 2]), 3, &mut held_up);
    assert_eq!((&rounds[0].tried, rounds[0].stays), (&vec![tbs(&[1, 1]), tbs(&[8, 4])], tbs(&[8, 4])));
    // Four of the first leave space for six of the second, in vain. Two of the second leave space
    // for twelve of the first, which is better, also in the second window. One leaves space for
    // fourteen, which is not better.
    let tried = [[8, 4], [4, 6], [12, 2], [12, 2], [14, 1]].map(|each| tbs(&each));
    assert_eq!((&rounds[1].tried[..], rounds[1].stays), (&tried[..], tbs(&[12, 2])));
    assert_eq!(rounds[1].cycles, [[1, LONG], [WINDOW; 2], [WINDOW; 2], [LONG; 2], [WINDOW; 2]]);
    // Then no trial is better.
    assert_eq!(rounds[2].stays, tbs(&[12, 2]));
}

/// Four kernels with space for four TBs each. Only the fourth can use the TBs of the first two, and
/// only if it gets all of them. Giving to all kernels in turn would find nothing.
#[test]
fn what_one_kernel_alone_can_use_is_found() {
    let did = |tbs: [u8; 4], kernel: usize| if kernel == 3 && tbs[3] >= 6 { 3_000 } else { 1_000 };
    let rounds = rounds(&kernels(&[1, 1, 1, 1]), 2, &mut { did });
    assert_eq!((rounds[0].stays, rounds[1].stays), (tbs(&[4, 4, 4, 4]), tbs(&[4, 4, 2, 6])));
    // Each gives to the next. The third finds an improvement, which is measured twice, and gives
    // once more. The fourth has received TBs and gives none.
    let tried = [[4, 4, 4, 4], [2, 6, 4, 4], [4, 2, 6, 4], [4, 4, 2, 6], [4, 4, 2, 6], [4, 4, 1, 7]].map(|each| tbs(&each));
    assert_eq!(rounds[1].tried[..6], tried);
    assert!(rounds[1].tried[6..].iter().all(|tried| tried[3] >= 6), "{:?}", rounds[1].tried);
}

/// The result stays for a hundred windows, then four times as many each time.
#[test]
fn what_was_found_stays_longer_each_time() {
    let rounds = rounds(&kernels(&[1, 2]), 4, &mut held_up);
    assert_eq!(rounds.iter().map(|round| round.rest).collect::<Vec<_>>(), [1, 4, 16, 64].map(|times| Some(times * 100 * WINDOW)));
}

/// An exchange that is better in the first long window and not in the second is dropped.
#[test]
fn what_is_better_once_does_not_stay() {
    let mut looks = 0;
    let mut did = |now: [u8; 4], kernel: usize| {
        looks += u32::from(kernel == 0 && now == tbs(&[12, 2]));
        // Two windows of a step, of which the first settles.
        if now == tbs(&[12, 2]) && looks > 2 { [100, 1_000][kernel] } else { held_up(now, kernel) }
    };
    let rounds = rounds(&kernels(&[1, 2]), 2, &mut did);
    assert!(rounds[1].tried.contains(&tbs(&[12, 2])), "{rounds:?}");
    assert_eq!(rounds[1].stays, tbs(&[8, 4]));
}

/// With one TB of each, no kernel can give: the search ends.
#[test]
fn one_of_each_is_left_alone() {
    let rounds = rounds(&kernels(&[9, 7]), 3, &mut |_, _| 100);
    assert_eq!(rounds.len(), 1);
    assert_eq!((rounds[0].stays, rounds[0].rest), (tbs(&[1, 1]), None));
}

proptest! {
    #![proptest_config(cases(256))]

    /// If rates are a function of the configuration, a round keeps the previous result, or finds a
    /// product of rates that is larger by an eighth.
    #[test]
    fn a_round_is_no_loss(kernels in several(), seed: u64) {
        let rounds = rounds(&kernels, 3, &mut |tbs, kernel| random(seed, tbs, kernel));
        let product = |tbs: [u8; 4]| (0..kernels.len()).map(|kernel| f64::from(random(seed, tbs, kernel))).product::<f64>();
        for pair in rounds.windows(2) {
            let (before, after) = (pair[0].stays, pair[1].stays);
            prop_assert!(after == before || product(after) > product(before) * 1.124, "{:?} for {:?}", after, before);
            prop_assert!(pair[1].tried.contains(&after));
        }
    }

    /// For any changing counts: every round ends, every kernel has a TB on every SM, and no SM
    /// exceeds its capacity.
    #[test]
    fn any_counts_leave_everybody_something(kernels in several(), numbers in prop::collection::vec(any::<u32>(), 1..60)) {
        let mut number = 0;
        let rounds = rounds(&kernels, 4, &mut |_, _| {
            number += 1;
            numbers[number % numbers.len()] >> (number % 31)
        });
        for now in rounds.iter().flat_map(|round| round.tried.iter().chain([&round.stays])) {
            let held: u32 = kernels.iter().zip(now).map(|(kernel, tbs)| kernel.demand.threads * u32::from(*tbs)).sum();
            prop_assert!(held <= 16 && now[..kernels.len()].iter().all(|tbs| *tbs != 0), "{:?}", now);
        }
    }
}
