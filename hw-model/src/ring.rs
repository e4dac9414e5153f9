//! A first-in first-out queue of fixed capacity that never allocates after construction.

/// The queue.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    slots: Vec<Option<T>>,
    head: usize,
    len: usize,
}

impl<T: Copy> Ring<T> {
    /// An empty queue for `capacity` elements, at least one.
    pub(crate) fn new(capacity: usize) -> Self {
        Ring { slots: vec![None; capacity.max(1)], head: 0, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len == self.slots.len()
    }

    /// Appends; the queue must not be full.
    pub(crate) fn push(&mut self, value: T) {
        debug_assert!(!self.is_full());
        let mut at = self.head + self.len;
        if at >= self.slots.len() {
            at -= self.slots.len();
        }
        self.slots[at] = Some(value);
        self.len += 1;
    }

    pub(crate) fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.slots[self.head].as_ref() }
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let value = self.slots[self.head].take();
        self.head += 1;
        if self.head == self.slots.len() {
            self.head = 0;
        }
        self.len -= 1;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn behaves_as_a_queue(capacity in 1usize..6, ops in prop::collection::vec(any::<Option<u8>>(), 0..200)) {
            let mut ring = Ring::new(capacity);
            let mut reference = VecDeque::new();
            for op in ops {
                match op {
                    Some(value) if reference.len() < capacity => {
                        ring.push(value);
                        reference.push_back(value);
                    }
                    Some(_) => prop_assert!(ring.is_full()),
                    None => prop_assert_eq!(ring.pop(), reference.pop_front()),
                }
                prop_assert_eq!(ring.front(), reference.front());
                prop_assert_eq!((ring.len(), ring.is_empty()), (reference.len(), reference.is_empty()));
            }
        }
    }
}
