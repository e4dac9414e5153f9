//! Finds the slot that holds an address, in constant expected time: a hash table with one chain per bucket, the links
//! of which live in flat arrays beside the slots. It is never iterated. Our own structure.

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// A map from addresses to slot numbers below a capacity fixed at construction.
#[derive(Clone, Debug)]
pub(super) struct AddressIndex {
    heads: Vec<u32>,
    next: Vec<u32>,
    keys: Vec<u64>,
    shift: u32,
}

impl AddressIndex {
    /// An empty index over `slots` slots.
    pub(super) fn new(slots: usize) -> Self {
        let buckets = slots.next_power_of_two().max(2) * 2;
        AddressIndex { heads: vec![NONE; buckets], next: vec![NONE; slots], keys: vec![0; slots], shift: 64 - buckets.trailing_zeros() }
    }

    fn bucket(&self, key: u64) -> usize {
        // Fibonacci hashing: 2^64 divided by the golden ratio.
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// The slot that holds `key`.
    pub(super) fn find(&self, key: u64) -> Option<u32> {
        let mut slot = self.heads[self.bucket(key)];
        while slot != NONE {
            if self.keys[slot as usize] == key {
                return Some(slot);
            }
            slot = self.next[slot as usize];
        }
        None
    }

    /// Adds `key`, which must be absent, at the unused `slot`.
    pub(super) fn insert(&mut self, key: u64, slot: u32) {
        let bucket = self.bucket(key);
        self.keys[slot as usize] = key;
        self.next[slot as usize] = self.heads[bucket];
        self.heads[bucket] = slot;
    }

    /// Removes what `slot` holds; the slot must be in use.
    pub(super) fn remove(&mut self, slot: u32) {
        let bucket = self.bucket(self.keys[slot as usize]);
        let after = self.next[slot as usize];
        if self.heads[bucket] == slot {
            self.heads[bucket] = after;
            return;
        }
        let mut at = self.heads[bucket];
        while self.next[at as usize] != slot {
            at = self.next[at as usize];
        }
        self.next[at as usize] = after;
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.heads.fill(NONE);
    }
}
