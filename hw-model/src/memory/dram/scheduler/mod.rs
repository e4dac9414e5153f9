//! Selection of the next request of each bank of a memory channel. One file per order.
//!
//! The controller (`controller/`) assigns one request per command cycle to an idle bank, round
//! robin among the banks. After the request of the last cycle has joined, it calls
//! [`RequestQueue::take`] for the bank's next request. An order may read all waiting requests, in
//! order of arrival by bank ([`lists`]), and the row in the bank's row buffer. It is notified of
//! each new request, and changes only its own state. It does not affect the issue of commands: an
//! assigned request is always served.
//!
//! Another order may be set between two cycles ([`RequestQueue::set`]). It starts without history,
//! with the waiting requests.
//!
//! The file of each order states its cost in bits, and [`bits`] computes it. The requests with
//! their kernel slots exist with every order. No order costs energy of its own (assumption); its
//! effect on row openings is counted with these.

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

/// Queue of a channel, with its order.
#[derive(Clone, Debug)]
pub(super) struct RequestQueue {
    lists: Lists,
    order: Order,
}

/// Order of requests with its state.
#[derive(Clone, Debug)]
enum Order {
    FrFcfs(FrFcfs),
    Fcfs,
    KernelCap(KernelCap),
    Batch(Batch),
    Shares(Box<Shares>),
}

impl RequestQueue {
    /// Creates an empty queue, in the GPU file's order.
    pub(super) fn new(config: &DramConfig) -> Self {
        let mut queue = RequestQueue { lists: Lists::new(config.queue, config.banks), order: Order::Fcfs };
        queue.order = queue.begun(&DramSettings::of(config.scheduler.as_ref()), config);
        queue
    }

    /// Creates an order without history.
    fn begun(&self, settings: &DramSettings, config: &DramConfig) -> Order {
        match settings.by {
            DramOrder::FrFcfs => Order::FrFcfs(FrFcfs::new(config.banks, config.row_hit_cap)),
            DramOrder::Fcfs => Order::Fcfs,
            DramOrder::KernelCap => Order::KernelCap(KernelCap::new(settings.cap(), config.banks)),
            DramOrder::Batch => Order::Batch(Batch::new(settings.cap(), config.queue)),
            DramOrder::Shares => Order::Shares(Box::new(Shares::new(settings, &self.lists))),
        }
    }

    /// Sets another order, or the same with other numbers, which keeps its history. `config` is
    /// that of [`RequestQueue::new`].
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

    /// Set of banks with a request.
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

    /// Removes the request that `bank` serves next in command cycle `t`, given the row in its row
    /// buffer. Also returns its waiting time in cycles.
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
