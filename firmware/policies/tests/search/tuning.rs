//! Pattern-based search for limits of active warps, on scores that are known functions of the
//! limits (Wang et al. 2018; sources.md D159).

use crate::cases::cases;
use mias_policies::policy::{LEVELS, MOST_TUNED, Tuning};
use mias_policies::search::Limits;
use proptest::prelude::*;

/// Runs a search over kernels with these warps per scheduler, and returns the limits of each window
/// with their score, and the final ones.
fn searched(warps: &[u8], score: &mut dyn FnMut(&[u8]) -> u32) -> (Vec<(Vec<u8>, u32)>, Vec<u8>) {
    let mut of = Limits::default();
    of[..warps.len()].copy_from_slice(warps);
    let (mut tuning, mut tried) = (Tuning::new(of), Vec::new());
    loop {
        let limits = tuning.limits()[..warps.len()].to_vec();
        assert_eq!(tuning.limits()[warps.len()..], [0; 4][warps.len()..], "a limit of nobody");
        let now = score(&limits);
        tried.push((limits, now));
        assert!(tried.len() <= usize::from(MOST_TUNED), "{tried:?}");
        if !tuning.measured(now, warps.len()) {
            return (tried, tuning.limits()[..warps.len()].to_vec());
        }
    }
}

/// The first kernel is best at 4 and contributes most, the second at 8. Both peaks are found, the
/// first one first, and levels below a peak are skipped after two lower scores.
#[test]
fn the_critical_kernel_goes_first() {
    let part = |limit: u8, best: u8, height: u32| {
        let limit = if limit == 0 { 24 } else { limit };
        if limit > best { height * u32::from(best) / u32::from(limit) } else { height * u32::from(limit) / u32::from(best) }
    };
    let mut score = |limits: &[u8]| 10_000 + part(limits[0], 4, 9_000) + part(limits[1], 8, 3_000);
    let (tried, stays) = searched(&[24, 24], &mut score);
    let limits: Vec<[u8; 2]> = tried.iter().map(|(limits, _)| [limits[0], limits[1]]).collect();
    let first = [[16, 0], [12, 0], [8, 0], [6, 0], [4, 0], [2, 0], [1, 0]];
    let second = [[0, 16], [0, 12], [0, 8], [0, 6], [0, 4]];
    let beside = [[4, 16], [4, 12], [4, 8], [4, 6], [4, 4]];
    assert_eq!(limits, [&[[0, 0]][..], &first, &second, &beside].concat());
    assert_eq!(stays, [4, 8]);
}

/// If no limit helps, nothing is tried twice.
#[test]
fn without_a_gain_there_is_no_second_pass() {
    let worse = |limit: u8| if limit == 0 { 0 } else { 100 * (25 - u32::from(limit)) };
    let (tried, stays) = searched(&[24, 24, 24], &mut |limits| 100_000 - limits.iter().map(|limit| worse(*limit)).sum::<u32>() * 10);
    assert_eq!((tried.len(), stays), (1 + 3 * 2, vec![0; 3]));
    // Levels above a scheduler's warps are not tried: kernels of one warp have no level, those of 6
    // have three.
    let (tried, stays) = searched(&[1, 6], &mut |_| 7);
    assert_eq!((tried.into_iter().map(|(limits, _)| limits[1]).collect::<Vec<_>>(), stays), (vec![0, 4, 2, 1], vec![0; 2]));
    assert_eq!(searched(&[1, 0], &mut |_| 7).0.len(), 1);
}

proptest! {
    #![proptest_config(cases(256))]

    /// For any scores: the search ends, every limit is none or a level below the warps, and the
    /// result is the best measured, the first of equals.
    #[test]
    fn any_scores(
        warps in prop::collection::vec(any::<u8>(), 2..5),
        scores in prop::collection::vec(any::<u32>(), 64),
        narrow in 0..32_u32,
    ) {
        let mut left = scores.into_iter();
        let (tried, stays) = searched(&warps, &mut |_| left.next().expect("no more windows than stated") >> narrow);
        for (limits, _) in &tried {
            for (limit, warps) in limits.iter().zip(&warps) {
                prop_assert!(*limit == 0 || LEVELS.contains(limit) && limit < warps, "{} of {}", limit, warps);
            }
        }
        let best = tried.iter().rev().max_by_key(|(_, score)| *score).expect("one at least");
        prop_assert_eq!(&stays, &best.0);
    }

    /// The launch order does not matter for distinct scores, which are any function of each
    /// kernel's limit.
    #[test]
    fn order_does_not_matter(
        tables in prop::collection::vec(prop::collection::vec(0..1_u32 << 16, LEVELS.len() + 1), 2..5),
        warps in prop::collection::vec(1..40_u8, 4),
        turn in 1..4_usize,
    ) {
        let kernels = tables.len();
        let turned = |kernel: usize| (kernel + turn) % kernels;
        let of = |table: &[u32], limit: u8| table[LEVELS.iter().position(|level| *level == limit).map_or(0, |at| at + 1)];
        // Kernels have different weights, so that no two sums of low numbers are equal.
        let sum = |limits: &[u8], at: &dyn Fn(usize) -> usize| {
            (0..kernels).map(|kernel| of(&tables[at(kernel)], limits[kernel])).fold(0_u32, u32::saturating_add)
        };
        let (tried, stays) = searched(&warps[..kernels], &mut |limits| sum(limits, &|kernel| kernel));
        let other: Vec<u8> = (0..kernels).map(|kernel| warps[turned(kernel)]).collect();
        let (tried_other, stays_other) = searched(&other, &mut |limits| sum(limits, &turned));
        let mut scores: Vec<u32> = tried.iter().map(|(_, score)| *score).collect();
        scores.sort_unstable();
        prop_assume!(scores.windows(2).all(|pair| pair[0] != pair[1]));
        // Kernels that gain from no limit are equals, in launch order.
        let is_alone = |limits: &[u8], kernel: usize| limits.iter().enumerate().all(|(other, limit)| (*limit != 0) == (other == kernel));
        let gains = |kernel: usize| tried.iter().any(|(limits, score)| is_alone(limits, kernel) && *score > tried[0].1);
        prop_assume!((0..kernels).filter(|kernel| !gains(*kernel)).count() < 2);
        let turned_back: Vec<u8> = (0..kernels).map(|kernel| stays[turned(kernel)]).collect();
        prop_assert_eq!(stays_other, turned_back);
        prop_assert_eq!(tried_other.len(), tried.len());
    }

    /// If each kernel's part of the score rises to one peak and then falls, without a plateau of
    /// less than 3 %, the peaks are found.
    #[test]
    fn peaks_are_found(peaks in prop::collection::vec(0..LEVELS.len(), 2..5), heights in prop::collection::vec(100_000..1_000_000_u32, 4)) {
        let place = |limit: u8| LEVELS.iter().position(|level| *level == limit).unwrap_or(LEVELS.len());
        let part = |limit: u8, peak: usize, height: u32| height >> place(limit).abs_diff(peak);
        let mut score = |limits: &[u8]| {
            limits.iter().zip(&peaks).zip(&heights).map(|((limit, peak), height)| part(*limit, *peak, *height)).sum()
        };
        let (_, stays) = searched(&vec![32; peaks.len()], &mut score);
        let expected: Vec<u8> = peaks.iter().map(|peak| LEVELS[*peak]).collect();
        prop_assert_eq!(stays, expected);
    }
}
