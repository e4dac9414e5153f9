//! The FR-FCFS queue of a channel: per bank, the oldest request that hits the open row, else the oldest (sources.md
//! D69), unless the row-hit cap ([`super::row_cap`]) says that the oldest has been passed often enough. No fairness
//! between kernels, reads and writes in one queue.
//!
//! One list per bank in order of arrival, linked through a pool of fixed size.

use super::DramRequest;
use super::row_cap::RowCap;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    request: DramRequest,
    next: u32,
}

/// The queue.
#[derive(Clone, Debug)]
pub(super) struct FrFcfs {
    nodes: Vec<Node>,
    /// First of the unused nodes, which are linked.
    free: u32,
    heads: Vec<u32>,
    tails: Vec<u32>,
    /// Banks with a request, bit per bank.
    waiting: u64,
    cap: RowCap,
}

impl FrFcfs {
    /// Room for `capacity` requests to `banks` (at most 64) banks; `row_hit_cap` as in [`RowCap::new`].
    pub(super) fn new(capacity: u32, banks: u32, row_hit_cap: u32) -> Self {
        let unused = |slot| Node { request: DramRequest::default(), next: if slot + 1 < capacity { slot + 1 } else { NONE } };
        FrFcfs {
            nodes: (0..capacity).map(unused).collect(),
            free: if capacity == 0 { NONE } else { 0 },
            heads: vec![NONE; banks as usize],
            tails: vec![NONE; banks as usize],
            waiting: 0,
            cap: RowCap::new(row_hit_cap, banks),
        }
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.free == NONE
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Banks with a request, bit per bank.
    #[inline]
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Adds a request.
    ///
    /// # Panics
    /// If the queue is full.
    pub(super) fn push(&mut self, request: DramRequest) {
        let bank = request.bank as usize;
        let slot = self.free;
        assert!(slot != NONE, "push to a full DRAM queue");
        let node = &mut self.nodes[slot as usize];
        self.free = node.next;
        *node = Node { request, next: NONE };
        match self.tails[bank] {
            NONE => self.heads[bank] = slot,
            tail => self.nodes[tail as usize].next = slot,
        }
        self.tails[bank] = slot;
        self.waiting |= 1 << bank;
    }

    /// Takes the request that `bank` should serve next, given the row in its row buffer.
    pub(super) fn take(&mut self, bank: usize, row: u32) -> Option<DramRequest> {
        let (mut before, mut slot) = (NONE, self.heads[bank]);
        let may_pass = self.cap.allows(bank);
        while slot != NONE && self.nodes[slot as usize].request.row != row {
            (before, slot) = (slot, if may_pass { self.nodes[slot as usize].next } else { NONE });
        }
        if slot == NONE {
            (before, slot) = (NONE, self.heads[bank]);
            if slot == NONE {
                return None;
            }
        }
        self.cap.taken(bank, before != NONE);
        let Node { request, next } = self.nodes[slot as usize];
        match before {
            NONE => self.heads[bank] = next,
            _ => self.nodes[before as usize].next = next,
        }
        if next == NONE {
            self.tails[bank] = before;
        }
        if self.heads[bank] == NONE {
            self.waiting &= !(1 << bank);
        }
        self.nodes[slot as usize].next = self.free;
        self.free = slot;
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A request that waits, and how often a younger one of its bank was served while it was the bank's oldest.
    #[derive(Clone, Copy)]
    struct Waiting {
        request: DramRequest,
        passed: u32,
    }

    proptest! {
        /// The open row's oldest request first, else the oldest of the bank; nothing lost. With a cap, the oldest goes
        /// first once it has been passed so often.
        #[test]
        fn row_hits_go_before_older_misses(
            ops in prop::collection::vec((0u32..4, 0u32..3, any::<bool>()), 1..200),
            cap in prop_oneof![Just(0u32), 1u32..5],
        ) {
            let mut queue = FrFcfs::new(16, 4, cap);
            let mut reference: Vec<Waiting> = Vec::new();
            for (i, (bank, row, push)) in ops.into_iter().enumerate() {
                prop_assert_eq!(queue.is_full(), reference.len() == 16);
                if push && !queue.is_full() {
                    let request = DramRequest { sector: i as u64, bank, row, ..DramRequest::default() };
                    queue.push(request);
                    reference.push(Waiting { request, passed: 0 });
                } else {
                    let of_bank = |w: &Waiting| w.request.bank == bank;
                    let oldest = reference.iter().position(of_bank);
                    let hit = reference.iter().position(|w| of_bank(w) && w.request.row == row);
                    let may_pass = oldest.is_some_and(|oldest| cap == 0 || reference[oldest].passed < cap);
                    let expected = if may_pass { hit.or(oldest) } else { oldest };
                    prop_assert_eq!(queue.take(bank as usize, row), expected.map(|at| reference[at].request));
                    if let (Some(oldest), Some(taken)) = (oldest, expected) {
                        reference[oldest].passed += u32::from(taken != oldest);
                        reference.remove(taken);
                    }
                }
                let banks = reference.iter().fold(0, |m, w| m | 1 << w.request.bank);
                prop_assert_eq!(queue.waiting(), banks);
            }
        }

        /// Bounded wait: with a cap of c, a request with k older ones in its bank is served among the next (k + 1) (c + 1) of it,
        /// whatever keeps arriving.
        #[test]
        fn the_cap_bounds_the_wait(cap in 1u32..6, rows in prop::collection::vec(0u32..2, 50..300)) {
            let mut queue = FrFcfs::new(16, 1, cap);
            // Per waiting request: its number, the services so far when it came, and the requests before it.
            let mut waiting: Vec<(u64, u32, u32)> = Vec::new();
            let (mut served, mut row) = (0, 0);
            for (number, next) in rows.into_iter().enumerate() {
                if queue.is_full() {
                    let taken = queue.take(0, row).expect("full");
                    (row, served) = (taken.row, served + 1);
                    let at = waiting.iter().position(|w| w.0 == taken.sector).expect("it waited");
                    let (_, since, older) = waiting.remove(at);
                    prop_assert!(served - since <= (older + 1) * (cap + 1), "{} services, {older} older", served - since);
                }
                queue.push(DramRequest { sector: number as u64, row: next, ..DramRequest::default() });
                waiting.push((number as u64, served, waiting.len() as u32));
            }
        }
    }

    /// Without a cap a steady stream of hits keeps an older request waiting for ever; with one it goes after `cap` of them.
    #[test]
    fn a_stream_of_hits_passes_as_often_as_the_cap_says() {
        for cap in [0, 1, 4] {
            let mut queue = FrFcfs::new(8, 1, cap);
            queue.push(DramRequest { row: 7, sector: 999, ..DramRequest::default() });
            let mut hits = 0;
            for sector in 0..100 {
                queue.push(DramRequest { row: 1, sector, ..DramRequest::default() });
                if queue.take(0, 1).map(|taken| taken.sector) == Some(999) {
                    break;
                }
                hits += 1;
            }
            assert_eq!(hits, if cap == 0 { 100 } else { cap });
        }
    }
}
