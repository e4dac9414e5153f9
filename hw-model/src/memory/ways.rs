//! Delay of changes of the resident kernels and of the ownership of ways in the L2 slices
//! ([`crate::cache`], `ways/`; sources.md D124).
//!
//! Slices see a change of a GPU cycle from the second tick after it on. This is the smallest delay
//! that gives the same result whether slices have run ahead ([`MemorySystem::begin_tick`]) or not.
//! A kernel is resident from its launch until it has completed.

use super::MemorySystem;
use crate::cache::{Shares, WaysStats};
use crate::config::{GpuConfig, PartitionConfig};
use std::collections::VecDeque;

/// Ticks from a change until slices apply it.
const DELAY_TICKS: u64 = 2;

/// Maximum number of L2 cycles in a core cycle (`config/limits.rs`), plus one.
const MOST_STEPS: u64 = 65;

/// Change for the slices.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// Mask of the resident kernels.
    Resident(u8),
    /// Slot that another kernel has taken.
    Placed(u8),
    /// Ways of the kernels; none restores the configured division.
    Ways(Option<Shares>),
}

/// Pending changes.
#[derive(Clone, Debug)]
pub(super) struct WayChanges {
    /// Changes, each with the number of the tick from which it holds.
    due: VecDeque<(u64, Change)>,
    period: Option<u64>,
    /// True if slices have utility monitors, which may be read after any tick.
    watched: bool,
    resident: u8,
}

impl WayChanges {
    pub(super) fn new(config: &GpuConfig) -> Self {
        // Each launch and each end of a kernel makes at most two changes, which are removed two
        // ticks later.
        let due = VecDeque::with_capacity(64);
        let partition = config.l2.partition.as_ref();
        let watched = partition.is_some_and(PartitionConfig::watches);
        WayChanges { due, period: partition.map(|partition| partition.period_cycles.into()), watched, resident: 0 }
    }

    /// True if a change is pending.
    #[inline]
    pub(super) fn pending(&self) -> bool {
        !self.due.is_empty()
    }
}

impl MemorySystem {
    /// Sets the mask of resident kernels; `placed` is a slot that a new kernel has taken.
    pub fn kernels_here(&mut self, resident: u8, placed: Option<u8>) {
        if let Some(kernel) = placed {
            self.tell_slices(Change::Placed(kernel));
        }
        self.kernels = resident;
        self.tell_slices(Change::Resident(resident));
    }

    /// Assigns ways of every slice's sets to the kernel slots, with priority over the configured
    /// division. Each resident kernel has at least one. None restores the configured division.
    pub fn set_l2_ways(&mut self, ways: Option<Shares>) {
        let resident = self.kernels;
        self.ways.get_or_insert_with(|| Box::new(WayChanges { due: VecDeque::new(), period: None, watched: false, resident }));
        self.tell_slices(Change::Ways(ways));
    }

    /// Ways of each resident kernel in slice `slice`; none where they are shared.
    pub fn l2_ways(&self, slice: usize) -> Option<Shares> {
        let (partition, place) = self.place_of(slice);
        self.partitions[partition].slices[place].tags.ways_owned()
    }

    /// Counts of the slices' utility monitors of `kernel`, by recency position, summed; empty
    /// without monitors.
    pub fn monitor_hits(&mut self, kernel: usize, sum: &mut Vec<u32>) {
        let end = self.l2.ticks();
        sum.clear();
        for slice in self.slices_mut() {
            slice.tags.turn(end);
            let hits = slice.tags.monitor_hits(kernel);
            sum.resize(hits.len(), 0);
            sum.iter_mut().zip(hits).for_each(|(sum, hits)| *sum = sum.saturating_add(*hits));
        }
    }

    fn tell_slices(&mut self, change: Change) {
        let from = self.core + DELAY_TICKS;
        if let Some(ways) = &mut self.ways {
            ways.due.push_back((from, change));
        }
    }

    /// Applies the changes that hold from the coming tick on.
    pub(super) fn apply_ways(&mut self) {
        let from = self.l2.ticks();
        while let Some(ways) = &mut self.ways
            && let Some((_, change)) = ways.due.pop_front_if(|(tick, _)| *tick <= self.core)
        {
            if let Change::Resident(resident) = change {
                ways.resident = resident;
            }
            let resident = ways.resident;
            for slice in self.partitions.iter_mut().flat_map(|partition| &mut partition.slices) {
                match change {
                    Change::Resident(resident) => slice.tags.reside(resident, from),
                    Change::Placed(kernel) => slice.tags.forget(kernel, from),
                    Change::Ways(shares) => slice.tags.set_ways(shares, resident, from),
                }
            }
        }
    }

    /// True if the coming tick may change ownership or monitor counts. Then no slice may run ahead,
    /// since statistics and the register block would be ahead too.
    pub(super) fn ways_may_change(&self) -> bool {
        let next = self.l2.ticks();
        let ends = |period: u64| next.next_multiple_of(period) < next + MOST_STEPS;
        self.ways.as_ref().is_some_and(|ways| ways.watched || ways.pending() || ways.period.is_some_and(ends))
    }

    /// Ownership of ways, over all slices; none where they are shared.
    pub fn ways_stats(&mut self) -> Option<WaysStats> {
        let (end, mut stats) = (self.l2.ticks(), None);
        for slice in self.slices_mut() {
            slice.tags.turn(end);
            slice.tags.add_ways(&mut stats);
        }
        stats
    }
}
