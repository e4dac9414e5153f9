//! Utility-based cache partitioning (Qureshi and Patt 2006).
//!
//! Each kernel has a [monitor](super::monitor). At the end of every period,
//! [lookahead](super::lookahead) divides the ways among the resident kernels; then the monitors'
//! counts are halved.
//!
//! *Own, where the paper is silent, since its programs never come or go:* when the resident kernels
//! change, the ways are divided again from the current counts. They are divided in equal shares
//! while one of the kernels has seen no end of a period.
//!
//! In hardware per kernel slot, for `s` watched sets of `w` ways: `s w` tags, `s w log2 w` bits of
//! their order, `w` counters of hits and one of accesses, 32 bits wide each.

use super::lookahead::{Curve, lookahead};
use super::monitor::Monitor;
use super::{Shares, each_slot, fixed, rate};
use crate::config::{Partition, PartitionConfig};
use mias_registers::KERNEL_SLOTS;

/// Controller of one cache.
#[derive(Clone, Debug)]
pub(super) struct Utility {
    weighs_rates: bool,
    period: u64,
    /// Cycle in which the next period begins.
    next: u64,
    /// log2 of the sets per watched set, and number of watched sets.
    stride_bits: u32,
    watched: u32,
    monitors: Vec<Monitor>,
    /// Mask of kernels that have seen no end of a period.
    new: u8,
    /// Number of periods that ended with a resident kernel.
    repartitions: u64,
    /// Number of ended periods that gave a kernel each number of ways: by ways, then slot.
    given: Vec<[u64; KERNEL_SLOTS]>,
}

impl Utility {
    /// Creates the controller of a cache with `sets` sets of `ways` ways, at most `most_ways`.
    pub(super) fn new(config: &PartitionConfig, sets: u32, ways: u16, most_ways: u16) -> Self {
        let watched = config.sampled_sets.min(sets);
        Utility {
            weighs_rates: config.by == Partition::UcpRate,
            period: config.period_cycles.into(),
            next: config.period_cycles.into(),
            stride_bits: (sets / watched).trailing_zeros(),
            watched,
            monitors: vec![Monitor::new(watched, ways); KERNEL_SLOTS],
            new: u8::MAX,
            repartitions: 0,
            given: vec![[0; KERNEL_SLOTS]; usize::from(most_ways) + 1],
        }
    }

    /// True if a set is watched.
    #[inline]
    pub(super) fn watches(&self, set: usize) -> bool {
        set & ((1 << self.stride_bits) - 1) == 0
    }

    /// Records an access of a kernel to a line of `set`.
    pub(super) fn look(&mut self, set: usize, line: u64, kernel: u8) {
        if self.watches(set) {
            self.monitors[usize::from(kernel)].look(set >> self.stride_bits, line);
        }
    }

    /// Ends a period if it ends before cycle `end`. Returns true if it did;
    /// [`Utility::divide_anew`] or [`Utility::rest`] must follow.
    pub(super) fn ends(&mut self, end: u64) -> bool {
        let ends = self.next < end;
        self.next += if ends { self.period } else { 0 };
        ends
    }

    /// Completes a period in which the ways were given externally.
    pub(super) fn rest(&mut self, resident: u8) {
        self.monitors.iter_mut().for_each(Monitor::halve);
        self.new &= !resident;
    }

    /// Completes a period and returns the new shares.
    pub(super) fn divide_anew(&mut self, resident: u8, ways: u16) -> Shares {
        let shares = self.divide(resident, ways);
        self.rest(resident);
        if resident != 0 {
            self.repartitions += 1;
            for slot in each_slot(resident) {
                self.given[usize::from(shares[slot])][slot] += 1;
            }
        }
        shares
    }

    /// Counts of the monitor of `kernel`, by recency position.
    pub(super) fn hits(&self, kernel: usize) -> &[u32] {
        self.monitors[kernel].hits()
    }

    /// Shares after a change of the resident kernels.
    pub(super) fn reside(&self, resident: u8, ways: u16) -> Shares {
        if resident & self.new != 0 { fixed::equal(resident, ways) } else { self.divide(resident, ways) }
    }

    fn divide(&self, resident: u8, ways: u16) -> Shares {
        let here = |slot: usize| resident >> slot & 1 != 0;
        let accesses = std::array::from_fn(|slot| if here(slot) { self.monitors[slot].accesses() } else { 0 });
        let worths = if self.weighs_rates { rate::worths(accesses) } else { [(1, 1); KERNEL_SLOTS] };
        let curve = |slot: usize| Curve { hits: self.monitors[slot].hits(), worth: worths[slot] };
        lookahead(&std::array::from_fn(|slot| here(slot).then(|| curve(slot))), ways)
    }

    /// Resets a slot for another kernel.
    pub(super) fn forget(&mut self, kernel: u8) {
        self.monitors[usize::from(kernel)].forget();
        self.new |= 1 << kernel;
    }

    /// Handles an emptied cache, which may have another number of ways.
    pub(super) fn empty(&mut self, before: u16, ways: u16) {
        if before == ways {
            self.monitors.iter_mut().for_each(Monitor::empty);
        } else {
            self.monitors = vec![Monitor::new(self.watched, ways); KERNEL_SLOTS];
            self.new = u8::MAX;
        }
    }

    /// Number of ended periods, and of those that gave each kernel each number of ways: by ways,
    /// then slot.
    pub(super) fn history(&self) -> (u64, &[[u64; KERNEL_SLOTS]]) {
        (self.repartitions, &self.given)
    }
}
