//! A quantum in two halves equals single cycles: arrivals of all replies, and all counts.

use super::*;
use crate::hand_made::config;
use crate::memory::{MemoryCounters, Outboxes, Request, RequestKind};
use proptest::prelude::*;

const SMS: u16 = 30;

/// Request of an SM: cycle, SM, sector, and whether it writes.
type Sent = (u64, u16, u64, bool);

fn request(&(_, sm, sector, is_write): &Sent, tag: u32) -> Request {
    let kind = if is_write { RequestKind::Write } else { RequestKind::Read };
    Request { sector, byte_mask: u32::MAX, sm, kernel: (sm % 2) as u8, kind, tag, more_sectors: 0 }
}

/// Memory system, and the replies that SMs have taken from it.
struct Run {
    memory: MemorySystem,
    now: u64,
    taken: Vec<(u64, u16, u32, bool)>,
}

impl Run {
    fn new(config: &GpuConfig) -> Self {
        Run { memory: MemorySystem::new(config), now: 0, taken: Vec::new() }
    }

    /// True if an SM takes a reply in a cycle; in some cycles it cannot.
    fn takes(sm: u16, now: u64) -> bool {
        !(u64::from(sm) + now / 8).is_multiple_of(5)
    }

    fn inject(&mut self, sent: &[Sent]) {
        for (tag, sent) in (0..).zip(sent).filter(|(_, sent)| sent.0 == self.now) {
            self.memory.inject(request(sent, tag));
        }
    }

    fn one_by_one(&mut self, sent: &[Sent], cycles: u64) {
        for _ in 0..cycles {
            for sm in (0..SMS).filter(|&sm| Self::takes(sm, self.now)) {
                if let Some(reply) = self.memory.pop_reply(sm) {
                    self.taken.push((self.now, sm, reply.tag, reply.l2_hit));
                }
            }
            self.memory.tick();
            self.inject(sent);
            self.now += 1;
        }
    }

    /// Runs a quantum; the second half is deferred to the next one, if allowed.
    fn at_once(&mut self, sent: &[Sent], cycles: u64, put_off: bool) {
        let mut come: Vec<std::collections::VecDeque<(u64, Reply)>> = vec![Default::default(); usize::from(SMS)];
        self.memory.plan(cycles);
        // Half of the partitions run elsewhere.
        let mut lent = Lent::default();
        self.memory.lend(self.memory.partitions() / 2, &mut lent);
        lent.run();
        self.memory.run_ahead();
        self.memory.take_back(&mut lent);
        let mut deferred = self.memory.lend_deferred();
        if let Some(deferred) = &mut deferred {
            deferred.run();
        }
        self.memory.replies_cross(|sm, from, reply| come[usize::from(sm)].push_back((from, reply)));
        if let Some(deferred) = deferred {
            self.memory.has_caught_up(deferred);
        }
        let mut taken = vec![SmL2::default(); usize::from(SMS)];
        for now in self.now..self.now + cycles {
            for sm in (0..SMS).filter(|&sm| Self::takes(sm, now)) {
                let come = &mut come[usize::from(sm)];
                if let Some((_, reply)) = come.pop_front_if(|(from, _)| *from <= now) {
                    self.taken.push((now, sm, reply.tag, reply.l2_hit));
                    taken[usize::from(sm)].replied(reply.l2_hit);
                }
            }
        }
        for (sm, (taken, left)) in (0..SMS).zip(taken.into_iter().zip(come)) {
            self.memory.give_back(sm, taken, left.into_iter().map(|(_, reply)| reply));
        }
        let from = self.now;
        self.now += cycles;
        if put_off && self.memory.may_defer_requests() {
            let mut outboxes = Outboxes::new(SMS.into());
            for (tag, sent) in (0..).zip(sent).filter(|(_, sent)| (from..self.now).contains(&sent.0)) {
                outboxes.from((sent.0 - from) as usize)[0].port(MOST_PER_CYCLE as u32).inject(request(sent, tag));
            }
            outboxes.note_sent();
            self.memory.defer_requests(std::iter::once(&mut outboxes));
            return;
        }
        self.memory.catch_up(|requests, cycle| {
            for (tag, sent) in (0..).zip(sent).filter(|(_, sent)| sent.0 == from + cycle as u64) {
                requests.inject(request(sent, tag));
            }
        });
    }

    fn counters(&self) -> Vec<MemoryCounters> {
        (0..2).map(|kernel| self.memory.counters(kernel)).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A quantum in two halves equals single cycles, including slices, channels or a crossbar that
    /// back up, and different clocks.
    #[test]
    fn halves_are_the_whole(
        mut sent in prop::collection::vec((0u64..600, 0..SMS, 0u64..4_000, any::<bool>()), 1..1_500),
        narrow: bool,
        hot: bool,
        faster: bool,
        alone in prop::collection::vec(1u64..20, 1..10),
        in_a_row in 1u32..5,
        most in 10..MOST_CYCLES,
    ) {
        let mut config = config();
        if narrow {
            (config.l2.queues.to_crossbar, config.l2.queues.from_crossbar, config.l2.miss_queue) = (2, 4, 4);
        }
        if faster {
            (config.clocks.l2_khz, config.clocks.interconnect_khz) = (2 * config.clocks.core_khz, 3 * config.clocks.core_khz / 2);
        }
        if hot {
            // All requests go to few slices.
            sent.iter_mut().for_each(|sent| sent.2 %= 16);
        }
        sent.sort_unstable();
        // An SM sends at most its maximum.
        let mut in_cycle = 0;
        let mut last = (u64::MAX, 0);
        sent.retain(|&(cycle, sm, ..)| {
            in_cycle = if last == (cycle, sm) { in_cycle + 1 } else { 1 };
            last = (cycle, sm);
            in_cycle <= MOST_PER_CYCLE
        });
        let (mut whole, mut halves) = (Run::new(&config), Run::new(&config));
        let (mut quanta, mut put_off) = (0, 0);
        for &alone in alone.iter().cycle() {
            if halves.now >= 4_000 {
                break;
            }
            halves.one_by_one(&sent, alone);
            for left in (0..in_a_row).rev() {
                let cycles = halves.memory.longest_quantum().min(most);
                if cycles > 0 {
                    halves.at_once(&sent, cycles, left > 0);
                    quanta += 1;
                    put_off += u32::from(halves.memory.deferred.is_some());
                }
            }
            halves.memory.catch_up_now();
        }
        whole.one_by_one(&sent, halves.now);
        whole.taken.sort_unstable();
        halves.taken.sort_unstable();
        // With a faster L2 its delay ends too early for long quanta.
        prop_assert!(quanta > 10 && (in_a_row == 1 || faster && most > 30 || put_off > 10));
        prop_assert_eq!(&whole.taken, &halves.taken);
        prop_assert_eq!(whole.counters(), halves.counters());
        prop_assert_eq!(whole.memory.quiet_cycles(), halves.memory.quiet_cycles());
        for sm in 0..usize::from(SMS) {
            prop_assert_eq!(whole.memory.sm_l2(sm), halves.memory.sm_l2(sm));
        }
    }
}
