//! Sectored, set-associative tag array with true LRU, allocated on a miss.
//!
//! Each sector of a line is invalid, reserved (in flight), valid or modified, as in GPGPU-Sim's
//! sector cache. A write miss makes its sector modified without a fetch. While some of the sector's
//! bytes are unknown it is not readable, and a later read fetches it ("lazy fetch on read").
//! Sectors are identified by byte address / 32.
//!
//! One cycle of a cache is: [`TagArray::probe`]; then, if the request can be accepted,
//! [`TagArray::access`] with the result of the probe; then for writes [`TagArray::write`]. A probe
//! changes nothing, so a reservation fail has no effect on the state. The cost does not depend on
//! the number of ways: lines are found through an index, victims at the tail of a list.
//!
//! Start reading with the plain twin, `tags_plain.rs`.

use super::address_index::AddressIndex;
use super::awaited::Awaited;
use super::geometry::TagGeometry;
use super::line::{EMPTY, Line, Recency, Set};
use super::set_index::SetIndexer;
use super::ways::Owned;
use mias_registers::KERNEL_SLOTS;

/// Owner of a line that no kernel has requested.
pub(super) const NO_KERNEL: u8 = KERNEL_SLOTS as u8;

/// Maximum number of sectors per line; lines are 32 to 128 bytes.
const MAX_SECTORS: usize = 4;

/// Result of a look-up. The slot identifies the line for the calls that follow at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The sector is present.
    Hit(u32),
    /// The sector is in flight.
    HitReserved(u32),
    /// The line is present or in flight, but the sector is not, or cannot be read yet.
    SectorMiss(u32),
    /// The line is absent, and a line can be evicted for it.
    LineMiss,
    /// The line is absent, and no line can be evicted: reservation fail.
    Full,
}

/// Evicted line with modified sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// Line number: byte address / line size.
    pub line: u64,
    /// Mask of the line's modified sectors.
    pub modified: u8,
}

/// Sectored tag array.
#[derive(Clone, Debug)]
pub struct TagArray {
    pub(super) geometry: TagGeometry,
    indexer: SetIndexer,
    sector_bits: u32,
    /// Sectors of a line, minus one.
    sector_mask: u64,
    pub(super) lines: Vec<Line>,
    /// Recency node of each line, then of each set.
    pub(super) recency: Vec<Recency>,
    /// Bytes written since the line was allocated, for the written sectors ([`Line::touched`]).
    written: Vec<[u32; MAX_SECTORS]>,
    pub(super) sets: Vec<Set>,
    index: AddressIndex,
    modified_lines: u32,
    /// Ownership of lines; none: no line has an owner.
    pub(super) owned: Option<Box<Owned>>,
    /// Kernels for which lines are in flight; none where this is not needed.
    awaited: Option<Box<Awaited>>,
}

impl TagArray {
    /// Creates an empty array.
    pub fn new(geometry: TagGeometry) -> Self {
        let lines = (geometry.sets * geometry.ways) as usize;
        let mut tags = TagArray {
            geometry,
            indexer: SetIndexer::new(geometry.index, geometry.sets),
            sector_bits: geometry.sectors_per_line.trailing_zeros(),
            sector_mask: u64::from(geometry.sectors_per_line) - 1,
            lines: vec![EMPTY; lines],
            recency: vec![Recency { newer: 0, older: 0 }; lines + geometry.sets as usize],
            written: vec![[0; MAX_SECTORS]; lines],
            sets: vec![Set { reserved: 0, modified: 0 }; geometry.sets as usize],
            index: AddressIndex::new(lines),
            modified_lines: 0,
            owned: None,
            awaited: None,
        };
        tags.invalidate_all();
        tags
    }

    /// Counts lines in flight by kernel.
    pub fn with_awaited(mut self) -> Self {
        self.awaited = Some(Box::new(Awaited::new(self.geometry.sets, self.lines.len())));
        self
    }

    /// Removes every line and sets the number of ways.
    pub fn reshape(&mut self, ways: u32) {
        if ways == self.geometry.ways {
            return self.invalidate_all();
        }
        let (owned, awaited) = (self.owned.take(), self.awaited.take());
        *self = TagArray::new(TagGeometry { ways, ..self.geometry });
        self.owned = owned;
        if awaited.is_some() {
            self.awaited = Some(Box::new(Awaited::new(self.geometry.sets, self.lines.len())));
        }
        self.invalidate_all();
    }

    /// Geometry given at construction.
    pub fn geometry(&self) -> TagGeometry {
        self.geometry
    }

    /// Number of lines with at least one modified sector.
    pub fn modified_lines(&self) -> u32 {
        self.modified_lines
    }

    /// Line number of `sector`, and the bit of the sector within the line.
    #[inline]
    pub fn split(&self, sector: u64) -> (u64, u8) {
        (sector >> self.sector_bits, 1 << (sector & self.sector_mask))
    }

    /// Removes every line, including modified ones. Sectors in flight are ignored when they arrive.
    pub fn invalidate_all(&mut self) {
        self.index.clear();
        self.modified_lines = 0;
        let ways = self.geometry.ways;
        if let Some(owned) = &mut self.owned {
            owned.empty(ways as u16);
        }
        if let Some(awaited) = &mut self.awaited {
            awaited.empty();
        }
        for (s, set) in self.sets.iter_mut().enumerate() {
            let (first, node) = (s as u32 * ways, self.lines.len() as u32 + s as u32);
            *set = Set { reserved: 0, modified: 0 };
            for way in 0..ways {
                let newer = if way == 0 { node } else { first + way - 1 };
                let older = if way + 1 == ways { node } else { first + way + 1 };
                self.recency[(first + way) as usize] = Recency { newer, older };
                self.lines[(first + way) as usize] = Line { set: s as u32, ..EMPTY };
            }
            self.recency[node as usize] = Recency { newer: first + ways - 1, older: first };
        }
    }

    /// Set of `sector`.
    pub(super) fn set_of(&self, sector: u64) -> usize {
        self.indexer.set(self.split(sector).0)
    }

    /// Number of lines of `kernel` in flight in the set of `sector`, if the probed access adds one
    /// and lines in flight are counted.
    pub fn awaited(&self, sector: u64, probe: Probe, kernel: u8) -> Option<u32> {
        let more = match probe {
            Probe::LineMiss => true,
            Probe::SectorMiss(slot) => self.lines[slot as usize].reserved == 0,
            Probe::Hit(_) | Probe::HitReserved(_) | Probe::Full => false,
        };
        self.awaited.as_ref().filter(|_| more).map(|awaited| awaited.of(self.set_of(sector), kernel))
    }

    /// Result of a read or a write of `sector` by a kernel. Changes nothing.
    #[inline(always)]
    pub fn probe(&self, sector: u64, is_write: bool, kernel: u8) -> Probe {
        let (number, bit) = self.split(sector);
        if let Some(slot) = self.index.find(&self.lines, number) {
            let line = &self.lines[slot as usize];
            if line.reserved & bit != 0 {
                return Probe::HitReserved(slot);
            }
            let here = line.valid | line.modified & if is_write { u8::MAX } else { !line.unreadable };
            return if here & bit != 0 { Probe::Hit(slot) } else { Probe::SectorMiss(slot) };
        }
        if self.room(self.indexer.set(number), kernel) { Probe::LineMiss } else { Probe::Full }
    }

    pub(super) fn may_evict_modified(&self) -> bool {
        let share = u64::from(self.modified_lines) * 100;
        share >= u64::from(self.geometry.modified_floor_percent) * self.lines.len() as u64
    }

    /// Performs the access that `probe` described.
    ///
    /// Makes the line the most recent. For a miss, reserves the sector; a new line evicts another
    /// one (`super::ways`). Returns the line's slot, and the evicted line if it had modified
    /// sectors.
    ///
    /// # Panics
    /// If `probe` is [`Probe::Full`].
    pub fn access(&mut self, sector: u64, probe: Probe, kernel: u8) -> (u32, Option<Evicted>) {
        let (number, bit) = self.split(sector);
        if let Some(awaited) = &mut self.awaited {
            awaited.accessing = kernel;
        }
        let (slot, evicted) = match probe {
            Probe::Hit(slot) | Probe::HitReserved(slot) => (slot, None),
            Probe::SectorMiss(slot) => {
                self.change(slot, |line| {
                    line.modified_on_fill = line.modified_on_fill & !bit | line.modified & bit;
                    line.readable_on_fill &= !bit;
                    line.unreadable &= !bit;
                    line.modified &= !bit;
                    line.reserved |= bit;
                });
                (slot, None)
            }
            Probe::LineMiss => {
                let slot = self.victim(self.indexer.set(number), kernel);
                let old = self.lines[slot as usize];
                let evicted = (old.modified != 0).then_some(Evicted { line: old.line, modified: old.modified });
                // A line may be in the index without a sector (write-evict), or never have been
                // used.
                if old.indexed {
                    self.index.remove(&mut self.lines, slot);
                }
                self.change(slot, |line| *line = Line { line: number, set: line.set, indexed: true, reserved: bit, ..EMPTY });
                self.index.insert(&mut self.lines, slot);
                (slot, evicted)
            }
            Probe::Full => panic!("access to a set in which every line is reserved"),
        };
        self.make_newest(slot);
        if self.owned.is_some() {
            self.tell_owners(slot, kernel, probe == Probe::LineMiss);
        }
        (slot, evicted)
    }

    /// Writes bytes of `sector` in the line at `slot`, after [`TagArray::access`] with `probe`. The
    /// sector becomes modified, and readable if all its bytes are known.
    pub fn write(&mut self, sector: u64, slot: u32, byte_mask: u32, probe: Probe) {
        let (_, bit) = self.split(sector);
        let written = &mut self.written[slot as usize][bit.trailing_zeros() as usize];
        let before = if self.lines[slot as usize].touched & bit == 0 { 0 } else { *written };
        *written = before | byte_mask;
        let all_known = *written == u32::MAX;
        self.change(slot, |line| {
            line.touched |= bit;
            line.reserved &= !bit;
            line.valid &= !bit;
            line.modified |= bit;
            if !matches!(probe, Probe::Hit(_)) {
                line.unreadable |= bit;
                if matches!(probe, Probe::HitReserved(_)) {
                    line.modified_on_fill |= bit;
                    line.readable_on_fill |= bit;
                }
            }
            if all_known {
                line.unreadable &= !bit;
            }
        });
    }

    /// Completes the fetch of `sector`. Returns the line's slot, or `None` if the line was evicted.
    #[inline(always)]
    pub fn fill(&mut self, sector: u64) -> Option<u32> {
        let (number, bit) = self.split(sector);
        let slot = self.index.find(&self.lines, number)?;
        self.change(slot, |line| {
            let came = line.reserved & bit;
            line.reserved &= !came;
            line.modified |= came & line.modified_on_fill;
            line.valid |= came & !line.modified_on_fill;
            line.unreadable &= !(bit & line.readable_on_fill);
            line.readable_on_fill &= !bit;
            line.modified_on_fill &= !bit;
        });
        Some(slot)
    }

    /// Drops `sector` if it is present and not in flight, modified or not (write-evict). In a cache
    /// without sectors the line is then empty and is evicted first.
    pub fn invalidate(&mut self, sector: u64) {
        let (number, bit) = self.split(sector);
        if let Some(slot) = self.index.find(&self.lines, number) {
            self.change(slot, |line| {
                line.valid &= !bit;
                line.modified &= !bit;
                line.unreadable &= !bit;
            });
            if self.sector_bits == 0 && self.lines[slot as usize].reserved == 0 {
                self.make_oldest(slot);
            }
        }
    }

    /// Loads `sector` at once, clean, as a copy from the host does. Evicted lines are dropped
    /// without write-back.
    pub fn preload(&mut self, sector: u64) {
        let probe = self.probe(sector, false, NO_KERNEL);
        if matches!(probe, Probe::LineMiss | Probe::SectorMiss(_)) {
            self.access(sector, probe, NO_KERNEL);
            self.fill(sector);
        }
    }

    /// Changes a line and updates the counts of the set and the array.
    #[inline(always)]
    fn change(&mut self, slot: u32, f: impl FnOnce(&mut Line)) {
        let line = &mut self.lines[slot as usize];
        let before = (line.reserved != 0, line.modified != 0);
        f(line);
        let after = (line.reserved != 0, line.modified != 0);
        if before != after {
            let set = &mut self.sets[line.set as usize];
            set.reserved = set.reserved + u32::from(after.0) - u32::from(before.0);
            set.modified = set.modified + u32::from(after.1 && !after.0) - u32::from(before.1 && !before.0);
            self.modified_lines = self.modified_lines + u32::from(after.1) - u32::from(before.1);
            if let Some(awaited) = &mut self.awaited
                && before.0 != after.0
            {
                awaited.changed(line.set, slot, after.0);
            }
        }
    }

    fn make_oldest(&mut self, slot: u32) {
        let node = self.lines.len() + self.lines[slot as usize].set as usize;
        let Recency { newer, older } = self.recency[slot as usize];
        self.recency[newer as usize].older = older;
        self.recency[older as usize].newer = newer;
        let last = self.recency[node].newer;
        self.recency[last as usize].older = slot;
        self.recency[node].newer = slot;
        self.recency[slot as usize] = Recency { newer: last, older: node as u32 };
    }

    #[inline]
    fn make_newest(&mut self, slot: u32) {
        let node = self.lines.len() + self.lines[slot as usize].set as usize;
        let Recency { newer, older } = self.recency[slot as usize];
        self.recency[newer as usize].older = older;
        self.recency[older as usize].newer = newer;
        let second = self.recency[node].older;
        self.recency[second as usize].newer = slot;
        self.recency[node].older = slot;
        self.recency[slot as usize] = Recency { newer: node as u32, older: second };
    }
}

#[cfg(test)]
#[path = "tags_plain.rs"]
mod plain;
#[cfg(test)]
#[path = "tags_tests.rs"]
mod tests;
