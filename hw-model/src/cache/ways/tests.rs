//! Comparison of lookahead with every division and of monitors with reuse distances, and properties
//! of shares (sources.md D107, D124).

use super::lookahead::{Curve, lookahead};
use super::monitor::Monitor;
use super::*;
use crate::cache::{Probe, TagGeometry};
use crate::config::{Partition, SetIndex};
use proptest::prelude::*;

/// Total hits of the kernels with `shares`.
fn gained(hits: &[Vec<u32>], shares: &[u16]) -> u64 {
    hits.iter().zip(shares).map(|(hits, &share)| hits[..usize::from(share)].iter().map(|&hits| u64::from(hits)).sum::<u64>()).sum()
}

/// All divisions of `ways` among `kernels`, at least one each.
fn divisions(kernels: usize, ways: u16) -> Vec<Vec<u16>> {
    match kernels {
        1 => vec![vec![ways]],
        more => (1..=ways + 1 - more as u16)
            .flat_map(|first| divisions(more - 1, ways - first).into_iter().map(move |rest| [vec![first], rest].concat()))
            .collect(),
    }
}

fn of(hits: &[Vec<u32>], ways: u16) -> Shares {
    lookahead(&std::array::from_fn(|slot| hits.get(slot).map(|hits| Curve { hits, worth: (1, 1) })), ways)
}

fn fixed_at(sets: u32, ways: u32, given: Vec<u32>) -> TagArray {
    let config = PartitionConfig { by: Partition::Fixed, ways: given, ..PartitionConfig::default() };
    TagArray::new(geometry(sets, ways)).with_partition(Some(&config), ways)
}

fn geometry(sets: u32, ways: u32) -> TagGeometry {
    TagGeometry { sets, ways, sectors_per_line: 1, index: SetIndex::Linear, modified_floor_percent: 0 }
}

/// Reads a line for a kernel, with data at once. Returns true for a hit.
fn read(tags: &mut TagArray, line: u64, kernel: u8) -> bool {
    let probe = tags.probe(line, false, kernel);
    tags.access(line, probe, kernel);
    tags.fill(line);
    matches!(probe, Probe::Hit(_))
}

proptest! {
    /// All ways are assigned, at least one each. For convex curves no division is better.
    #[test]
    fn lookahead_finds_the_best_division_of_convex_curves(
        mut hits in prop::collection::vec(prop::collection::vec(0u32..50, 10), 1..5),
        ways in 5u16..=10,
    ) {
        hits.iter_mut().for_each(|hits| hits.sort_unstable_by(|a, b| b.cmp(a)));
        let shares = of(&hits, ways);
        let best = divisions(hits.len(), ways).iter().map(|division| gained(&hits, division)).max();
        prop_assert_eq!(Some(gained(&hits, &shares[..hits.len()])), best);
    }

    #[test]
    fn lookahead_gives_out_all_ways(hits in prop::collection::vec(prop::collection::vec(0u32..50, 40), 1..9), ways in 8u16..=40) {
        let shares = of(&hits, ways);
        prop_assert_eq!(shares.iter().sum::<u16>(), ways);
        prop_assert!(shares[..hits.len()].iter().all(|&share| share >= 1) && shares[hits.len()..].iter().all(|&share| share == 0));
    }

    /// A monitor counts at position p the accesses with p other lines of their set since the last
    /// access to the same line. A cache of n ways hits those below n.
    #[test]
    fn monitors_count_distances_of_reuse(ways in 1u16..9, sets in 1u64..4, lines in prop::collection::vec(0u64..40, 1..300)) {
        let mut monitor = Monitor::new(sets as u32, ways);
        let mut expected = vec![0; ways.into()];
        for (at, &line) in lines.iter().enumerate() {
            monitor.look((line % sets) as usize, line);
            if let Some(last) = lines[..at].iter().rposition(|&other| other == line) {
                let mut between: Vec<u64> = lines[last + 1..at].iter().copied().filter(|other| other % sets == line % sets).collect();
                between.sort_unstable();
                between.dedup();
                if let Some(count) = expected.get_mut(between.len()) {
                    *count += 1;
                }
            }
        }
        prop_assert_eq!(monitor.hits(), &expected[..]);
        prop_assert_eq!(monitor.accesses() as usize, lines.len());
        monitor.halve();
        prop_assert!(monitor.hits().iter().zip(&expected).all(|(half, all)| *half == all / 2));
    }

    /// A kernel with all ways has the hits of a shared cache, for every method of division.
    #[test]
    fn all_ways_are_a_shared_cache(
        by in prop::sample::select(vec![Partition::Fixed, Partition::Ucp, Partition::UcpRate]),
        lines in prop::collection::vec(0u64..60, 1..400),
    ) {
        let ways = if by == Partition::Fixed { vec![6] } else { vec![] };
        let config = PartitionConfig { by, ways, period_cycles: 100, ..PartitionConfig::default() };
        let (mut shared, mut owned) = (TagArray::new(geometry(4, 6)), TagArray::new(geometry(4, 6)).with_partition(Some(&config), 6));
        owned.reside(1, 0);
        for (now, line) in (0..).zip(lines) {
            owned.turn(now + 1);
            prop_assert_eq!(read(&mut shared, line, 0), read(&mut owned, line, 0));
        }
    }

    /// For any initial state: with at least as many accesses to each set as it has ways, each
    /// kernel reaches its share and keeps it.
    #[test]
    fn kernels_come_to_their_shares(shares in prop::array::uniform3(1u16..4), before in prop::collection::vec((0u64..80, 0u8..3), 0..200)) {
        let ways = shares.iter().sum::<u16>();
        let mut tags = TagArray::new(geometry(2, ways.into()));
        before.iter().for_each(|&(line, kernel)| { read(&mut tags, 100 * u64::from(kernel) + line, kernel); });
        let mut given = [1; KERNEL_SLOTS];
        given[..3].copy_from_slice(&shares);
        tags.set_ways(Some(given), 0b111, 0);
        for round in 0..u64::from(2 * ways) {
            for kernel in 0..3u8 {
                (0..2).for_each(|set| { read(&mut tags, 1_000 * u64::from(kernel + 1) + 2 * round + set, kernel); });
            }
        }
        for set in 0..2 {
            let held = tags.owned.as_ref().map(|owned| owned.held(set)[..3].to_vec());
            prop_assert_eq!(held, Some(shares.to_vec()));
        }
    }

    /// Fixed shares: at least one each, and never more than the total.
    #[test]
    fn fixed_shares_fit(given in prop::array::uniform8(0u16..20), resident: u8, ways in 8u16..20) {
        let shares = fixed::shares(given, resident, ways);
        prop_assert!(shares.iter().sum::<u16>() <= ways);
        let even = fixed::equal(resident, ways);
        prop_assert_eq!(even.iter().sum::<u16>(), if resident == 0 { 0 } else { ways });
        for slot in 0..KERNEL_SLOTS {
            prop_assert_eq!(shares[slot] >= 1, resident >> slot & 1 != 0);
            prop_assert!(resident >> slot & 1 == 0 || even[slot].abs_diff(ways / resident.count_ones() as u16) <= 1);
        }
    }
}

/// The paper's motivation for lookahead: a kernel that gains nothing from one more way may gain
/// much from three.
#[test]
fn lookahead_sees_past_a_plateau() {
    let plateau = vec![10, 0, 0, 90, 0, 0];
    let slope = vec![40, 20, 15, 5, 0, 0];
    // 90 hits for three ways are 30 each, more than the slope's second way.
    assert_eq!(of(&[plateau.clone(), slope], 6)[..2], [4, 2]);
    // The second way's 50 hits exceed them. The rest is not enough for the plateau, so it has no
    // use for it.
    assert_eq!(of(&[plateau, vec![40, 50, 45, 5, 0, 0]], 5)[..2], [1, 4]);
}

#[test]
fn what_accesses_ten_times_as_often_counts_for_less() {
    let none = |slots: &[u32]| rate::worths(std::array::from_fn(|slot| slots.get(slot).copied().unwrap_or(0)));
    assert_eq!(none(&[1_000, 100])[..2], [(1, 1), (1, 1)], "ten times is not more");
    assert_eq!(none(&[1_001, 100, 5_000])[..3], [(100, 1_001), (1, 1), (100, 5_000)]);
    assert_eq!(none(&[7, 0])[..2], [(1, 1), (1, 1)], "who accesses nothing is no measure");
}

/// One kernel reads four lines of a set repeatedly, the other never reads a line twice. From the
/// end of the first period on, the first kernel has the ways that it needs, and hits.
#[test]
fn utility_keeps_what_is_reused() {
    let hits_of = |by: Partition| {
        let config = PartitionConfig { by, period_cycles: 100, ..PartitionConfig::default() };
        let mut tags = TagArray::new(geometry(2, 6)).with_partition(Some(&config), 6);
        tags.reside(0b11, 0);
        let mut hits = 0;
        for now in 0..400 {
            tags.turn(now + 1);
            hits += u32::from(read(&mut tags, 2 * (now % 4), 0) && now >= 200);
            (0..4).for_each(|i| {
                read(&mut tags, 1_000 + 8 * now + 2 * i, 1);
            });
        }
        (hits, tags.ways_owned())
    };
    assert_eq!(hits_of(Partition::Shared), (0, None));
    let (hits, shares) = hits_of(Partition::Ucp);
    assert_eq!(hits, 200);
    // Ways without utility are divided evenly, and the first kernel already has more than half.
    assert_eq!(shares.map(|shares| [shares[0], shares[1]]), Some([4, 2]));
}

/// Periods end at multiples of their length, at any time of the look-ups. Changes in between use
/// the current counts.
#[test]
fn periods_end_at_their_multiples() {
    let config = PartitionConfig { by: Partition::Ucp, period_cycles: 100, ..PartitionConfig::default() };
    let mut tags = TagArray::new(geometry(2, 6)).with_partition(Some(&config), 6);
    let repartitions = |tags: &TagArray| {
        let mut stats = None;
        tags.add_ways(&mut stats);
        stats.map(|stats| stats.repartitions)
    };
    tags.reside(0b11, 10);
    assert!(!tags.turn(100));
    assert_eq!(repartitions(&tags), Some(0), "cycle 100 is the first of the second period");
    tags.turn(101);
    assert_eq!(repartitions(&tags), Some(1));
    // No kernel is resident from 250 to 450.
    tags.reside(0, 250);
    tags.reside(0b1, 450);
    assert_eq!(repartitions(&tags), Some(2));
    assert_eq!(tags.ways_owned().map(|shares| shares[0]), Some(6));
    tags.reside(0b101, 460);
    assert_eq!(tags.ways_owned().map(|shares| (shares[0], shares[2])), Some((3, 3)), "the third is new");
}

/// Lines in flight cannot be evicted, so a kernel with all of its own lines in flight waits, even
/// if others could be evicted.
#[test]
fn a_kernel_waits_for_its_own_lines() {
    let mut tags = fixed_at(1, 4, vec![2, 2]);
    tags.reside(0b11, 0);
    for line in [10, 11] {
        read(&mut tags, line, 1);
    }
    for line in [20, 21] {
        let probe = tags.probe(line, false, 0);
        assert_eq!(probe, Probe::LineMiss);
        tags.access(line, probe, 0);
    }
    assert_eq!(tags.probe(22, false, 0), Probe::Full);
    assert_eq!(tags.probe(12, false, 1), Probe::LineMiss);
    tags.fill(20);
    assert_eq!(tags.probe(22, false, 0), Probe::LineMiss);
}
