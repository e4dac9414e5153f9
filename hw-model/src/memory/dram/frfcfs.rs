//! The FR-FCFS queue of a channel: per bank, the oldest request that hits the open row, else the oldest (algorithms.md
//! section 2.4). No starvation cap, no fairness between kernels, reads and writes in one queue.
//!
//! One list per bank in order of arrival, linked through a pool of fixed size.

use super::DramRequest;

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
    free: Vec<u32>,
    heads: Vec<u32>,
    tails: Vec<u32>,
    /// Banks with a request, bit per bank.
    waiting: u64,
}

impl FrFcfs {
    /// Room for `capacity` requests to `banks` (at most 64) banks.
    pub(super) fn new(capacity: u32, banks: u32) -> Self {
        FrFcfs {
            nodes: vec![Node { request: DramRequest::default(), next: NONE }; capacity as usize],
            free: (0..capacity).rev().collect(),
            heads: vec![NONE; banks as usize],
            tails: vec![NONE; banks as usize],
            waiting: 0,
        }
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
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
        let Some(slot) = self.free.pop() else { panic!("push to a full DRAM queue") };
        self.nodes[slot as usize] = Node { request, next: NONE };
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
        while slot != NONE && self.nodes[slot as usize].request.row != row {
            (before, slot) = (slot, self.nodes[slot as usize].next);
        }
        if slot == NONE {
            (before, slot) = (NONE, self.heads[bank]);
            if slot == NONE {
                return None;
            }
        }
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
        self.free.push(slot);
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Property 41: the open row's oldest request first, else the oldest of the bank; nothing lost.
        #[test]
        fn row_hits_go_before_older_misses(ops in prop::collection::vec((0u32..4, 0u32..3, any::<bool>()), 1..200)) {
            let mut queue = FrFcfs::new(16, 4);
            let mut reference: Vec<DramRequest> = Vec::new();
            for (i, (bank, row, push)) in ops.into_iter().enumerate() {
                prop_assert_eq!(queue.is_full(), reference.len() == 16);
                if push && !queue.is_full() {
                    let request = DramRequest { sector: i as u64, bank, row, ..DramRequest::default() };
                    queue.push(request);
                    reference.push(request);
                } else {
                    let of_bank = |r: &&DramRequest| r.bank == bank;
                    let expected = reference.iter().filter(of_bank).find(|r| r.row == row).or(reference.iter().find(of_bank)).copied();
                    prop_assert_eq!(queue.take(bank as usize, row), expected);
                    reference.retain(|r| Some(r.sector) != expected.map(|e| e.sector));
                }
                let banks = reference.iter().fold(0, |m, r| m | 1 << r.bank);
                prop_assert_eq!(queue.waiting(), banks);
            }
        }
    }
}
