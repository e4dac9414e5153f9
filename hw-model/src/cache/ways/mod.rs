//! Who owns which ways of a cache: which line leaves for a line that is not there (sources.md D124).
//!
//! The tag array asks in the cycle of the look-up, after it has found that a line is not there: can the set make room for one of this
//! kernel ([`TagArray::room`]), and, once the rest of the access is sure, which line leaves ([`TagArray::victim`]). A mechanism reads the
//! lines of the set in the order of their use, and changes nothing of them. Lines on their way cannot leave under any.
//!
//! One file per mechanism: [`shared`], which is true LRU over the set and costs no bit.

mod shared;

use super::TagArray;

impl TagArray {
    /// Whether a line of `set` can leave, for one of `kernel`.
    #[inline(always)]
    pub(super) fn room(&self, set: usize, _kernel: u8) -> bool {
        self.has_room(set)
    }

    /// The line of `set` that leaves for one of `kernel`. There must be [room](TagArray::room).
    #[inline(always)]
    pub(super) fn victim(&self, set: usize, _kernel: u8) -> u32 {
        self.least_recent(set)
    }
}
