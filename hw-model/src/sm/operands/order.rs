//! Order of the sub-cores by the age of their instructions in the issue latches of a unit.

use super::MAX_SUB_CORES;

/// Queue of sub-cores, oldest first: three bits each, above a count of the bits. Each sub-core is
/// in it at most once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order(u32);

/// Bits of a sub-core, and of the count.
const BITS: u32 = MAX_SUB_CORES.trailing_zeros();
const COUNT_BITS: u32 = 8;
const _: () = assert!(COUNT_BITS + BITS * MAX_SUB_CORES as u32 <= u32::BITS);

impl Order {
    #[inline]
    pub(super) fn push(&mut self, sub_core: usize) {
        let bits = self.0 & ((1 << COUNT_BITS) - 1);
        self.0 = (self.0 | (sub_core as u32) << (COUNT_BITS + bits)) + BITS;
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Oldest sub-core; 0 if there is none.
    #[inline]
    pub(super) fn front(self) -> usize {
        (self.0 >> COUNT_BITS) as usize & (MAX_SUB_CORES - 1)
    }

    /// Removes the oldest sub-core; there must be one.
    #[inline]
    pub(super) fn pop(&mut self) {
        let bits = self.0 & ((1 << COUNT_BITS) - 1);
        self.0 = self.0 >> (COUNT_BITS + BITS) << COUNT_BITS | (bits - BITS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// The order equals a queue of sub-cores, each at most once.
        #[test]
        fn behaves_as_a_queue(steps in prop::collection::vec(prop::option::of(0..MAX_SUB_CORES), 1..100)) {
            let (mut order, mut plain) = (Order::default(), VecDeque::new());
            for step in steps {
                match step {
                    Some(sub_core) if !plain.contains(&sub_core) => {
                        order.push(sub_core);
                        plain.push_back(sub_core);
                    }
                    None if !plain.is_empty() => {
                        order.pop();
                        plain.pop_front();
                    }
                    _ => {}
                }
                prop_assert_eq!(order.is_empty(), plain.is_empty());
                prop_assert_eq!(order.front(), plain.front().copied().unwrap_or(0));
            }
        }
    }
}
