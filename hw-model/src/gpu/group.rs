//! SMs that one thread runs, with all that they touch during a cycle: a thread that has a group needs nothing else but the programs, which
//! do not change meanwhile.
//!
//! Before a cycle, whoever has all groups puts replies into the inbox and says how much room the injection ports have; after it, the
//! requests are in the outbox. In a quantum of cycles replies come with the cycle from which each can be taken, and each cycle has its outbox.
//! What is asked of the SMs in between cycles (who is awake, whose queue of replies is full) is kept here, so
//! that asking touches no SM: their state stays in the cache of the core that runs them.

use super::arrivals::Arrivals;
use crate::memory::{MemorySystem, Outbox, Outboxes, Reply};
use crate::sm::{Programs, Sm};
use std::ops::Range;

/// Some SMs with consecutive numbers.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Number of the first SM.
    pub(super) start: usize,
    /// The thread that ran it last: its core's cache has it.
    pub(super) home: usize,
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
    /// What all send in each cycle of a quantum; the first also serves a cycle by itself.
    pub(super) outboxes: Outboxes,
    /// Of a quantum: what comes to each SM, and the first cycle that it has not run.
    pub(super) arrivals: Vec<Arrivals>,
    pub(super) reached: Vec<u64>,
    /// Whether TBs ended in the cycle before.
    ended_on: Vec<bool>,
    /// [`Group::stands`].
    stands: Option<u64>,
}

impl Group {
    /// SMs from number `start` on, with the cycle in which each is to run next, best run by thread `home`, and memory for `replies` that come to
    /// one in a quantum.
    pub(super) fn new(start: usize, sms: Vec<Sm>, wake: Vec<u64>, home: usize, replies: usize) -> Self {
        let (count, next) = (sms.len(), wake.iter().copied().min().unwrap_or(u64::MAX));
        Group {
            start,
            home,
            full: sms.iter().map(|sm| !sm.can_take_reply()).collect(),
            sms,
            // Some may sleep for a while still.
            awake: wake.iter().filter(|&&wake| wake != u64::MAX).count(),
            wake,
            next,
            ended: false,
            inbox: Vec::with_capacity(count),
            room: vec![0; count],
            arrivals: (0..count).map(|_| Arrivals::new(replies)).collect(),
            reached: vec![0; count],
            ended_on: vec![false; count],
            stands: None,
            outboxes: Outboxes::new(count),
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
        &mut self.outboxes.from(0)[0]
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
        for place in 0..self.sms.len() {
            if self.wake[place] <= now || !skip {
                self.wake[place] = now;
                let outbox = &mut self.outboxes.from(0)[..1];
                let (sm, wake, arrivals) = (&mut self.sms[place], &mut self.wake[place], &mut self.arrivals[place]);
                ended |= run_sm(sm, wake, now..now + 1, arrivals, self.room[place], outbox, programs).1;
                if others {
                    self.full[place] = !self.sms[place].can_take_reply();
                }
            }
            next = next.min(self.wake[place]);
        }
        (self.next, self.ended) = (next, ended);
        if others {
            self.awake = self.wake.iter().filter(|&&wake| wake <= now + 1).count();
        }
    }

    /// Runs every SM from cycle `from` to before cycle `until`, or up to and with the cycle in which a TB ends on it: [`Group::reached`] says
    /// which.
    pub(super) fn run_quantum(&mut self, from: u64, until: u64, programs: &Programs) {
        for place in 0..self.sms.len() {
            self.reached[place] = from;
            self.go_on(place, from, until, programs);
        }
        self.sum_up(until);
    }

    /// One SM goes on in the quantum from cycle `quantum.start` to before cycle `quantum.end`, to before cycle `until` or up to and with the cycle
    /// in which a TB ends on it.
    pub(super) fn run_sm(&mut self, place: usize, quantum: Range<u64>, until: u64, programs: &Programs) {
        self.go_on(place, quantum.start, until, programs);
        self.sum_up(quantum.end);
    }

    fn go_on(&mut self, place: usize, from: u64, until: u64, programs: &Programs) {
        let (sm, wake, arrivals) = (&mut self.sms[place], &mut self.wake[place], &mut self.arrivals[place]);
        let now = self.reached[place];
        let outboxes = self.outboxes.from((now - from) as usize);
        (self.reached[place], self.ended_on[place]) = run_sm(sm, wake, now..until, arrivals, self.room[place], outboxes, programs);
        self.full[place] = !self.sms[place].can_take_reply();
    }

    /// What others ask of the SMs after a quantum to before cycle `until`, so that nobody has to look at each.
    fn sum_up(&mut self, until: u64) {
        self.outboxes.note_sent();
        self.next = self.wake.iter().copied().min().unwrap_or(u64::MAX);
        self.awake = self.wake.iter().filter(|&&wake| wake <= until).count();
        self.ended = false;
        let stand = self.reached.iter().zip(&self.ended_on).filter(|&(&reached, &ended)| ended || reached < until);
        self.stands = stand.map(|(&reached, _)| reached).min();
    }

    /// The first cycle that an SM has not run that stands still in a quantum, if any does: a TB has ended there, or it has not gone on since.
    pub(super) fn stands(&self) -> Option<u64> {
        self.stands
    }

    /// Nothing ran in a cycle.
    #[inline]
    pub(super) fn rest(&mut self) {
        self.ended = false;
    }
}

/// Runs the cycles of an SM, each with an outbox, or up to and with the one in which TBs end. Replies come as `arrivals` has them, and each outbox
/// has `room` for what a cycle may send. Returns the first cycle that has not run, and whether TBs have ended.
#[inline(never)]
fn run_sm(
    sm: &mut Sm,
    wake: &mut u64,
    cycles: Range<u64>,
    arrivals: &mut Arrivals,
    room: u32,
    outboxes: &mut [Outbox],
    programs: &Programs,
) -> (u64, bool) {
    let mut now = cycles.start;
    while now < cycles.end {
        if arrivals.next() <= now
            && sm.can_take_reply()
            && let Some(reply) = arrivals.take(now)
        {
            sm.take_reply(reply, now);
            *wake = (*wake).min(now + 1);
        }
        if *wake <= now {
            let outbox = &mut outboxes[(now - cycles.start) as usize];
            let (next, ended) = sm.run_cycle(now, programs, &mut outbox.port(room));
            *wake = next.unwrap_or(u64::MAX);
            now += 1;
            if ended {
                return (now, true);
            }
        } else {
            let reply = if sm.can_take_reply() { arrivals.next() } else { u64::MAX };
            now = (*wake).min(reply.max(now + 1)).min(cycles.end);
        }
    }
    (now, false)
}
