//! SMs that one thread runs, with all that they touch during a cycle: a thread that has a group needs nothing else but the programs, which
//! do not change meanwhile.
//!
//! Before a cycle, whoever has all groups puts replies into the inbox and says how much room the injection ports have; after it, the
//! requests are in the outbox. What is asked of the SMs in between cycles (who is awake, whose queue of replies is full) is kept here, so
//! that asking touches no SM: their state stays in the cache of the core that runs them.

use crate::memory::{MemorySystem, Outbox, Reply};
use crate::sm::{Programs, Sm};

/// Some SMs with consecutive numbers.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Number of the first SM.
    pub(super) start: usize,
    pub(super) sms: Vec<Sm>,
    /// Cycle in which each SM is to run next; `u64::MAX` for one that only others can wake.
    wake: Vec<u64>,
    /// The first of these cycles.
    next: u64,
    /// SMs that are to run in the next cycle, if there are other groups.
    awake: usize,
    /// TBs have ended or drained in the last cycle.
    ended: bool,
    /// Whether each SM's queue of replies is full, if the group can be away.
    full: Vec<bool>,
    /// Replies that SMs take in the coming cycle, by place in the group.
    inbox: Vec<(u16, Reply)>,
    /// Requests that each SM can send in the coming cycle.
    room: Vec<u32>,
    outbox: Outbox,
}

impl Group {
    /// SMs from number `start` on, with the cycle in which each is to run next.
    pub(super) fn new(start: usize, sms: Vec<Sm>, wake: Vec<u64>) -> Self {
        let (count, next) = (sms.len(), wake.iter().copied().min().unwrap_or(u64::MAX));
        Group {
            start,
            full: sms.iter().map(|sm| !sm.can_take_reply()).collect(),
            sms,
            // Some may sleep for a while still.
            awake: wake.iter().filter(|&&wake| wake != u64::MAX).count(),
            wake,
            next,
            ended: false,
            inbox: Vec::with_capacity(count),
            room: vec![0; count],
            outbox: Outbox::new(count),
        }
    }

    /// The SMs, with the cycle in which each is to run next.
    pub(super) fn into_parts(self) -> (Vec<Sm>, Vec<u64>) {
        (self.sms, self.wake)
    }

    /// The first cycle in which one of the SMs is to run; `u64::MAX` if only others can wake them.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// SMs that run in the coming cycle.
    pub(super) fn awake(&self) -> usize {
        self.awake
    }

    /// Whether TBs have ended or drained in the last cycle.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// SM `place` is to run in cycle `cycle`, the coming one, if not before.
    pub(super) fn wake(&mut self, place: usize, cycle: u64) {
        if self.wake[place] > cycle {
            self.wake[place] = cycle;
            self.next = self.next.min(cycle);
            self.awake += 1;
        }
    }

    /// Whether SM `place` can take a reply.
    #[inline]
    pub(super) fn can_take_reply(&self, place: usize) -> bool {
        !self.full[place]
    }

    /// SM `place` takes a reply in the coming cycle; at most one each.
    #[inline]
    pub(super) fn reply(&mut self, place: usize, reply: Reply) {
        self.inbox.push((place as u16, reply));
    }

    /// SM `place` takes a reply in cycle `now`, which is the coming one.
    #[inline]
    pub(super) fn take_reply(&mut self, place: usize, reply: Reply, now: u64) {
        self.sms[place].take_reply(reply, now);
        self.wake[place] = self.wake[place].min(now + 1);
        self.next = self.next.min(now + 1);
    }

    /// Looks how much room there is in the injection ports.
    #[inline]
    pub(super) fn look_for_room(&mut self, memory: &MemorySystem) {
        for (mine, room) in self.room.iter_mut().zip(memory.room(self.start)) {
            *mine = room;
        }
    }

    /// Requests of the last cycle.
    pub(super) fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// Whether SMs run in cycle `now`, or replies are there.
    #[inline]
    pub(super) fn has_work(&self, now: u64) -> bool {
        self.next <= now || !self.inbox.is_empty()
    }

    /// Runs cycle `now` of every SM that is awake, or of all if sleep is not to be skipped. Where there are `others`, it says more of
    /// itself than it has to otherwise.
    pub(super) fn run(&mut self, now: u64, programs: &Programs, skip: bool, others: bool) {
        for at in 0..self.inbox.len() {
            let (place, reply) = self.inbox[at];
            self.take_reply(place.into(), reply, now);
            self.full[usize::from(place)] = !self.sms[usize::from(place)].can_take_reply();
        }
        self.inbox.clear();
        let (mut next, mut ended) = (u64::MAX, false);
        for (place, (sm, wake)) in self.sms.iter_mut().zip(&mut self.wake).enumerate() {
            if *wake <= now || !skip {
                let (next, has_ended) = sm.run_cycle(now, programs, &mut self.outbox.port(self.room[place]));
                *wake = next.unwrap_or(u64::MAX);
                ended |= has_ended;
                if others {
                    self.full[place] = !sm.can_take_reply();
                }
            }
            next = next.min(*wake);
        }
        (self.next, self.ended) = (next, ended);
        if others {
            self.awake = self.wake.iter().filter(|&&wake| wake <= now + 1).count();
        }
    }

    /// Nothing ran in a cycle.
    #[inline]
    pub(super) fn rest(&mut self) {
        self.ended = false;
    }
}
