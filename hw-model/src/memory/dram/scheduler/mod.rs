//! Which of the requests that wait at a memory channel its banks serve next. One file per order.
//!
//! The controller (`controller.rs`) hands one request per command cycle to an idle bank; which bank is the turn of banks'. It asks then,
//! after the request that has come in the last cycle has joined, which of the bank's requests that is ([`RequestQueue::take`]). An order
//! may read all requests that wait, in order of arrival by bank ([`lists`]), and the row that is in the bank's row buffer; it changes
//! nothing but what it remembers itself. Which command issues in which cycle is no business of its own: a request that was handed
//! over is served whatever comes.
//!
//! What an order costs in bits its file says; the requests themselves are there with every order.

mod fr_fcfs;
mod lists;
mod row_cap;
#[cfg(test)]
mod tests;

use super::DramRequest;
use crate::config::DramConfig;
use fr_fcfs::FrFcfs;
use lists::Lists;

/// The queue of a channel, and the order in which its requests leave.
#[derive(Clone, Debug)]
pub(super) struct RequestQueue {
    lists: Lists,
    order: FrFcfs,
}

impl RequestQueue {
    /// An empty queue.
    pub(super) fn new(config: &DramConfig) -> Self {
        RequestQueue { lists: Lists::new(config.queue, config.banks), order: FrFcfs::new(config.banks, config.row_hit_cap) }
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.lists.is_full()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.lists.waiting() == 0
    }

    /// Banks with a request, bit per bank.
    #[inline]
    pub(super) fn waiting(&self) -> u64 {
        self.lists.waiting()
    }

    /// Adds a request.
    ///
    /// # Panics
    /// If the queue is full.
    pub(super) fn push(&mut self, request: DramRequest) {
        self.lists.push(request);
    }

    /// Takes the request that `bank` serves next, given the row in its row buffer.
    pub(super) fn take(&mut self, bank: usize, row: u32) -> Option<DramRequest> {
        let place = self.order.choose(&self.lists, bank, row)?;
        Some(self.lists.remove(bank, place))
    }
}
