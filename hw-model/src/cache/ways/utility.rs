//! Utility-based cache partitioning (Qureshi and Patt 2006): a [monitor](super::monitor) per kernel, and at the end of every period
//! [lookahead](super::lookahead) over the kernels that are here; then what the monitors have counted is halved.
//!
//! *Own, where the paper is silent, since its programs never come or go:* when kernels come or go the ways are divided anew by what has been
//! counted; in equal shares while one of them has been here for no period's end.
//!
//! In hardware per kernel slot, of `s` watched sets of `w` ways: `s w` tags, `s w log2 w` bits of their order, `w` counters of hits and one
//! of accesses, 32 bits wide each.

use super::lookahead::{Curve, lookahead};
use super::monitor::Monitor;
use super::{Shares, each_slot, fixed, rate};
use crate::config::{Partition, PartitionConfig};
use mias_registers::KERNEL_SLOTS;

/// The controller of one cache.
#[derive(Clone, Debug)]
pub(super) struct Utility {
    weighs_rates: bool,
    period: u64,
    /// Cycle in which the next period begins.
    next: u64,
    /// log2 of the sets for each that is watched, and how many are.
    stride_bits: u32,
    watched: u32,
    monitors: Vec<Monitor>,
    /// Kernels that have been here for no end of a period, bit per slot.
    new: u8,
    /// Periods that have ended with a kernel here.
    repartitions: u64,
    /// Of these, those after which a kernel had so many ways: by ways, then slot.
    given: Vec<[u64; KERNEL_SLOTS]>,
}

impl Utility {
    /// Of a cache with `sets` sets of `ways` ways, at most `most_ways`.
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

    /// Whether a set is watched.
    #[inline]
    pub(super) fn watches(&self, set: usize) -> bool {
        set & ((1 << self.stride_bits) - 1) == 0
    }

    /// A kernel accesses a line of `set`.
    pub(super) fn look(&mut self, set: usize, line: u64, kernel: u8) {
        if self.watches(set) {
            self.monitors[usize::from(kernel)].look(set >> self.stride_bits, line);
        }
    }

    /// Whether a period ends before cycle `end`; if so it has ended, and [`Utility::divide_anew`] or [`Utility::rest`] is to follow.
    pub(super) fn ends(&mut self, end: u64) -> bool {
        let ends = self.next < end;
        self.next += if ends { self.period } else { 0 };
        ends
    }

    /// A period has ended, and others say who has how much.
    pub(super) fn rest(&mut self, resident: u8) {
        self.monitors.iter_mut().for_each(Monitor::halve);
        self.new &= !resident;
    }

    /// A period has ended: the shares after it.
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

    /// What the monitor of `kernel` has counted, by position in the order of use.
    pub(super) fn hits(&self, kernel: usize) -> &[u32] {
        self.monitors[kernel].hits()
    }

    /// Shares of other kernels than before.
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

    /// Another kernel has taken a slot.
    pub(super) fn forget(&mut self, kernel: u8) {
        self.monitors[usize::from(kernel)].forget();
        self.new |= 1 << kernel;
    }

    /// The cache has been emptied, and may have another number of ways.
    pub(super) fn empty(&mut self, before: u16, ways: u16) {
        if before == ways {
            self.monitors.iter_mut().for_each(Monitor::empty);
        } else {
            self.monitors = vec![Monitor::new(self.watched, ways); KERNEL_SLOTS];
            self.new = u8::MAX;
        }
    }

    /// Periods that have ended, and those after which each kernel had so many ways: by ways, then slot.
    pub(super) fn history(&self) -> (u64, &[[u64; KERNEL_SLOTS]]) {
        (self.repartitions, &self.given)
    }
}
