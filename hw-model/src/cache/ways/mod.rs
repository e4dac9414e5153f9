//! Ownership of cache ways: selection of the line that is evicted (sources.md D124).
//!
//! The tag array uses it in the cycle of a look-up that finds no line. [`TagArray::room`] tells
//! whether the set can evict a line for this kernel. Once the rest of the access is certain,
//! [`TagArray::victim`] selects the line. A mechanism reads the lines of the set in recency order
//! and does not change them. Lines in flight are never evicted. The mechanism is notified of each
//! accepted access and of new lines.
//!
//! There is one file per mechanism. [`shared`] is true LRU over the set and costs no bits. Where
//! ways are [`owned`], the shares of the kernels are [`fixed`] or set by [`utility`]. These files
//! state their cost in bits.
//!
//! The owner of the cache supplies the time. Before the look-ups of a cycle it reports the periods
//! that end before it ([`TagArray::turn`]). It also reports changes of the resident kernels with
//! their cycle. Nothing is counted without a look-up, so it may report as late as the next one.

mod fixed;
mod lookahead;
mod monitor;
mod owned;
mod rate;
mod shared;
#[cfg(test)]
mod tests;
mod utility;

pub(in crate::cache) use owned::Owned;

use super::TagArray;
use super::line::Line;
use crate::config::PartitionConfig;
use mias_registers::KERNEL_SLOTS;
use owned::Choice;

/// Number of ways by kernel slot.
pub type Shares = [u16; KERNEL_SLOTS];

/// Ownership of ways, over several caches of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaysStats {
    /// Number of period ends, over all of the caches.
    pub repartitions: u64,
    /// Ways by kernel slot.
    pub kernels: [KernelWays; KERNEL_SLOTS],
}

/// Ways of one kernel slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelWays {
    /// By cache: number of ways when the slot's kernel was last resident; 0 if it never was.
    pub last: Vec<u16>,
    /// Number of repartitions that gave the kernel each number of ways, from none on; empty without
    /// repartitions.
    pub repartitions: Vec<u64>,
}

/// Slots of a set, in order.
fn each_slot(set: u8) -> impl Iterator<Item = usize> {
    (0..KERNEL_SLOTS).filter(move |slot| set >> slot & 1 != 0)
}

impl TagArray {
    /// Enables ownership of ways as `config` says. The array may later be
    /// [reshaped](TagArray::reshape) up to `most_ways`.
    pub fn with_partition(mut self, config: Option<&PartitionConfig>, most_ways: u32) -> Self {
        let geometry = self.geometry;
        self.owned = config.and_then(|config| Owned::new(config, geometry.sets, geometry.ways as u16, most_ways as u16)).map(Box::new);
        self
    }

    /// True if a line of `set` can be evicted for one of `kernel`.
    #[inline(always)]
    pub(super) fn room(&self, set: usize, kernel: u8) -> bool {
        if self.owned.is_none() { self.has_room(set) } else { self.has_room_for(set, kernel) }
    }

    /// Line of `set` to evict for one of `kernel`. There must be [one](TagArray::room).
    #[inline(always)]
    pub(super) fn victim(&self, set: usize, kernel: u8) -> u32 {
        if self.owned.is_none() { self.least_recent(set) } else { self.victim_for(set, kernel) }
    }

    /// True if a line of `set` can be evicted for one of `kernel`, where ways are owned.
    #[cold]
    #[inline(never)]
    fn has_room_for(&self, set: usize, kernel: u8) -> bool {
        match self.choose(set, kernel) {
            Choice::Leaves(_) => true,
            Choice::AsShared => self.has_room(set),
            Choice::Wait => false,
        }
    }

    #[cold]
    #[inline(never)]
    fn victim_for(&self, set: usize, kernel: u8) -> u32 {
        match self.choose(set, kernel) {
            Choice::Leaves(slot) => slot,
            Choice::AsShared | Choice::Wait => self.least_recent(set),
        }
    }

    /// Records an accepted access of `kernel` to the line at `slot`, where ways are owned; `came`
    /// is true for a new line.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_owners(&mut self, slot: u32, kernel: u8, came: bool) {
        let Line { set, line, .. } = self.lines[slot as usize];
        if let Some(owned) = &mut self.owned {
            owned.looked_up(set as usize, slot, line, kernel, came);
        }
    }

    fn choose(&self, set: usize, kernel: u8) -> Choice {
        let Some(owned) = &self.owned else { return Choice::AsShared };
        let node = self.lines.len() + set;
        let mut slot = self.recency[node].newer;
        let lines = std::iter::from_fn(|| {
            let line = (slot as usize != node).then(|| (slot, &self.lines[slot as usize]))?;
            slot = self.recency[slot as usize].newer;
            Some(line)
        });
        owned.choose(set, kernel, self.may_evict_modified(), lines)
    }

    /// Ends every period that ends before cycle `end`. Returns true if ways have changed owners.
    #[inline]
    pub fn turn(&mut self, end: u64) -> bool {
        self.owned.is_some() && self.turn_owned(end)
    }

    #[cold]
    #[inline(never)]
    fn turn_owned(&mut self, end: u64) -> bool {
        self.owned.as_mut().is_some_and(|owned| owned.turn(end))
    }

    /// Sets the mask of kernels resident from cycle `from` on.
    pub fn reside(&mut self, resident: u8, from: u64) {
        if let Some(owned) = &mut self.owned {
            owned.turn(from);
            owned.reside(resident);
        }
    }

    /// Resets a slot for another kernel, from cycle `from` on.
    pub fn forget(&mut self, kernel: u8, from: u64) {
        if let Some(owned) = &mut self.owned {
            owned.turn(from);
            owned.forget(kernel);
        }
    }

    /// Assigns ways to the kernel slots from cycle `from` on, with priority over the configured
    /// division; none restores it. `resident` is the mask of resident kernels.
    pub fn set_ways(&mut self, given: Option<Shares>, resident: u8, from: u64) {
        if given.is_none() && self.owned.as_ref().is_some_and(|owned| owned.is_made()) {
            self.owned = None;
        }
        if let Some(given) = given {
            let geometry = self.geometry;
            self.owned.get_or_insert_with(|| Box::new(Owned::made(given, geometry.sets, geometry.ways as u16)));
        }
        if let Some(owned) = &mut self.owned {
            owned.turn(from);
            owned.set_ways(given);
            owned.reside(resident);
        }
    }

    /// Counts of the utility monitor of `kernel`, by recency position; empty without a monitor.
    pub fn monitor_hits(&self, kernel: usize) -> &[u32] {
        self.owned.as_ref().map_or(&[], |owned| owned.monitor_hits(kernel))
    }

    /// Ways of each resident kernel; none where they are shared.
    pub fn ways_owned(&self) -> Option<Shares> {
        self.owned.as_ref().map(|owned| owned.shares())
    }

    /// True if ways are owned.
    #[inline]
    pub fn is_owned(&self) -> bool {
        self.owned.is_some()
    }

    /// True if a monitor counts an access of `sector`.
    #[inline]
    pub fn is_watched(&self, sector: u64) -> bool {
        self.owned.is_some() && self.monitors_watch(sector)
    }

    #[cold]
    #[inline(never)]
    fn monitors_watch(&self, sector: u64) -> bool {
        self.owned.as_ref().is_some_and(|owned| owned.watches(self.set_of(sector)))
    }

    /// Adds the statistics of this cache, if its ways are owned.
    pub fn add_ways(&self, stats: &mut Option<WaysStats>) {
        if let Some(owned) = &self.owned {
            let stats = stats.get_or_insert_default();
            owned.add_to(&mut stats.repartitions, &mut stats.kernels);
        }
    }
}
