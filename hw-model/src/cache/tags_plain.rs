//! Plain tag array: a list of sets, each a list of lines with a time of last use and a state per
//! sector.
//!
//! Start reading here. [`super::TagArray`] does the same with one bit per sector, a recency list,
//! and no branch that the host could not predict; `behaves_as_lists_of_lines` compares both.

use super::Evicted;
use mias_registers::KERNEL_SLOTS;

/// State of a sector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Invalid,
    Reserved,
    Valid,
    Modified,
}

/// Line with the state of its four sectors.
#[derive(Clone, Debug)]
pub(super) struct PlainLine {
    /// Line number: sector / 4.
    line: u64,
    /// Kernel that allocated the line.
    owner: usize,
    /// Time of the line's last use.
    used: u64,
    state: [State; 4],
    /// True if all bytes of a modified sector are known.
    readable: [bool; 4],
    /// True if the sector is modified when it arrives.
    modified_on_fill: [bool; 4],
    readable_on_fill: [bool; 4],
    /// Bytes written since the line was allocated.
    written: [u32; 4],
}

impl PlainLine {
    pub(super) fn is_modified(&self) -> bool {
        self.state.contains(&State::Modified)
    }
}

/// Plain tag array.
pub(super) struct PlainTags {
    /// Lines of each set, in no order.
    pub(super) sets: Vec<Vec<PlainLine>>,
    ways: usize,
    /// Lower bound in percent for the eviction of modified lines.
    floor: usize,
    /// Ways of each resident kernel, none for others; none: no way has an owner.
    pub(super) shares: Option<[usize; KERNEL_SLOTS]>,
    /// Number of accesses so far.
    time: u64,
}

/// Result of a look-up: a [`Probe`](super::Probe) without the slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    Hit,
    HitReserved,
    SectorMiss,
    LineMiss,
    Full,
}

impl PlainTags {
    pub(super) fn new(sets: u32, ways: u32, floor: u32) -> Self {
        PlainTags { sets: vec![vec![]; sets as usize], ways: ways as usize, floor: floor as usize, shares: None, time: 0 }
    }

    fn find(&mut self, sector: u64) -> Option<&mut PlainLine> {
        let n = self.sets.len() as u64;
        self.sets[(sector / 4 % n) as usize].iter_mut().find(|l| l.line == sector / 4)
    }

    /// Line that is evicted for one of `kernel` (sources.md D124).
    fn victim(&self, set: usize, kernel: usize) -> Option<usize> {
        let modified = self.sets.iter().flatten().filter(|l| l.is_modified()).count();
        let modified_too = modified * 100 >= self.floor * self.ways * self.sets.len();
        let lines = &self.sets[set];
        let on_its_way = |i: usize| lines[i].state.contains(&State::Reserved);
        let may_leave = |i: usize| !on_its_way(i) && (modified_too || !lines[i].is_modified());
        let least_recent = |of: &[usize]| of.iter().copied().filter(|&i| may_leave(i)).min_by_key(|&i| lines[i].used);
        let all: Vec<usize> = (0..lines.len()).collect();
        let Some(shares) = self.shares.filter(|shares| shares[kernel] < self.ways) else { return least_recent(&all) };
        let held = |kernel: usize| lines.iter().filter(|line| line.owner == kernel).count();
        let those = |such: &dyn Fn(usize) -> bool| all.iter().copied().filter(|&i| such(lines[i].owner)).collect::<Vec<_>>();
        let of_nobody = those(&|owner| shares[owner] == 0);
        let of_others =
            those(&|owner| owner != kernel && shares[owner] > 0 && held(owner) > shares[owner] && held(kernel) < shares[kernel]);
        let own = those(&|owner| owner == kernel && shares[owner] > 0);
        let in_order = [of_nobody, of_others, own];
        match in_order.iter().find_map(|class| least_recent(class)) {
            None if in_order.iter().flatten().any(|&i| on_its_way(i)) => None,
            None => least_recent(&all),
            some => some,
        }
    }

    fn probe(&mut self, sector: u64, write: bool, kernel: usize) -> Found {
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
        if self.sets[set].len() < self.ways || self.victim(set, kernel).is_some() { Found::LineMiss } else { Found::Full }
    }

    /// Looks up a read, or a write of these bytes, and performs it.
    pub(super) fn access(&mut self, sector: u64, write: Option<u32>, kernel: usize) -> (Found, Option<Evicted>) {
        let found = self.probe(sector, write.is_some(), kernel);
        let (time, s) = (self.time, (sector % 4) as usize);
        self.time += 1;
        let mut evicted = None;
        if found == Found::Full {
            return (found, None);
        }
        if found == Found::LineMiss {
            let set = (sector / 4) as usize % self.sets.len();
            if self.sets[set].len() == self.ways {
                let old = self.victim(set, kernel).map(|v| self.sets[set].remove(v)).expect("probed");
                let mask = (0..4).filter(|&i| old.state[i] == State::Modified).fold(0, |m, i| m | 1 << i);
                evicted = (mask != 0).then_some(Evicted { line: old.line, modified: mask });
            }
            self.sets[set].push(PlainLine {
                line: sector / 4,
                owner: kernel,
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

    /// Completes the fetch of a sector.
    pub(super) fn fill(&mut self, sector: u64) {
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
