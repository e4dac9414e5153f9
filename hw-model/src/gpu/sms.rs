//! All SMs of the GPU, in one group, or in several that threads can run ([`Group`]).
//!
//! All groups except the last have the same number of SMs, a power of two, so that an SM is found
//! by its number. During a cycle or a quantum, a group may be with the thread that runs it.

use super::group::Group;
use super::thread_tuning::ThreadTuner;
use crate::memory::{MemorySystem, Reply};
use crate::sm::{Programs, Sm};
use std::ops::{Index, IndexMut};

/// SMs of the GPU.
#[derive(Clone, Debug)]
pub(super) struct Sms {
    /// Groups in the order of SM numbers; none where a thread has the group.
    pub(super) groups: Vec<Option<Box<Group>>>,
    /// Binary logarithm of a group's SMs.
    shift: u32,
    /// Number of threads for which the groups were made.
    threads: usize,
    pub(super) tuner: ThreadTuner,
    /// Number of groups run by other threads for a cycle or a quantum, for the tests.
    pub(super) orders: u64,
    count: usize,
    /// Maximum number of replies to an SM in a quantum of cycles.
    replies: usize,
}

impl Sms {
    /// Creates one group of sleeping SMs; each can receive `replies` replies in a quantum of
    /// cycles.
    pub(super) fn new(sms: Vec<Sm>, replies: usize) -> Self {
        let count = sms.len();
        let group = Group::new(0, sms, vec![u64::MAX; count], 0, replies);
        let shift = count.next_power_of_two().trailing_zeros();
        Sms { groups: vec![Some(Box::new(group))], shift, threads: 1, tuner: ThreadTuner::new(), orders: 0, count, replies }
    }

    /// Number of SMs.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Iterates over the SMs in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Sm> {
        self.groups().flat_map(|group| &group.sms)
    }

    /// Iterates mutably over the SMs in the order of their numbers.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Sm> {
        self.groups_mut().flat_map(|group| &mut group.sms)
    }

    /// Groups that no other thread has.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().flatten().map(|group| &**group)
    }

    /// Groups that no other thread has, mutably.
    pub(super) fn groups_mut(&mut self) -> impl Iterator<Item = &mut Group> {
        self.groups.iter_mut().flatten().map(|group| &mut **group)
    }

    /// Takes a group back.
    pub(super) fn put_back(&mut self, group: Box<Group>) {
        let number = group.start >> self.shift;
        self.groups[number] = Some(group);
    }

    /// True if there is more than one group.
    #[inline]
    pub(super) fn are_shared(&self) -> bool {
        self.groups.len() > 1
    }

    /// Divides the SMs into groups: one for one thread; for several threads at least `per_thread`
    /// each, if there are enough SMs.
    pub(super) fn share(&mut self, threads: usize, per_thread: usize) {
        if self.threads == threads {
            return;
        }
        let (count, least) = (self.count, threads * per_thread);
        self.shift = if threads == 1 { count.next_power_of_two().trailing_zeros() } else { (count / least).max(1).ilog2() };
        let (mut sms, mut wake) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for group in self.groups.drain(..).flatten() {
            let (some, theirs) = group.into_parts();
            sms.extend(some);
            wake.extend(theirs);
        }
        let (mut sms, mut wake, size) = (sms.into_iter(), wake.into_iter(), 1 << self.shift);
        let groups = (0..count).step_by(size).map(|start| {
            let home = start * threads / count;
            let group = Group::new(start, sms.by_ref().take(size).collect(), wake.by_ref().take(size).collect(), home, self.replies);
            Some(Box::new(group))
        });
        self.groups = groups.collect();
        (self.threads, self.tuner) = (threads, ThreadTuner::new());
    }

    /// Group of an SM, and its index in the group.
    ///
    /// # Panics
    /// If another thread has the group.
    #[inline]
    fn find(&self, sm: usize) -> (&Group, usize) {
        let group = self.groups[sm >> self.shift].as_ref().expect("the group is here");
        (group, sm - group.start)
    }

    /// Group of an SM, mutably, and its index in the group.
    #[inline]
    pub(super) fn find_mut(&mut self, sm: usize) -> (&mut Group, usize) {
        let group = self.groups[sm >> self.shift].as_mut().expect("the group is here");
        let place = sm - group.start;
        (group, place)
    }

    /// Wakes an SM in cycle `cycle`, the coming one, at the latest.
    pub(super) fn wake(&mut self, sm: usize, cycle: u64) {
        let (group, place) = self.find_mut(sm);
        group.wake(place, cycle);
    }

    /// Earliest cycle in which an SM runs; `u64::MAX` if only an external event can wake the SMs.
    pub(super) fn next(&self) -> u64 {
        self.groups().map(Group::next).min().unwrap_or(u64::MAX)
    }

    /// First cycle that an SM has not run, in a quantum of cycles.
    pub(super) fn reached(&self, sm: usize) -> u64 {
        let (group, place) = self.find(sm);
        group.reached[place]
    }

    /// True if an SM can take a reply.
    #[inline]
    pub(super) fn can_take_reply(&self, sm: usize) -> bool {
        let (group, place) = self.find(sm);
        if self.are_shared() { group.can_take_reply(place) } else { group.sms[place].can_take_reply() }
    }

    /// Gives an SM a reply in cycle `now`, which is the coming one; at most one each. With several
    /// groups, the reply goes to the group's inbox.
    #[inline]
    pub(super) fn reply(&mut self, sm: usize, reply: Reply, now: u64) {
        let shared = self.are_shared();
        let (group, place) = self.find_mut(sm);
        if shared {
            group.reply(place, reply);
        } else {
            group.take_reply(place, reply, now);
        }
    }

    /// Runs cycle `now` of all SMs on this thread. Returns true if TBs have ended.
    pub(super) fn run(&mut self, now: u64, programs: &Programs, memory: &mut MemorySystem, skip: bool) -> bool {
        let (mut ended, others) = (false, self.are_shared());
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
