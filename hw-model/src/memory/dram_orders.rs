//! When channels learn in which order their requests are served ([`super::dram`], `scheduler/`; sources.md D187): from the second tick on
//! after the cycle in which it was set, which is the least for which it is the same whether channels have run ahead
//! ([`MemorySystem::begin_tick`]) or not.

use super::MemorySystem;
use super::dram::DramSettings;
use crate::config::DramConfig;
use std::collections::VecDeque;

/// Ticks from a change until channels know.
const DELAY_TICKS: u64 = 2;

/// What channels are to be told.
#[derive(Clone, Debug)]
pub(super) struct DramOrders {
    /// With the number of the tick from which it holds.
    due: VecDeque<(u64, DramSettings)>,
    /// The machine's, which asks for an order or does not.
    config: Box<DramConfig>,
    /// Another order than the machine's has been set.
    is_steered: bool,
}

impl DramOrders {
    pub(super) fn new(config: &DramConfig) -> Self {
        // A change is gone two ticks later.
        DramOrders { due: VecDeque::with_capacity(4), config: Box::new(config.clone()), is_steered: false }
    }

    /// Whether anything is to be told.
    #[inline]
    pub(super) fn pending(&self) -> bool {
        !self.due.is_empty()
    }
}

impl MemorySystem {
    /// Serves the requests of every channel in another order, or in the same by other numbers.
    pub fn set_dram_order(&mut self, settings: DramSettings) {
        self.dram_orders.due.push_back((self.core + DELAY_TICKS, settings));
        self.dram_orders.is_steered = true;
    }

    /// Whether anybody has asked for an order of DRAM requests, be it the usual one.
    pub fn orders_dram(&self) -> bool {
        self.dram_orders.is_steered || self.dram_orders.config.scheduler.is_some()
    }

    /// Tells channels what holds from the coming tick on.
    pub(super) fn apply_dram_orders(&mut self) {
        let DramOrders { due, config, .. } = &mut self.dram_orders;
        while let Some((_, settings)) = due.pop_front_if(|(tick, _)| *tick <= self.core) {
            self.partitions.iter_mut().for_each(|partition| partition.channel.set_scheduler(&settings, config));
        }
    }
}
