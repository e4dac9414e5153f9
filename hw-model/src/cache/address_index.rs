//! Index of the slot that holds an address, in constant expected time: a hash table with one chain
//! per bucket.
//!
//! Key and link are in the owner's slots ([`Chained`]), since the slot found is read next and a
//! look-up is limited by the host's caches. The table is never iterated. The structure is own.

/// End of a chain.
pub(super) const NONE: u32 = u32::MAX;

/// Slot that an [`AddressIndex`] finds.
pub(super) trait Chained {
    /// Address of the slot. It must not change while the slot is in the index.
    fn key(&self) -> u64;
    /// Next slot of the chain that holds the slot. Only the index changes it while the slot is in
    /// the index.
    fn next(&self) -> u32;
    /// Sets the next slot.
    fn set_next(&mut self, next: u32);
}

/// Map from addresses to slot numbers below a capacity fixed at construction. Every call gets the
/// same slots.
#[derive(Clone, Debug)]
pub(super) struct AddressIndex {
    heads: Vec<u32>,
    shift: u32,
}

impl AddressIndex {
    /// Creates an empty index over `slots` slots.
    pub(super) fn new(slots: usize) -> Self {
        let buckets = slots.next_power_of_two().max(2) * 2;
        AddressIndex { heads: vec![NONE; buckets], shift: 64 - buckets.trailing_zeros() }
    }

    #[inline]
    fn bucket(&self, key: u64) -> usize {
        // Fibonacci hashing: 2^64 divided by the golden ratio.
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// Slot that holds `key`.
    #[inline]
    pub(super) fn find<T: Chained>(&self, slots: &[T], key: u64) -> Option<u32> {
        let mut slot = self.heads[self.bucket(key)];
        while slot != NONE {
            let at = &slots[slot as usize];
            if at.key() == key {
                return Some(slot);
            }
            slot = at.next();
        }
        None
    }

    /// Adds the unused `slot`, whose key must be absent.
    #[inline]
    pub(super) fn insert<T: Chained>(&mut self, slots: &mut [T], slot: u32) {
        let at = &mut slots[slot as usize];
        let bucket = self.bucket(at.key());
        at.set_next(self.heads[bucket]);
        self.heads[bucket] = slot;
    }

    /// Removes `slot`, which must be in use.
    #[inline]
    pub(super) fn remove<T: Chained>(&mut self, slots: &mut [T], slot: u32) {
        let bucket = self.bucket(slots[slot as usize].key());
        let after = slots[slot as usize].next();
        if self.heads[bucket] == slot {
            self.heads[bucket] = after;
            return;
        }
        let mut at = self.heads[bucket];
        while slots[at as usize].next() != slot {
            at = slots[at as usize].next();
        }
        slots[at as usize].set_next(after);
    }

    /// Removes all slots.
    pub(super) fn clear(&mut self) {
        self.heads.fill(NONE);
    }
}
