//! Order among the kernels with a memory instruction ready at a scheduler (Dai et al. 2018, section
//! 3.2).

use super::quota::Quota;
use super::round_robin::RoundRobin;
use crate::config::MemoryOrder;

/// Order among kernels, with its state.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// Scheduler's own order.
    Scheduler,
    /// RBMI: round robin.
    RoundRobin(RoundRobin),
    /// QBMI: quotas.
    Quota(Quota),
}

impl Order {
    pub(super) fn new(order: MemoryOrder) -> Self {
        match order {
            MemoryOrder::Scheduler => Order::Scheduler,
            MemoryOrder::RoundRobin => Order::RoundRobin(RoundRobin::default()),
            MemoryOrder::Quota => Order::Quota(Quota::default()),
        }
    }

    /// Mask of kernels whose memory instruction may issue, of those that are ready. Empty only if
    /// none is ready.
    pub(super) fn first(&self, ready: u8) -> u8 {
        match self {
            Order::RoundRobin(order) if ready != 0 => 1 << order.first(ready),
            Order::Quota(order) if ready != 0 => 1 << order.first(ready),
            _ => ready,
        }
    }

    /// Records an issued memory instruction of the kernel. Returns the number of counter
    /// operations.
    pub(super) fn issued(&mut self, kernel: u8) -> u64 {
        match self {
            Order::Scheduler => 0,
            Order::RoundRobin(order) => {
                order.issued(kernel);
                1
            }
            Order::Quota(order) => order.issued(kernel),
        }
    }

    /// True if the order needs the number of requests.
    pub(super) fn counts_requests(&self) -> bool {
        matches!(self, Order::Quota(_))
    }

    /// Records requests of the kernel. Returns the number of operations for new quotas, if there
    /// are any.
    pub(super) fn observe(&mut self, kernel: u8, requests: u64) -> u64 {
        if let Order::Quota(order) = self { order.observe(kernel, requests) } else { 0 }
    }

    /// Sets the mask of kernels with TBs on the SM.
    pub(super) fn reside(&mut self, resident: u8) {
        if let Order::Quota(order) = self {
            order.reside(resident);
        }
    }

    /// Resets the slot for a new kernel.
    pub(super) fn forget(&mut self, kernel: u8) {
        if let Order::Quota(order) = self {
            order.forget(kernel);
        }
    }
}
