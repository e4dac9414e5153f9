//! Queue with a fixed capacity, allocated once: a ring whose length is a power of two. Also a pair
//! of such queues in series.

/// First-in, first-out queue that never grows.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    items: Box<[T]>,
    head: u32,
    len: u32,
    capacity: u32,
    /// Ring length minus one.
    mask: u32,
}

impl<T: Copy + Default> Queue<T> {
    pub(crate) fn new(capacity: u32) -> Self {
        let places = capacity.next_power_of_two();
        Queue { items: vec![T::default(); places as usize].into(), head: 0, len: 0, capacity, mask: places - 1 }
    }

    /// Ring index of the `n`-th item from the front, present or not.
    #[inline]
    fn place(&self, n: u32) -> usize {
        (self.head.wrapping_add(n) & self.mask) as usize
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len >= self.capacity
    }

    /// Number of items.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Number of free entries.
    #[inline]
    pub(crate) fn room(&self) -> u32 {
        self.capacity - self.len
    }

    /// Appends an item.
    ///
    /// # Panics
    /// If the queue is full. The caller must check, since a packet would be lost.
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

/// Two queues in series, the first of which passes its oldest item to the second. They share one
/// ring, so a pass only changes a count.
#[derive(Clone, Debug)]
pub(crate) struct QueuePair<T> {
    items: Queue<T>,
    /// Number of items in the second queue; they are the oldest.
    second: u32,
    first_capacity: u32,
    second_capacity: u32,
}

impl<T: Copy + Default> QueuePair<T> {
    pub(crate) fn new(first_capacity: u32, second_capacity: u32) -> Self {
        QueuePair { items: Queue::new(first_capacity + second_capacity), second: 0, first_capacity, second_capacity }
    }

    /// True if both queues are empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Number of items in the first queue.
    #[inline]
    fn first_len(&self) -> u32 {
        self.items.len() - self.second
    }

    /// Number of free entries in the first queue.
    #[inline]
    pub(crate) fn first_room(&self) -> u32 {
        self.first_capacity - self.first_len()
    }

    /// Appends an item to the first queue.
    ///
    /// # Panics
    /// If the first queue is full. The caller must check.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        assert!(self.first_len() < self.first_capacity, "push to a full queue");
        self.items.push(item);
    }

    /// Oldest item of the first queue, which [`QueuePair::pass_if`] would pass on.
    #[inline]
    pub(crate) fn first_front(&self) -> Option<&T> {
        if self.first_len() == 0 { None } else { self.items.items.get(self.items.place(self.second)) }
    }

    /// Passes the first queue's oldest item to the second queue. Returns true if it did.
    ///
    /// Requires an item in the first queue, a free entry in the second, and `may` to return true.
    /// To avoid branches, `may` is always called, possibly with a stale item.
    #[inline]
    pub(crate) fn pass_if(&mut self, may: impl Fn(&T) -> bool) -> bool {
        let may = may(&self.items.items[self.items.place(self.second)]);
        let passes = may & (self.first_len() > 0) & (self.second_room() > 0);
        self.second += u32::from(passes);
        passes
    }

    /// True if the second queue is empty.
    #[inline]
    pub(crate) fn second_is_empty(&self) -> bool {
        self.second == 0
    }

    /// Number of free entries in the second queue.
    #[inline]
    pub(crate) fn second_room(&self) -> u32 {
        self.second_capacity - self.second
    }

    /// Capacity of the second queue.
    #[inline]
    pub(crate) fn second_capacity(&self) -> u32 {
        self.second_capacity
    }

    /// Oldest item of the second queue.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.second == 0 { None } else { self.items.front() }
    }

    /// Removes the second queue's oldest item.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.second == 0 {
            return None;
        }
        self.second -= 1;
        self.items.pop()
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

        #[test]
        fn a_pair_behaves_as_two_queues(first in 1u32..10, second in 1u32..10, ops in prop::collection::vec(0u8..4, 1..300)) {
            let mut pair = QueuePair::new(first, second);
            let (mut one, mut two) = (Queue::new(first), Queue::new(second));
            for (i, op) in ops.into_iter().enumerate() {
                match op {
                    0 if !one.is_full() => {
                        pair.push(i);
                        one.push(i);
                    }
                    1 => {
                        // The argument of `may` is the first queue's oldest item.
                        let passes = !two.is_full() && !one.is_empty();
                        prop_assert_eq!(pair.pass_if(|item| one.front() == Some(item)), passes);
                        if passes && let Some(item) = one.pop() {
                            two.push(item);
                        }
                    }
                    2 => prop_assert_eq!(pair.pop(), two.pop()),
                    3 => prop_assert!(!pair.pass_if(|_| false)),
                    _ => {}
                }
                prop_assert_eq!(pair.first_front(), one.front());
                prop_assert_eq!(pair.front(), two.front());
                prop_assert_eq!((pair.first_room(), pair.second_room()), (one.room(), two.room()));
                prop_assert_eq!(pair.second_is_empty(), two.is_empty());
                prop_assert_eq!(pair.is_empty(), one.is_empty() && two.is_empty());
            }
        }
    }
}
