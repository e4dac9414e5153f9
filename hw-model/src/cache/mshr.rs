//! Miss status holding registers (MSHRs): sectors in flight, and the requests that wait for each.
//!
//! There are at most `entries` sectors, and at most `merges` waiting requests per sector
//! (sources.md D63). When a sector arrives, its entry becomes ready. Its requests then leave one by
//! one, oldest first; entries leave in order of arrival. An entry is free again when its last
//! request has left, as in GPGPU-Sim.

use super::address_index::{AddressIndex, Chained};

/// Result of a request for a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MshrRoom {
    /// The sector is in flight and its entry has space: the request merges.
    Merge,
    /// The sector is in flight, but its entry is full: reservation fail.
    MergesFull,
    /// The sector is not in flight and an entry is free: the request must be sent to the next
    /// level.
    New,
    /// The sector is not in flight and no entry is free: reservation fail.
    EntriesFull,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry<T> {
    sector: u64,
    /// First request; most entries have no other.
    first: T,
    /// Requests added and requests that have left, both counted from the entry's start.
    added: u32,
    left: u32,
    /// Link of the index.
    next: u32,
    ready: bool,
    /// Owner of the entry, where owners are needed.
    owner: u8,
}

impl<T> Chained for Entry<T> {
    fn key(&self) -> u64 {
        self.sector
    }

    fn next(&self) -> u32 {
        self.next
    }

    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// Table of MSHRs. `T` is the waiting request, as its owner represents it.
#[derive(Clone, Debug)]
pub struct Mshr<T> {
    entries: Vec<Entry<T>>,
    /// Requests after the first: one ring of `2^ring_bits` positions per entry.
    waiting: Vec<T>,
    ring_bits: u32,
    merges: u32,
    index: AddressIndex,
    free: Vec<u32>,
    /// Ring of ready entries in order of arrival.
    ready: Vec<u32>,
    ready_head: usize,
    ready_len: usize,
}

impl<T: Copy + Default> Mshr<T> {
    /// Creates a table of `entries` sectors (at least 1) by `merges` requests (at least 1).
    pub fn new(entries: u32, merges: u32) -> Self {
        let n = entries as usize;
        Mshr {
            entries: vec![Entry::default(); n],
            waiting: vec![T::default(); n * merges.next_power_of_two() as usize],
            ring_bits: merges.next_power_of_two().trailing_zeros(),
            merges,
            index: AddressIndex::new(n),
            free: (0..entries).rev().collect(),
            ready: vec![0; n],
            ready_head: 0,
            ready_len: 0,
        }
    }

    #[inline]
    fn place(&self, slot: u32, request: u32) -> usize {
        (slot << self.ring_bits | request & ((1 << self.ring_bits) - 1)) as usize
    }

    /// Number of sectors that are in flight or still have waiting requests.
    pub fn len(&self) -> u32 {
        (self.entries.len() - self.free.len()) as u32
    }

    /// True if no sector has an entry.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.entries.len()
    }

    /// True if `sector` has an entry.
    pub fn contains(&self, sector: u64) -> bool {
        self.index.find(&self.entries, sector).is_some()
    }

    /// Result of a request for `sector`, without adding it.
    pub fn room(&self, sector: u64) -> MshrRoom {
        match self.index.find(&self.entries, sector) {
            Some(entry) => {
                let entry = &self.entries[entry as usize];
                if entry.added - entry.left < self.merges { MshrRoom::Merge } else { MshrRoom::MergesFull }
            }
            None if self.free.is_empty() => MshrRoom::EntriesFull,
            None => MshrRoom::New,
        }
    }

    /// Adds a request. Returns the result of [`Mshr::room`]; nothing is added if it is one of the
    /// two failures.
    #[inline(always)]
    pub fn add(&mut self, sector: u64, request: T) -> MshrRoom {
        let (slot, room) = match self.index.find(&self.entries, sector) {
            Some(slot) => (slot, MshrRoom::Merge),
            None => match self.free.pop() {
                Some(slot) => {
                    self.entries[slot as usize] = Entry { sector, first: request, ..Entry::default() };
                    self.index.insert(&mut self.entries, slot);
                    (slot, MshrRoom::New)
                }
                None => return MshrRoom::EntriesFull,
            },
        };
        let Entry { added, left, .. } = self.entries[slot as usize];
        if added - left >= self.merges {
            return MshrRoom::MergesFull;
        }
        if added > 0 {
            let place = self.place(slot, added);
            self.waiting[place] = request;
        }
        self.entries[slot as usize].added += 1;
        room
    }

    /// Marks a sector as arrived, so that its requests may leave. Returns them, oldest first, or
    /// `None` if it has no entry.
    pub fn fill(&mut self, sector: u64) -> Option<impl Iterator<Item = &T>> {
        let slot = self.index.find(&self.entries, sector)?;
        if self.entries[slot as usize].ready {
            return None;
        }
        self.entries[slot as usize].ready = true;
        let tail = self.ready_head + self.ready_len;
        let tail = if tail >= self.ready.len() { tail - self.ready.len() } else { tail };
        self.ready[tail] = slot;
        self.ready_len += 1;
        Some(self.requests(slot))
    }

    /// Requests of an entry, oldest first.
    fn requests(&self, slot: u32) -> impl Iterator<Item = &T> {
        let entry = &self.entries[slot as usize];
        (entry.left..entry.added).map(move |i| self.request(slot, i))
    }

    /// Request `n` of an entry.
    #[inline]
    fn request(&self, slot: u32, n: u32) -> &T {
        if n == 0 { &self.entries[slot as usize].first } else { &self.waiting[self.place(slot, n)] }
    }

    /// Sets the owner of the entry of `sector`.
    pub fn own(&mut self, sector: u64, owner: u8) {
        if let Some(slot) = self.index.find(&self.entries, sector) {
            self.entries[slot as usize].owner = owner;
        }
    }

    /// Owner of the entry that the next leaving request frees; none if it frees none.
    pub fn owner_leaving(&self) -> Option<u8> {
        let slot = *self.ready.get(self.ready_head).filter(|_| self.ready_len > 0)?;
        let entry = &self.entries[slot as usize];
        (entry.left + 1 == entry.added).then_some(entry.owner)
    }

    /// True if `sector` has arrived and its entry still has waiting requests. A request that merges
    /// now finds its data in the cache and receives no arrival.
    pub fn has_arrived(&self, sector: u64) -> bool {
        self.index.find(&self.entries, sector).is_some_and(|slot| self.entries[slot as usize].ready)
    }

    /// True if a request may leave.
    pub fn has_ready(&self) -> bool {
        self.ready_len > 0
    }

    /// Next request that may leave, and its sector.
    pub fn peek_ready(&self) -> Option<(u64, T)> {
        if self.ready_len == 0 {
            return None;
        }
        let slot = self.ready[self.ready_head];
        let entry = &self.entries[slot as usize];
        Some((entry.sector, *self.request(slot, entry.left)))
    }

    /// Removes the next request that may leave.
    pub fn pop_ready(&mut self) -> Option<(u64, T)> {
        let next = self.peek_ready()?;
        let slot = self.ready[self.ready_head];
        let entry = &mut self.entries[slot as usize];
        entry.left += 1;
        if entry.left == entry.added {
            self.index.remove(&mut self.entries, slot);
            self.free.push(slot);
            self.ready_head = if self.ready_head + 1 == self.ready.len() { 0 } else { self.ready_head + 1 };
            self.ready_len -= 1;
        }
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, VecDeque};

    /// Reference table: an ordered map from sector to its queue.
    #[derive(Default)]
    struct Reference {
        table: BTreeMap<u64, VecDeque<u32>>,
        ready: VecDeque<u64>,
    }

    #[derive(Clone, Copy, Debug)]
    enum Op {
        Add(u64),
        Fill(u64),
        Pop,
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![4 => (0u64..12).prop_map(Op::Add), 2 => (0u64..12).prop_map(Op::Fill), 3 => Just(Op::Pop)]
    }

    proptest! {
        /// The table never exceeds its capacity, failures change nothing, and requests leave in
        /// order, exactly once (sources.md D107).
        #[test]
        fn behaves_as_a_map_of_queues(entries in 1u32..6, merges in 1u32..5, ops in prop::collection::vec(op(), 1..300)) {
            let mut mshr = Mshr::new(entries, merges);
            let mut reference = Reference::default();
            for (i, op) in ops.into_iter().enumerate() {
                match op {
                    Op::Add(sector) => {
                        let expected = match reference.table.get(&sector) {
                            Some(queue) if queue.len() < merges as usize => MshrRoom::Merge,
                            Some(_) => MshrRoom::MergesFull,
                            None if reference.table.len() < entries as usize => MshrRoom::New,
                            None => MshrRoom::EntriesFull,
                        };
                        prop_assert_eq!(mshr.room(sector), expected);
                        prop_assert_eq!(mshr.add(sector, i as u32), expected);
                        if matches!(expected, MshrRoom::Merge | MshrRoom::New) {
                            reference.table.entry(sector).or_default().push_back(i as u32);
                        }
                    }
                    Op::Fill(sector) => {
                        let awaited = reference.table.contains_key(&sector) && !reference.ready.contains(&sector);
                        prop_assert_eq!(mshr.fill(sector).is_some(), awaited);
                        if awaited {
                            reference.ready.push_back(sector);
                        }
                    }
                    Op::Pop => {
                        let expected = reference.ready.front().copied().map(|sector| {
                            let queue = reference.table.get_mut(&sector).expect("ready entries are in the table");
                            let first = queue.pop_front().expect("entries are never empty");
                            if queue.is_empty() {
                                reference.table.remove(&sector);
                                reference.ready.pop_front();
                            }
                            (sector, first)
                        });
                        prop_assert_eq!(mshr.pop_ready(), expected);
                    }
                }
                prop_assert_eq!(mshr.len() as usize, reference.table.len());
                prop_assert_eq!(mshr.has_ready(), !reference.ready.is_empty());
                for (&sector, queue) in &reference.table {
                    let slot = mshr.index.find(&mshr.entries, sector);
                    prop_assert!(slot.is_some_and(|slot| mshr.requests(slot).eq(queue.iter())));
                }
            }
        }
    }
}
