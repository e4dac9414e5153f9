//! Group of SMs that one thread runs, with all data that they access during a cycle. In addition, a
//! thread needs only the programs, which do not change meanwhile.
//!
//! Before a cycle, the owner of all groups puts replies into the inbox and reports the free space
//! of the injection ports. Afterwards, the requests are in the outbox. In a quantum of cycles, each
//! reply has the first cycle in which it can be taken, and each cycle has its outbox. The group
//! caches the answers to queries between cycles, such as the awake SMs and the full reply queues.
//! So a query does not access an SM, and its state stays in the cache of the core that runs it.

use super::arrivals::Arrivals;
use crate::memory::{MemorySystem, Outbox, Outboxes, Reply};
use crate::sm::{Programs, Sm};
use std::ops::Range;

/// Group of SMs with consecutive numbers.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Number of the first SM.
    pub(super) start: usize,
    /// Thread that ran the group last and has it in its core's cache.
    pub(super) home: usize,
    pub(super) sms: Vec<Sm>,
    /// Next cycle of each SM; `u64::MAX` for an SM that only an external event can wake.
    wake: Vec<u64>,
    /// Earliest next cycle of the SMs.
    next: u64,
    /// Number of SMs that run in the next cycle, if there are other groups.
    awake: usize,
    /// True if TBs have ended or drained in the last cycle.
    ended: bool,
    /// True for each SM with a full reply queue, if other threads can run the group.
    full: Vec<bool>,
    /// Replies that SMs take in the coming cycle, by index in the group.
    inbox: Vec<(u16, Reply)>,
    /// Number of requests that each SM can send in the coming cycle.
    room: Vec<u32>,
    /// Requests of all SMs in each cycle of a quantum; the first outbox also serves a single cycle.
    pub(super) outboxes: Outboxes,
    /// Replies to each SM in a quantum, and the first cycle that the SM has not run.
    pub(super) arrivals: Vec<Arrivals>,
    pub(super) reached: Vec<u64>,
    /// True if TBs ended in the previous cycle.
    ended_on: Vec<bool>,
    /// First cycle with a stopped SM: [`Group::stands`].
    stands: Option<u64>,
}

impl Group {
    /// Creates a group of the SMs from number `start` on, with the next cycle of each. It runs best
    /// on thread `home`. Each SM can receive up to `replies` replies in a quantum.
    pub(super) fn new(start: usize, sms: Vec<Sm>, wake: Vec<u64>, home: usize, replies: usize) -> Self {
        let (count, next) = (sms.len(), wake.iter().copied().min().unwrap_or(u64::MAX));
        Group {
            start,
            home,
            full: sms.iter().map(|sm| !sm.can_take_reply()).collect(),
            sms,
            // Some of these may still sleep for a while.
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

    /// Returns the SMs, with the next cycle of each.
    pub(super) fn into_parts(self) -> (Vec<Sm>, Vec<u64>) {
        (self.sms, self.wake)
    }

    /// Earliest cycle in which one of the SMs runs; `u64::MAX` if only an external event can wake
    /// them.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Number of SMs that run in the coming cycle.
    pub(super) fn awake(&self) -> usize {
        self.awake
    }

    /// True if TBs have ended or drained in the last cycle.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// Wakes SM `place` in cycle `cycle`, the coming one, at the latest.
    pub(super) fn wake(&mut self, place: usize, cycle: u64) {
        if self.wake[place] > cycle {
            self.wake[place] = cycle;
            self.next = self.next.min(cycle);
            self.awake += 1;
        }
    }

    /// True if SM `place` can take a reply.
    #[inline]
    pub(super) fn can_take_reply(&self, place: usize) -> bool {
        !self.full[place]
    }

    /// Gives SM `place` a reply in the coming cycle; at most one each.
    #[inline]
    pub(super) fn reply(&mut self, place: usize, reply: Reply) {
        self.inbox.push((place as u16, reply));
    }

    /// Gives SM `place` a reply in cycle `now`, which is the coming one.
    #[inline]
    pub(super) fn take_reply(&mut self, place: usize, reply: Reply, now: u64) {
        self.sms[place].take_reply(reply, now);
        self.wake[place] = self.wake[place].min(now + 1);
        self.next = self.next.min(now + 1);
    }

    /// Reads the free space of the injection ports.
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

    /// True if SMs run in cycle `now` or replies are present.
    #[inline]
    pub(super) fn has_work(&self, now: u64) -> bool {
        self.next <= now || !self.inbox.is_empty()
    }

    /// Runs cycle `now` of every awake SM, or of all SMs if `skip` is false. With `others`, it also
    /// computes the answers to queries.
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

    /// Runs every SM from cycle `from` to before cycle `until`, or through the cycle in which a TB
    /// ends on it. [`Group::reached`] returns the cycle.
    pub(super) fn run_quantum(&mut self, from: u64, until: u64, programs: &Programs) {
        for place in 0..self.sms.len() {
            self.reached[place] = from;
            self.go_on(place, from, until, programs);
        }
        self.sum_up(until);
    }

    /// Continues one SM in the quantum from cycle `quantum.start` to before cycle `quantum.end`. It
    /// stops before cycle `until` or after the cycle in which a TB ends on it.
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

    /// Computes the answers to queries after a quantum that ends before cycle `until`.
    fn sum_up(&mut self, until: u64) {
        self.outboxes.note_sent();
        self.next = self.wake.iter().copied().min().unwrap_or(u64::MAX);
        self.awake = self.wake.iter().filter(|&&wake| wake <= until).count();
        self.ended = false;
        let stand = self.reached.iter().zip(&self.ended_on).filter(|&(&reached, &ended)| ended || reached < until);
        self.stands = stand.map(|(&reached, _)| reached).min();
    }

    /// First cycle that a stopped SM has not run in a quantum; none if no SM is stopped. An SM
    /// stops when a TB has ended, until it is continued.
    pub(super) fn stands(&self) -> Option<u64> {
        self.stands
    }

    /// Records that nothing ran in a cycle.
    #[inline]
    pub(super) fn rest(&mut self) {
        self.ended = false;
    }
}

/// Runs the cycles of an SM, each with an outbox, or through the one in which TBs end.
///
/// Replies come from `arrivals`, and each outbox has `room` for the requests of a cycle. Returns
/// the first cycle that has not run, and true if TBs have ended.
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
