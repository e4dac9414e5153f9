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
    /// TBs have ended or drained in the last cycle.
    ended: bool,
    /// Whether each SM's queue of replies is full.
    full: Vec<bool>,
    /// Replies that SMs take in the coming cycle, by place in the group.
    inbox: Vec<(u16, Reply)>,
    /// Requests that each SM can send in the coming cycle.
    room: Vec<u8>,
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
            wake,
            next,
            ended: false,
            inbox: Vec::with_capacity(count),
            room: vec![0; count],
            outbox: Outbox::new(count),
        }
    }

    /// The first cycle in which one of the SMs is to run; `u64::MAX` if only others can wake them.
    pub(super) fn next(&self) -> u64 {
        self.next
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

    /// Looks how much room there is in the injection ports.
    pub(super) fn look_for_room(&mut self, memory: &MemorySystem) {
        for (sm, room) in (self.start..).zip(&mut self.room) {
            *room = memory.room(sm as u16);
        }
    }

    /// Requests of the last cycle.
    pub(super) fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// Runs cycle `now` of every SM that is awake, or of all if sleep is not to be skipped.
    pub(super) fn run(&mut self, now: u64, programs: &Programs, skip: bool) {
        for (place, reply) in self.inbox.drain(..) {
            let place = usize::from(place);
            self.sms[place].take_reply(reply, now);
            self.full[place] = !self.sms[place].can_take_reply();
            self.wake[place] = self.wake[place].min(now + 1);
        }
        let (mut next, mut ended) = (u64::MAX, false);
        let of_sms = self.wake.iter_mut().zip(&mut self.full).zip(&self.room);
        for (sm, ((wake, full), &room)) in self.sms.iter_mut().zip(of_sms) {
            if *wake <= now || !skip {
                sm.cycle(now, programs, &mut self.outbox.port(room));
                *wake = sm.next_event(now).unwrap_or(u64::MAX);
                *full = !sm.can_take_reply();
                ended |= sm.has_ended_tbs();
            }
            next = next.min(*wake);
        }
        (self.next, self.ended) = (next, ended);
    }
}
