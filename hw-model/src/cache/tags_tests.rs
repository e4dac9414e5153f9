//! The tag array against an obvious one: a list of sets, each a list of lines with a time of last use (property 42).

use super::*;
use crate::config::SetIndex;
use proptest::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Invalid,
    Reserved,
    Valid,
    Modified,
}

#[derive(Clone, Debug)]
struct RefLine {
    line: u64,
    used: u64,
    state: [State; 4],
    readable: [bool; 4],
    modified_on_fill: [bool; 4],
    readable_on_fill: [bool; 4],
    written: [u32; 4],
}

impl RefLine {
    fn is_modified(&self) -> bool {
        self.state.contains(&State::Modified)
    }
}

struct Reference {
    sets: Vec<Vec<RefLine>>,
    ways: usize,
    floor: usize,
    time: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Hit,
    HitReserved,
    SectorMiss,
    LineMiss,
    Full,
}

impl Reference {
    fn find(&mut self, sector: u64) -> Option<&mut RefLine> {
        let n = self.sets.len() as u64;
        self.sets[(sector / 4 % n) as usize].iter_mut().find(|l| l.line == sector / 4)
    }

    fn victim(&self, set: usize) -> Option<usize> {
        let modified = self.sets.iter().flatten().filter(|l| l.is_modified()).count();
        let modified_too = modified * 100 >= self.floor * self.ways * self.sets.len();
        (0..self.sets[set].len())
            .filter(|&i| !self.sets[set][i].state.contains(&State::Reserved) && (modified_too || !self.sets[set][i].is_modified()))
            .min_by_key(|&i| self.sets[set][i].used)
    }

    fn probe(&mut self, sector: u64, write: bool) -> Found {
        let s = (sector % 4) as usize;
        if let Some(line) = self.find(sector) {
            return match line.state[s] {
                State::Reserved => Found::HitReserved,
                State::Valid => Found::Hit,
                State::Modified if write || line.readable[s] => Found::Hit,
                _ => Found::SectorMiss,
            };
        }
        let set = (sector / 4) as usize % self.sets.len();
        if self.sets[set].len() < self.ways || self.victim(set).is_some() { Found::LineMiss } else { Found::Full }
    }

    fn access(&mut self, sector: u64, write: Option<u32>) -> (Found, Option<Evicted>) {
        let found = self.probe(sector, write.is_some());
        let (time, s) = (self.time, (sector % 4) as usize);
        self.time += 1;
        let mut evicted = None;
        if found == Found::Full {
            return (found, None);
        }
        if found == Found::LineMiss {
            let set = (sector / 4) as usize % self.sets.len();
            if self.sets[set].len() == self.ways {
                let old = self.victim(set).map(|v| self.sets[set].remove(v)).expect("probed");
                let mask = (0..4).filter(|&i| old.state[i] == State::Modified).fold(0, |m, i| m | 1 << i);
                evicted = (mask != 0).then_some(Evicted { line: old.line, modified: mask });
            }
            self.sets[set].push(RefLine {
                line: sector / 4,
                used: time,
                state: [State::Invalid; 4],
                readable: [true; 4],
                modified_on_fill: [false; 4],
                readable_on_fill: [false; 4],
                written: [0; 4],
            });
        }
        let line = self.find(sector).expect("present now");
        line.used = time;
        if matches!(found, Found::LineMiss | Found::SectorMiss) {
            line.modified_on_fill[s] = line.state[s] == State::Modified;
            line.readable_on_fill[s] = false;
            line.readable[s] = true;
            line.state[s] = State::Reserved;
        }
        if let Some(mask) = write {
            line.state[s] = State::Modified;
            line.written[s] |= mask;
            if found != Found::Hit {
                line.readable[s] = false;
            }
            if found == Found::HitReserved {
                line.modified_on_fill[s] = true;
                line.readable_on_fill[s] = true;
            }
            if line.written[s] == u32::MAX {
                line.readable[s] = true;
            }
        }
        (found, evicted)
    }

    fn fill(&mut self, sector: u64) {
        let s = (sector % 4) as usize;
        if let Some(line) = self.find(sector) {
            if line.state[s] == State::Reserved {
                line.state[s] = if line.modified_on_fill[s] { State::Modified } else { State::Valid };
            }
            line.readable[s] |= line.readable_on_fill[s];
            line.readable_on_fill[s] = false;
            line.modified_on_fill[s] = false;
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Read(u64),
    Write(u64, u32),
    Fill(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let sector = 0u64..96;
    let mask = prop_oneof![Just(u32::MAX), Just(0xffff), Just(0xffff_0000), any::<u32>()];
    prop_oneof![
        4 => sector.clone().prop_map(Op::Read),
        3 => (sector.clone(), mask).prop_map(|(s, m)| Op::Write(s, m)),
        4 => sector.prop_map(Op::Fill),
    ]
}

proptest! {
    #[test]
    fn behaves_as_lists_of_lines(
        sets in prop_oneof![Just(1u32), Just(2), Just(4)],
        ways in 1u32..7,
        floor in prop_oneof![Just(0u32), Just(20), Just(60)],
        ops in prop::collection::vec(op(), 1..400),
    ) {
        let geometry = TagGeometry { sets, ways, sectors_per_line: 4, index: SetIndex::Linear, modified_floor_percent: floor };
        let mut tags = TagArray::new(geometry);
        let mut reference = Reference { sets: vec![vec![]; sets as usize], ways: ways as usize, floor: floor as usize, time: 0 };
        for op in ops {
            let (sector, write) = match op {
                Op::Read(sector) => (sector, None),
                Op::Write(sector, mask) => (sector, Some(mask)),
                Op::Fill(sector) => {
                    tags.fill(sector);
                    reference.fill(sector);
                    continue;
                }
            };
            let probe = tags.probe(sector, write.is_some());
            let found = match probe {
                Probe::Hit(_) => Found::Hit,
                Probe::HitReserved(_) => Found::HitReserved,
                Probe::SectorMiss(_) => Found::SectorMiss,
                Probe::LineMiss => Found::LineMiss,
                Probe::Full => Found::Full,
            };
            let (expected, expected_eviction) = reference.access(sector, write);
            prop_assert_eq!(found, expected);
            if found != Found::Full {
                let (slot, evicted) = tags.access(sector, probe);
                prop_assert_eq!(evicted, expected_eviction);
                if let Some(mask) = write {
                    tags.write(sector, slot, mask, probe);
                }
            }
            let modified = reference.sets.iter().flatten().filter(|l| l.is_modified()).count();
            prop_assert_eq!(tags.modified_lines() as usize, modified);
        }
    }

    /// A fully associative array of n ways hits exactly when fewer than n other lines were used since (the stack property).
    #[test]
    fn fully_associative_lru_has_the_stack_property(ways in 1u32..40, lines in prop::collection::vec(0u64..60, 1..300)) {
        let geometry = TagGeometry { sets: 1, ways, sectors_per_line: 4, index: SetIndex::Linear, modified_floor_percent: 0 };
        let mut tags = TagArray::new(geometry);
        for (i, &line) in lines.iter().enumerate() {
            let probe = tags.probe(line * 4, false);
            let last = lines[..i].iter().rposition(|&l| l == line);
            let expected = last.is_some_and(|last| {
                let mut between = lines[last + 1..i].to_vec();
                between.sort_unstable();
                between.dedup();
                between.len() < ways as usize
            });
            prop_assert_eq!(matches!(probe, Probe::Hit(_)), expected);
            tags.access(line * 4, probe);
            tags.fill(line * 4);
        }
    }
}

#[test]
fn lazy_fetch_on_read() {
    let mut tags = TagArray::new(TagGeometry { sets: 1, ways: 2, sectors_per_line: 4, index: SetIndex::Linear, modified_floor_percent: 0 });
    let half = tags.probe(5, true);
    assert_eq!(half, Probe::LineMiss);
    let (slot, _) = tags.access(5, half);
    tags.write(5, slot, 0xffff, half);
    assert_eq!(tags.probe(5, true), Probe::Hit(slot), "writes hit a half-written sector");
    assert_eq!(tags.probe(5, false), Probe::SectorMiss(slot), "reads must fetch it");
    let rest = tags.probe(5, true);
    tags.access(5, rest);
    tags.write(5, slot, 0xffff_0000, rest);
    assert_eq!(tags.probe(5, false), Probe::Hit(slot), "now all bytes are known");
}

#[test]
fn preload_is_clean_and_invalidate_forgets() {
    let mut tags =
        TagArray::new(TagGeometry { sets: 64, ways: 16, sectors_per_line: 4, index: SetIndex::Ipoly, modified_floor_percent: 0 });
    for sector in 0..4096 {
        tags.preload(sector);
    }
    assert!((0..4096).all(|s| matches!(tags.probe(s, false), Probe::Hit(_))), "1024 consecutive lines fill 64 sets x 16 ways exactly");
    assert_eq!(tags.modified_lines(), 0);
    tags.invalidate_all();
    assert!((0..4096).all(|s| tags.probe(s, false) == Probe::LineMiss));
}
