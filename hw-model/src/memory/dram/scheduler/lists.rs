//! Requests that wait at a channel: one list per bank in order of arrival, linked through a pool of
//! fixed size.

use super::super::DramRequest;
use crate::memory::KERNEL_SLOTS;

const NONE: u32 = u32::MAX;

/// Slot of a request's kernel.
#[inline]
pub(super) fn slot(request: &DramRequest) -> usize {
    usize::from(request.kernel) % KERNEL_SLOTS
}

#[derive(Clone, Copy, Debug)]
struct Node {
    request: DramRequest,
    next: u32,
    /// Command cycle in which the request joined; its low 32 bits.
    since: u32,
}

/// Request in a bank's list: its index in the pool, constant while it waits, and that of the
/// previous one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    before: u32,
    slot: u32,
}

impl Place {
    /// Index in the pool.
    #[inline]
    pub(super) fn slot(self) -> usize {
        self.slot as usize
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Place) -> bool {
        self.slot == other.slot
    }
}

/// Lists of waiting requests.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    nodes: Vec<Node>,
    /// First of the linked free nodes.
    free: u32,
    heads: Vec<u32>,
    tails: Vec<u32>,
    /// Set of banks with a request.
    waiting: u64,
}

impl Lists {
    /// Creates lists for `capacity` requests to `banks` (at most 64) banks.
    pub(super) fn new(capacity: u32, banks: u32) -> Self {
        let next = |slot| if slot + 1 < capacity { slot + 1 } else { NONE };
        let unused = |slot| Node { request: DramRequest::default(), next: next(slot), since: 0 };
        Lists {
            nodes: (0..capacity).map(unused).collect(),
            free: if capacity == 0 { NONE } else { 0 },
            heads: vec![NONE; banks as usize],
            tails: vec![NONE; banks as usize],
            waiting: 0,
        }
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.free == NONE
    }

    /// Set of banks with a request.
    #[inline]
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Appends a request to the list of its bank, in command cycle `t`.
    ///
    /// # Panics
    /// If the pool is full.
    #[inline]
    pub(super) fn push(&mut self, request: DramRequest, t: u64) {
        let bank = request.bank as usize;
        let slot = self.free;
        assert!(slot != NONE, "push to a full DRAM queue");
        let node = &mut self.nodes[slot as usize];
        self.free = node.next;
        *node = Node { request, next: NONE, since: t as u32 };
        match self.tails[bank] {
            NONE => self.heads[bank] = slot,
            tail => self.nodes[tail as usize].next = slot,
        }
        self.tails[bank] = slot;
        self.waiting |= 1 << bank;
    }

    /// Requests of a bank, oldest first.
    #[inline]
    pub(super) fn of_bank(&self, bank: usize) -> impl Iterator<Item = (Place, &DramRequest)> {
        let mut place = Place { before: NONE, slot: self.heads[bank] };
        std::iter::from_fn(move || {
            let here = place;
            let node = self.nodes.get(here.slot as usize)?;
            place = Place { before: here.slot, slot: node.next };
            Some((here, &node.request))
        })
    }

    /// Oldest request of a bank.
    #[inline]
    pub(super) fn oldest(&self, bank: usize) -> Option<Place> {
        (self.heads[bank] != NONE).then_some(Place { before: NONE, slot: self.heads[bank] })
    }

    /// Oldest request of a bank to row `row`.
    #[inline]
    pub(super) fn oldest_to(&self, bank: usize, row: u32) -> Option<Place> {
        self.of_bank(bank).find(|(_, request)| request.row == row).map(|(place, _)| place)
    }

    /// All waiting requests of the channel.
    pub(super) fn all(&self) -> impl Iterator<Item = &DramRequest> {
        (0..self.heads.len()).flat_map(move |bank| self.of_bank(bank)).map(|(_, request)| request)
    }

    /// Removes a request from its bank's list, in command cycle `t`. Also returns its waiting time
    /// in cycles.
    #[inline]
    pub(super) fn remove(&mut self, bank: usize, Place { before, slot }: Place, t: u64) -> (DramRequest, u64) {
        let Node { request, next, since } = self.nodes[slot as usize];
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
        (request, (t as u32).wrapping_sub(since).into())
    }
}
