//! Comparison of the tag array with its plain twin (sources.md D107), and properties of LRU.

use super::plain::{Found, PlainTags};
use super::*;
use crate::config::SetIndex;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Op {
    Read(u64, u8),
    Write(u64, u32, u8),
    Fill(u64),
    /// Sets the ways of the kernels.
    Ways([u16; 3]),
}

/// Number of kernels that access the array.
const KERNELS: u8 = 3;

fn op() -> impl Strategy<Value = Op> {
    let sector = 0u64..96;
    let mask = prop_oneof![Just(u32::MAX), Just(0xffff), Just(0xffff_0000), any::<u32>()];
    prop_oneof![
        40 => (sector.clone(), 0..KERNELS).prop_map(|(s, k)| Op::Read(s, k)),
        30 => (sector.clone(), mask, 0..KERNELS).prop_map(|(s, m, k)| Op::Write(s, m, k)),
        40 => sector.prop_map(Op::Fill),
        1 => prop::array::uniform3(1u16..7).prop_map(Op::Ways),
    ]
}

proptest! {
    #[test]
    fn behaves_as_lists_of_lines(
        sets in prop_oneof![Just(1u32), Just(2), Just(4)],
        ways in 1u32..7,
        floor in prop_oneof![Just(0u32), Just(20), Just(60)],
        owned: bool,
        ops in prop::collection::vec(op(), 1..400),
    ) {
        let geometry = TagGeometry { sets, ways, sectors_per_line: 4, index: SetIndex::Linear, modified_floor_percent: floor };
        let mut tags = TagArray::new(geometry);
        let mut plain = PlainTags::new(sets, ways, floor);
        if owned {
            tags.set_ways(Some([1; KERNEL_SLOTS]), 0b11, 0);
            plain.shares = tags.ways_owned().map(|shares| shares.map(usize::from));
        }
        for op in ops {
            let (sector, write, kernel) = match op {
                Op::Read(sector, kernel) => (sector, None, kernel),
                Op::Write(sector, mask, kernel) => (sector, Some(mask), kernel),
                Op::Fill(sector) => {
                    tags.fill(sector);
                    plain.fill(sector);
                    continue;
                }
                Op::Ways(_) if !owned => continue,
                Op::Ways(ways) => {
                    let mut shares = [1; KERNEL_SLOTS];
                    shares[..3].copy_from_slice(&ways);
                    // The last kernel is not resident.
                    tags.set_ways(Some(shares), 0b11, 0);
                    plain.shares = tags.ways_owned().map(|shares| shares.map(usize::from));
                    continue;
                }
            };
            let probe = tags.probe(sector, write.is_some(), kernel);
            let found = match probe {
                Probe::Hit(_) => Found::Hit,
                Probe::HitReserved(_) => Found::HitReserved,
                Probe::SectorMiss(_) => Found::SectorMiss,
                Probe::LineMiss => Found::LineMiss,
                Probe::Full => Found::Full,
            };
            let (expected, expected_eviction) = plain.access(sector, write, kernel.into());
            prop_assert_eq!(found, expected);
            if found != Found::Full {
                let (slot, evicted) = tags.access(sector, probe, kernel);
                prop_assert_eq!(evicted, expected_eviction);
                if let Some(mask) = write {
                    tags.write(sector, slot, mask, probe);
                }
            }
            let modified = plain.sets.iter().flatten().filter(|line| line.is_modified()).count();
            prop_assert_eq!(tags.modified_lines() as usize, modified);
        }
    }

    /// A fully associative array of n ways hits exactly if fewer than n other lines were used since
    /// the last use (stack property).
    #[test]
    fn fully_associative_lru_has_the_stack_property(ways in 1u32..40, lines in prop::collection::vec(0u64..60, 1..300)) {
        let geometry = TagGeometry { sets: 1, ways, sectors_per_line: 4, index: SetIndex::Linear, modified_floor_percent: 0 };
        let mut tags = TagArray::new(geometry);
        for (i, &line) in lines.iter().enumerate() {
            let probe = tags.probe(line * 4, false, 0);
            let last = lines[..i].iter().rposition(|&l| l == line);
            let expected = last.is_some_and(|last| {
                let mut between = lines[last + 1..i].to_vec();
                between.sort_unstable();
                between.dedup();
                between.len() < ways as usize
            });
            prop_assert_eq!(matches!(probe, Probe::Hit(_)), expected);
            tags.access(line * 4, probe, 0);
            tags.fill(line * 4);
        }
    }
}

#[test]
fn lazy_fetch_on_read() {
    let mut tags = TagArray::new(TagGeometry { sets: 1, ways: 2, sectors_per_line: 4, index: SetIndex::Linear, modified_floor_percent: 0 });
    let half = tags.probe(5, true, 0);
    assert_eq!(half, Probe::LineMiss);
    let (slot, _) = tags.access(5, half, 0);
    tags.write(5, slot, 0xffff, half);
    assert_eq!(tags.probe(5, true, 0), Probe::Hit(slot), "writes hit a half-written sector");
    assert_eq!(tags.probe(5, false, 0), Probe::SectorMiss(slot), "reads must fetch it");
    let rest = tags.probe(5, true, 0);
    tags.access(5, rest, 0);
    tags.write(5, slot, 0xffff_0000, rest);
    assert_eq!(tags.probe(5, false, 0), Probe::Hit(slot), "now all bytes are known");
}

#[test]
fn preload_is_clean_and_invalidate_forgets() {
    let mut tags =
        TagArray::new(TagGeometry { sets: 64, ways: 16, sectors_per_line: 4, index: SetIndex::Ipoly, modified_floor_percent: 0 });
    for sector in 0..4096 {
        tags.preload(sector);
    }
    assert!((0..4096).all(|s| matches!(tags.probe(s, false, 0), Probe::Hit(_))), "1024 consecutive lines fill 64 sets x 16 ways exactly");
    assert_eq!(tags.modified_lines(), 0);
    tags.invalidate_all();
    assert!((0..4096).all(|s| tags.probe(s, false, 0) == Probe::LineMiss));
}

/// In a cache without sectors, a line that a store drops is empty and is evicted before the least
/// recently used one. With sectors it keeps its position in the order.
#[test]
fn a_dropped_line_is_the_first_to_leave() {
    let resident = |sectors_per_line: u32| -> Vec<bool> {
        let geometry = TagGeometry { sets: 1, ways: 3, sectors_per_line, index: SetIndex::Linear, modified_floor_percent: 0 };
        let mut tags = TagArray::new(geometry);
        let first = |line: u64| line * u64::from(sectors_per_line);
        let read = |tags: &mut TagArray, line: u64| {
            let probe = tags.probe(first(line), false, 0);
            tags.access(first(line), probe, 0);
            tags.fill(first(line));
        };
        (0..3).for_each(|line| read(&mut tags, line));
        tags.invalidate(first(2));
        read(&mut tags, 3);
        (0..4).map(|line| matches!(tags.probe(first(line), false, 0), Probe::Hit(_))).collect()
    };
    assert_eq!(resident(1), [true, true, false, true]);
    assert_eq!(resident(4), [false, true, false, true]);
}
