//! Replies that arrive at an SM in a quantum of cycles, each with the first cycle in which the SM
//! can take it.

use crate::memory::{Reply, SmL2};

/// Replies in order of arrival; those already taken come first.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    replies: Vec<(u64, Reply)>,
    taken: usize,
    /// L2 look-ups of the taken replies.
    l2: SmL2,
}

impl Arrivals {
    /// Creates an empty queue with memory for `capacity` replies.
    pub(super) fn new(capacity: usize) -> Self {
        Arrivals { replies: Vec::with_capacity(capacity), taken: 0, l2: SmL2::default() }
    }

    /// Removes all replies.
    pub(super) fn clear(&mut self) {
        self.replies.clear();
        (self.taken, self.l2) = (0, SmL2::default());
    }

    /// Appends a reply that can be taken from cycle `from` on.
    #[inline]
    pub(super) fn push(&mut self, from: u64, reply: Reply) {
        self.replies.push((from, reply));
    }

    /// First cycle in which the next reply can be taken; `u64::MAX` if there is none.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.replies.get(self.taken).map_or(u64::MAX, |&(from, _)| from)
    }

    /// Takes the next reply, if it can be taken in cycle `now`.
    #[inline]
    pub(super) fn take(&mut self, now: u64) -> Option<Reply> {
        let &(from, reply) = self.replies.get(self.taken)?;
        (from <= now).then(|| {
            self.taken += 1;
            self.l2.replied(reply.l2_hit);
            reply
        })
    }

    /// L2 look-ups of the taken replies.
    pub(super) fn l2_of_taken(&self) -> SmL2 {
        self.l2
    }

    /// Replies that were not taken.
    pub(super) fn left(&self) -> impl Iterator<Item = Reply> {
        self.replies[self.taken..].iter().map(|&(_, reply)| reply)
    }
}
