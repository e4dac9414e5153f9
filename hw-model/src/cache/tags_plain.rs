//! The tag array as one would first write it: a list of sets, each a list of lines with a time of last use and a state per sector. Start
//! reading here. [`super::TagArray`] does the same with one bit per sector, a list in order of use, and no branch that the host could not
//! predict; `behaves_as_lists_of_lines` runs both side by side.

use super::Evicted;

/// What a sector is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Invalid,
    Reserved,
    Valid,
    Modified,
}

/// A line, and what it knows of each of its four sectors.
#[derive(Clone, Debug)]
pub(super) struct PlainLine {
    /// Its number: sector / 4.
    line: u64,
    /// Time of its last use.
    used: u64,
    state: [State; 4],
    /// Whether all bytes of a modified sector are known.
    readable: [bool; 4],
    /// What the sector becomes when it arrives.
    modified_on_fill: [bool; 4],
    readable_on_fill: [bool; 4],
    /// Bytes written since the line came.
    written: [u32; 4],
}

impl PlainLine {
    pub(super) fn is_modified(&self) -> bool {
        self.state.contains(&State::Modified)
    }
}

/// The array.
pub(super) struct PlainTags {
    /// The lines of each set, in no order.
    pub(super) sets: Vec<Vec<PlainLine>>,
    ways: usize,
    /// Modified lines may leave while at least so many percent of all lines are modified.
    floor: usize,
    /// Accesses so far.
    time: u64,
}

/// What a look-up finds: a [`Probe`](super::Probe) without the place.
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
        PlainTags { sets: vec![vec![]; sets as usize], ways: ways as usize, floor: floor as usize, time: 0 }
    }

    fn find(&mut self, sector: u64) -> Option<&mut PlainLine> {
        let n = self.sets.len() as u64;
        self.sets[(sector / 4 % n) as usize].iter_mut().find(|l| l.line == sector / 4)
    }

    /// The least recently used line that may leave.
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

    /// A read, or a write of these bytes: looks up, and changes what the look-up says.
    pub(super) fn access(&mut self, sector: u64, write: Option<u32>) -> (Found, Option<Evicted>) {
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
            self.sets[set].push(PlainLine {
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

    /// The sector has arrived.
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
