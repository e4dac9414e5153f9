//! A queue with a fixed capacity, allocated once.

use std::collections::VecDeque;

/// First in, first out; never grows.
#[derive(Clone, Debug)]
pub(super) struct Queue<T> {
    items: VecDeque<T>,
    capacity: usize,
}

impl<T> Queue<T> {
    pub(super) fn new(capacity: u32) -> Self {
        Queue { items: VecDeque::with_capacity(capacity as usize), capacity: capacity as usize }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.items.len() >= self.capacity
    }

    /// Places left.
    #[inline]
    pub(super) fn room(&self) -> usize {
        self.capacity - self.items.len()
    }

    /// # Panics
    /// If the queue is full: the caller must have looked, or a packet would be lost.
    #[inline]
    pub(super) fn push(&mut self, item: T) {
        assert!(!self.is_full(), "push to a full queue");
        self.items.push_back(item);
    }

    #[inline]
    pub(super) fn front(&self) -> Option<&T> {
        self.items.front()
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }
}
