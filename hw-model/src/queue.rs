//! A queue with a fixed capacity, allocated once: a ring whose length is a power of two.

/// First in, first out; never grows.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    items: Box<[T]>,
    head: u32,
    len: u32,
    capacity: u32,
}

impl<T: Copy + Default> Queue<T> {
    pub(crate) fn new(capacity: u32) -> Self {
        Queue { items: vec![T::default(); capacity.next_power_of_two() as usize].into(), head: 0, len: 0, capacity }
    }

    /// Where the `n`-th item from the front is, or would be.
    #[inline]
    fn place(&self, n: u32) -> usize {
        self.head.wrapping_add(n) as usize & (self.items.len() - 1)
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
        let at = self.place(self.len);
        self.items[at] = item;
        self.len += 1;
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.items.get(self.place(0)) }
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
