//! Whose memory instruction is next, of the kernels that have one ready at a scheduler (Dai et al. 2018, section 3.2).

use super::quota::Quota;
use super::round_robin::RoundRobin;
use crate::config::MemoryOrder;

/// The order, and what it remembers.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// The scheduler's own.
    Scheduler,
    /// RBMI.
    RoundRobin(RoundRobin),
    /// QBMI.
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

    /// Of kernels with a memory instruction ready, those whose may go; bit per slot. None only if there is none.
    pub(super) fn first(&self, ready: u8) -> u8 {
        match self {
            Order::RoundRobin(order) if ready != 0 => 1 << order.first(ready),
            Order::Quota(order) if ready != 0 => 1 << order.first(ready),
            _ => ready,
        }
    }

    /// A memory instruction of the kernel has issued. Returns what that counted.
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

    /// Whether it needs to know of requests.
    pub(super) fn counts_requests(&self) -> bool {
        matches!(self, Order::Quota(_))
    }

    /// Requests of the kernel were made. Returns what new quotas took, if there are any.
    pub(super) fn observe(&mut self, kernel: u8, requests: u64) -> u64 {
        if let Order::Quota(order) = self { order.observe(kernel, requests) } else { 0 }
    }

    /// Kernels that have TBs here, bit per slot.
    pub(super) fn reside(&mut self, resident: u8) {
        if let Order::Quota(order) = self {
            order.reside(resident);
        }
    }

    /// The slot has a new kernel.
    pub(super) fn forget(&mut self, kernel: u8) {
        if let Order::Quota(order) = self {
            order.forget(kernel);
        }
    }
}
