//! Delay of changes to the order of DRAM requests ([`super::dram`], `scheduler/`; sources.md D187).
//!
//! Channels apply a change from the second tick on after the cycle in which it was set. This is the
//! smallest delay that gives the same result whether channels have run ahead
//! ([`MemorySystem::begin_tick`]) or not.

use super::MemorySystem;
use super::dram::DramSettings;
use crate::config::DramConfig;
use std::collections::VecDeque;

/// Ticks from a change until channels apply it.
const DELAY_TICKS: u64 = 2;

/// Pending changes for the channels.
#[derive(Clone, Debug)]
pub(super) struct DramOrders {
    /// Changes, each with the number of the tick from which it holds.
    due: VecDeque<(u64, DramSettings)>,
    /// DRAM configuration of the GPU file, with or without an order.
    config: Box<DramConfig>,
    /// True if an order other than the GPU file's has been set.
    is_steered: bool,
}

impl DramOrders {
    pub(super) fn new(config: &DramConfig) -> Self {
        // A change is removed two ticks later.
        DramOrders { due: VecDeque::with_capacity(4), config: Box::new(config.clone()), is_steered: false }
    }

    /// True if a change is pending.
    #[inline]
    pub(super) fn pending(&self) -> bool {
        !self.due.is_empty()
    }
}

impl MemorySystem {
    /// Sets the order of every channel's requests, or its numbers.
    pub fn set_dram_order(&mut self, settings: DramSettings) {
        self.dram_orders.due.push_back((self.core + DELAY_TICKS, settings));
        self.dram_orders.is_steered = true;
    }

    /// True if the GPU file or the firmware has set an order of DRAM requests, even the default
    /// one.
    pub fn orders_dram(&self) -> bool {
        self.dram_orders.is_steered || self.dram_orders.config.scheduler.is_some()
    }

    /// Applies the changes that hold from the coming tick on.
    pub(super) fn apply_dram_orders(&mut self) {
        let DramOrders { due, config, .. } = &mut self.dram_orders;
        while let Some((_, settings)) = due.pop_front_if(|(tick, _)| *tick <= self.core) {
            self.partitions.iter_mut().for_each(|partition| partition.channel.set_scheduler(&settings, config));
        }
    }
}
