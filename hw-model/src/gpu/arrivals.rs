//! Replies that come to an SM in a quantum of cycles, and when it can take each.

use crate::memory::{Reply, SmL2};

/// In the order in which they come; those that have been taken first.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    replies: Vec<(u64, Reply)>,
    taken: usize,
    /// Look-ups of those.
    l2: SmL2,
}

impl Arrivals {
    /// None, with memory for so many.
    pub(super) fn new(capacity: usize) -> Self {
        Arrivals { replies: Vec::with_capacity(capacity), taken: 0, l2: SmL2::default() }
    }

    /// None any more.
    pub(super) fn clear(&mut self) {
        self.replies.clear();
        (self.taken, self.l2) = (0, SmL2::default());
    }

    /// A reply comes that can be taken from cycle `from` on, behind all others.
    #[inline]
    pub(super) fn push(&mut self, from: u64, reply: Reply) {
        self.replies.push((from, reply));
    }

    /// The cycle from which the next reply can be taken; `u64::MAX` if none comes.
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

    /// L2 look-ups of those that have been taken.
    pub(super) fn l2_of_taken(&self) -> SmL2 {
        self.l2
    }

    /// Those that have not.
    pub(super) fn left(&self) -> impl Iterator<Item = Reply> {
        self.replies[self.taken..].iter().map(|&(_, reply)| reply)
    }
}
