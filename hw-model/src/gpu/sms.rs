//! All SMs of the GPU, in one group or in several ([`Group`]).
//!
//! The first group is of the thread that has the GPU. Others may be away during a cycle, with the thread that runs them; when they are
//! back, an SM is found by its number as if there were one group.

use super::group::Group;
use super::pace::Pace;
use super::together::Balance;
use crate::memory::{MemorySystem, Reply};
use crate::sm::{Programs, Sm};
use std::ops::{Index, IndexMut};

/// The SMs.
#[derive(Clone, Debug)]
pub(super) struct Sms {
    pub(super) first: Group,
    /// None where a group is away.
    pub(super) others: Vec<Option<Box<Group>>>,
    pub(super) balance: Balance,
    pub(super) pace: Pace,
    /// Groups that other threads have run for a cycle, for the tests.
    pub(super) orders: u64,
    count: usize,
    /// Replies that can come to an SM in a stretch of cycles.
    replies: usize,
}

impl Sms {
    /// All in one group, asleep. So many `replies` can come to an SM in a stretch of cycles.
    pub(super) fn new(sms: Vec<Sm>, replies: usize) -> Self {
        let count = sms.len();
        let first = Group::new(0, sms, vec![u64::MAX; count], replies);
        Sms { first, others: Vec::new(), balance: Balance::even(count, 1), pace: Pace::new(), orders: 0, count, replies }
    }

    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// In the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Sm> {
        self.groups().flat_map(|group| &group.sms)
    }

    /// In the order of their numbers, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Sm> {
        self.groups_mut().flat_map(|group| &mut group.sms)
    }

    /// Those that are here.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Group> {
        std::iter::once(&self.first).chain(self.others.iter().flatten().map(|group| &**group))
    }

    /// Those that are here, to be changed.
    pub(super) fn groups_mut(&mut self) -> impl Iterator<Item = &mut Group> {
        std::iter::once(&mut self.first).chain(self.others.iter_mut().flatten().map(|group| &mut **group))
    }

    /// Makes groups of these sizes, which must sum up to all SMs. All groups must be here.
    pub(super) fn regroup(&mut self, sizes: impl Iterator<Item = usize>) {
        let others = self.others.drain(..).flatten().map(|group| *group);
        let (mut sms, mut wake) = (Vec::with_capacity(self.count), Vec::with_capacity(self.count));
        for group in std::iter::once(std::mem::replace(&mut self.first, Group::new(0, Vec::new(), Vec::new(), 0))).chain(others) {
            let (some, theirs) = group.into_parts();
            sms.extend(some);
            wake.extend(theirs);
        }
        let (mut sms, mut wake, mut start) = (sms.into_iter(), wake.into_iter(), 0);
        let mut groups = sizes.map(|size| {
            let group = Group::new(start, sms.by_ref().take(size).collect(), wake.by_ref().take(size).collect(), self.replies);
            start += size;
            group
        });
        if let Some(first) = groups.next() {
            self.first = first;
        }
        self.others = groups.map(|group| Some(Box::new(group))).collect();
    }

    /// The group that an SM is in, and its place there.
    #[inline]
    fn find(&self, sm: usize) -> (&Group, usize) {
        if sm < self.first.sms.len() {
            return (&self.first, sm);
        }
        let group = self.groups().take_while(|group| group.start <= sm).last().unwrap_or(&self.first);
        (group, sm - group.start)
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn find_mut(&mut self, sm: usize) -> (&mut Group, usize) {
        if sm < self.first.sms.len() {
            return (&mut self.first, sm);
        }
        let others = self.others.iter_mut().flatten().take_while(|group| group.start <= sm);
        let group = others.last().map_or(&mut self.first, |group| &mut **group);
        let place = sm - group.start;
        (group, place)
    }

    /// An SM is to run in cycle `cycle`, the coming one, if not before.
    pub(super) fn wake(&mut self, sm: usize, cycle: u64) {
        let (group, place) = self.find_mut(sm);
        group.wake(place, cycle);
    }

    /// The first cycle in which an SM is to run; `u64::MAX` if only others can wake them.
    pub(super) fn next(&self) -> u64 {
        self.groups().map(Group::next).min().unwrap_or(u64::MAX)
    }

    /// The first cycle that an SM has not run, in a stretch of cycles.
    pub(super) fn reached(&self, sm: usize) -> u64 {
        let (group, place) = self.find(sm);
        group.reached[place]
    }

    /// Whether an SM can take a reply.
    #[inline]
    pub(super) fn can_take_reply(&self, sm: usize) -> bool {
        if sm < self.first.sms.len() {
            return self.first.sms[sm].can_take_reply();
        }
        let (group, place) = self.find(sm);
        group.can_take_reply(place)
    }

    /// An SM takes a reply in cycle `now`, which is the coming one; at most one each. If it is of a group that can be away, that group takes
    /// it along.
    #[inline]
    pub(super) fn reply(&mut self, sm: usize, reply: Reply, now: u64) {
        if sm < self.first.sms.len() {
            return self.first.take_reply(sm, reply, now);
        }
        let (group, place) = self.find_mut(sm);
        group.reply(place, reply);
    }

    /// Runs cycle `now` of all, here. Returns whether TBs have ended.
    pub(super) fn run(&mut self, now: u64, programs: &Programs, memory: &mut MemorySystem, skip: bool) -> bool {
        let (mut ended, others) = (false, !self.others.is_empty());
        for group in self.groups_mut() {
            if skip && !group.has_work(now) {
                group.rest();
                continue;
            }
            group.look_for_room(memory);
            group.run(now, programs, skip, others);
            memory.inject_all(group.outbox());
            ended |= group.ended();
        }
        ended
    }
}

impl Index<usize> for Sms {
    type Output = Sm;

    #[inline]
    fn index(&self, sm: usize) -> &Sm {
        let (group, place) = self.find(sm);
        &group.sms[place]
    }
}

impl IndexMut<usize> for Sms {
    #[inline]
    fn index_mut(&mut self, sm: usize) -> &mut Sm {
        let (group, place) = self.find_mut(sm);
        &mut group.sms[place]
    }
}
