//! Replies that come to an SM in a stretch of cycles, and when it can take each.

use crate::memory::Reply;

/// In the order in which they come; those that have been taken first.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    replies: Vec<(u64, Reply)>,
    taken: usize,
}

impl Arrivals {
    /// None, with memory for so many.
    pub(super) fn new(capacity: usize) -> Self {
        Arrivals { replies: Vec::with_capacity(capacity), taken: 0 }
    }

    /// None any more.
    pub(super) fn clear(&mut self) {
        self.replies.clear();
        self.taken = 0;
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
            reply
        })
    }

    /// Those that have been taken.
    pub(super) fn taken(&self) -> impl Iterator<Item = Reply> {
        self.replies[..self.taken].iter().map(|&(_, reply)| reply)
    }

    /// Those that have not.
    pub(super) fn left(&self) -> impl Iterator<Item = Reply> {
        self.replies[self.taken..].iter().map(|&(_, reply)| reply)
    }
}
