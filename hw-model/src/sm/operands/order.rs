//! Which sub-core's instruction is the oldest in the issue latches of a unit.

use super::MAX_SUB_CORES;

/// A queue of sub-cores, oldest first: four bits each. A sub-core is in it once at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    queue: u32,
    bits: u32,
}

impl Order {
    #[inline]
    pub(super) fn push(&mut self, sub_core: usize) {
        self.queue |= (sub_core as u32) << self.bits;
        self.bits += 4;
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// The oldest; 0 if there is none.
    #[inline]
    pub(super) fn front(self) -> usize {
        self.queue as usize & (MAX_SUB_CORES - 1)
    }

    #[inline]
    pub(super) fn pop(&mut self) {
        self.queue >>= 4;
        self.bits -= 4;
    }
}
