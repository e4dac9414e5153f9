//! A queue with a fixed capacity, allocated once: a ring whose length is a power of two.

/// First in, first out; never grows.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    /// Filled from the front on first use, so that memory that is never needed is never touched.
    items: Vec<T>,
    mask: u32,
    head: u32,
    len: u32,
    capacity: u32,
}

impl<T: Copy> Queue<T> {
    pub(crate) fn new(capacity: u32) -> Self {
        let ring = capacity.next_power_of_two();
        Queue { items: Vec::with_capacity(ring as usize), mask: ring - 1, head: 0, len: 0, capacity }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len >= self.capacity
    }

    /// Items held.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Places in all.
    #[inline]
    pub(crate) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Places left.
    #[inline]
    pub(crate) fn room(&self) -> u32 {
        self.capacity - self.len
    }

    /// # Panics
    /// If the queue is full: the caller must have looked, or a packet would be lost.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        assert!(self.len < self.capacity, "push to a full queue");
        let at = (self.head.wrapping_add(self.len) & self.mask) as usize;
        match self.items.get_mut(at) {
            Some(place) => *place = item,
            None => self.items.push(item),
        }
        self.len += 1;
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        // One test for both: past the end if empty.
        let at = if self.len == 0 { usize::MAX } else { (self.head & self.mask) as usize };
        self.items.get(at)
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.len -= 1;
        // An empty queue starts over, so that a short one stays in a few lines of the host's cache.
        self.head = if self.len == 0 { 0 } else { self.head.wrapping_add(1) };
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn behaves_as_a_bounded_deque(capacity in 1u32..20, ops in prop::collection::vec(any::<bool>(), 1..200)) {
            let mut queue = Queue::new(capacity);
            let mut reference = VecDeque::new();
            for (i, push) in ops.into_iter().enumerate() {
                if push && !queue.is_full() {
                    queue.push(i);
                    reference.push_back(i);
                } else if !push {
                    prop_assert_eq!(queue.pop(), reference.pop_front());
                }
                prop_assert_eq!(queue.front(), reference.front());
                prop_assert_eq!(queue.len() as usize, reference.len());
                prop_assert_eq!(queue.is_full(), reference.len() == capacity as usize);
                prop_assert_eq!(queue.room() as usize, capacity as usize - reference.len());
            }
        }
    }
}
