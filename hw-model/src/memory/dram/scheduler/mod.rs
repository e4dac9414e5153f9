//! Which of the requests that wait at a memory channel its banks serve next. One file per order.
//!
//! The controller (`controller/`) hands one request per command cycle to an idle bank; which bank is the turn of banks'. It asks then,
//! after the request that has come in the last cycle has joined, which of the bank's requests that is ([`RequestQueue::take`]). An order
//! may read all requests that wait, in order of arrival by bank ([`lists`]), and the row that is in the bank's row buffer; it is told of
//! each that joins, and changes nothing but what it remembers itself. Which command issues in which cycle is no business of its own: a
//! request that was handed over is served whatever comes.
//!
//! Another order may be set between two cycles ([`RequestQueue::set`]); it finds what waits as it is, and has no past.
//!
//! What an order costs in bits its file says, and [`bits`] counts; the requests themselves, with the slot of their kernel, are there with
//! every order. None costs energy of its own (assumption): what it changes of rows that are opened and closed is counted where that is.

mod batch;
mod bits;
mod fcfs;
mod fr_fcfs;
mod kernel_cap;
mod lists;
#[cfg(test)]
mod plain;
mod row_cap;
mod settings;
mod shares;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wait_tests;

pub use bits::scheduler_bits;
pub use settings::DramSettings;

use super::DramRequest;
use crate::config::{DramConfig, DramOrder};
use batch::Batch;
use fr_fcfs::FrFcfs;
use kernel_cap::KernelCap;
use lists::Lists;
use shares::Shares;

/// The queue of a channel, and the order in which its requests leave.
#[derive(Clone, Debug)]
pub(super) struct RequestQueue {
    lists: Lists,
    order: Order,
}

/// An order with what it remembers.
#[derive(Clone, Debug)]
enum Order {
    FrFcfs(FrFcfs),
    Fcfs,
    KernelCap(KernelCap),
    Batch(Batch),
    Shares(Box<Shares>),
}

impl RequestQueue {
    /// An empty queue, in the order that a machine begins with.
    pub(super) fn new(config: &DramConfig) -> Self {
        let mut queue = RequestQueue { lists: Lists::new(config.queue, config.banks), order: Order::Fcfs };
        queue.order = queue.begun(&DramSettings::of(config.scheduler.as_ref()), config);
        queue
    }

    /// An order without a past.
    fn begun(&self, settings: &DramSettings, config: &DramConfig) -> Order {
        match settings.by {
            DramOrder::FrFcfs => Order::FrFcfs(FrFcfs::new(config.banks, config.row_hit_cap)),
            DramOrder::Fcfs => Order::Fcfs,
            DramOrder::KernelCap => Order::KernelCap(KernelCap::new(settings.cap(), config.banks)),
            DramOrder::Batch => Order::Batch(Batch::new(settings.cap(), config.queue)),
            DramOrder::Shares => Order::Shares(Box::new(Shares::new(settings, &self.lists))),
        }
    }

    /// Another order from now on, or the same with other numbers, which keeps its past. `config` is that of [`RequestQueue::new`].
    pub(super) fn set(&mut self, settings: &DramSettings, config: &DramConfig) {
        match (&mut self.order, settings.by) {
            (Order::FrFcfs(_), DramOrder::FrFcfs) | (Order::Fcfs, DramOrder::Fcfs) => {}
            (Order::KernelCap(order), DramOrder::KernelCap) => order.set_cap(settings.cap()),
            (Order::Batch(order), DramOrder::Batch) => order.set_cap(settings.cap()),
            (Order::Shares(order), DramOrder::Shares) => order.set(settings),
            _ => self.order = self.begun(settings, config),
        }
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

    /// Adds a request in command cycle `t`.
    ///
    /// # Panics
    /// If the queue is full.
    pub(super) fn push(&mut self, request: DramRequest, t: u64) {
        self.lists.push(request, t);
        if let Order::Shares(order) = &mut self.order {
            order.came(&request);
        }
    }

    /// Takes the request that `bank` serves next in command cycle `t`, given the row in its row buffer. Also returns the cycles that it has
    /// waited.
    pub(super) fn take(&mut self, bank: usize, row: u32, t: u64) -> Option<(DramRequest, u64)> {
        let lists = &self.lists;
        let place = match &mut self.order {
            Order::FrFcfs(order) => order.choose(lists, bank, row),
            Order::Fcfs => fcfs::choose(lists, bank),
            Order::KernelCap(order) => order.choose(lists, bank, row),
            Order::Batch(order) => order.choose(lists, bank, row),
            Order::Shares(order) => order.choose(lists, bank, row),
        }?;
        Some(self.lists.remove(bank, place, t))
    }
}
