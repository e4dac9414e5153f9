//! Who owns which ways of a cache: which line leaves for a line that is not there (sources.md D124).
//!
//! The tag array asks in the cycle of the look-up, after it has found that a line is not there: can the set make room for one of this
//! kernel ([`TagArray::room`]), and, once the rest of the access is sure, which line leaves ([`TagArray::victim`]). A mechanism reads the
//! lines of the set in the order of their use, and changes nothing of them. Lines on their way cannot leave under any. It is told of each
//! access that goes on, and of lines that have come.
//!
//! One file per mechanism: [`shared`], which is true LRU over the set and costs no bit; and where
//! ways are [`owned`], who says how many each kernel has: [`fixed`] shares, or [`utility`]. These
//! say what they cost in bits.
//!
//! Time comes from outside: whoever has the cache says what ends before a cycle ([`TagArray::turn`]) before it looks up in that cycle, and
//! who is here from which cycle on. As nothing is counted without a look-up, it may say so as late as the next one.

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

/// Ways by kernel slot.
pub type Shares = [u16; KERNEL_SLOTS];

/// Who owns which ways, of several caches of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaysStats {
    /// Ends of periods, over all of the caches.
    pub repartitions: u64,
    /// By kernel slot.
    pub kernels: [KernelWays; KERNEL_SLOTS],
}

/// Ways of one kernel slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelWays {
    /// Of each cache: how many it had when its kernel was there last; 0 if it never was.
    pub last: Vec<u16>,
    /// Repartitions after which it had so many, from none on; empty where there are no repartitions.
    pub repartitions: Vec<u64>,
}

/// The slots of a set, in order.
fn each_slot(set: u8) -> impl Iterator<Item = usize> {
    (0..KERNEL_SLOTS).filter(move |slot| set >> slot & 1 != 0)
}

impl TagArray {
    /// The same array with ways that are owned as `config` says, where it may be [reshaped](TagArray::reshape) to `most_ways`.
    pub fn with_partition(mut self, config: Option<&PartitionConfig>, most_ways: u32) -> Self {
        let geometry = self.geometry;
        self.owned = config.and_then(|config| Owned::new(config, geometry.sets, geometry.ways as u16, most_ways as u16)).map(Box::new);
        self
    }

    /// Whether a line of `set` can leave, for one of `kernel`.
    #[inline(always)]
    pub(super) fn room(&self, set: usize, kernel: u8) -> bool {
        if self.owned.is_none() { self.has_room(set) } else { self.has_room_for(set, kernel) }
    }

    /// The line of `set` that leaves for one of `kernel`. There must be [room](TagArray::room).
    #[inline(always)]
    pub(super) fn victim(&self, set: usize, kernel: u8) -> u32 {
        if self.owned.is_none() { self.least_recent(set) } else { self.victim_for(set, kernel) }
    }

    /// The same where ways are owned.
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

    /// An access by `kernel` of the line at `slot` goes on, where ways are owned; the line `came` with it or was there.
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

    /// Ends every period that ends before cycle `end`. Whether ways have changed owners.
    #[inline]
    pub fn turn(&mut self, end: u64) -> bool {
        self.owned.is_some() && self.turn_owned(end)
    }

    #[cold]
    #[inline(never)]
    fn turn_owned(&mut self, end: u64) -> bool {
        self.owned.as_mut().is_some_and(|owned| owned.turn(end))
    }

    /// Kernels that are here from cycle `from` on, bit per slot.
    pub fn reside(&mut self, resident: u8, from: u64) {
        if let Some(owned) = &mut self.owned {
            owned.turn(from);
            owned.reside(resident);
        }
    }

    /// Another kernel has taken a slot, from cycle `from` on.
    pub fn forget(&mut self, kernel: u8, from: u64) {
        if let Some(owned) = &mut self.owned {
            owned.turn(from);
            owned.forget(kernel);
        }
    }

    /// Gives each kernel slot so many ways from cycle `from` on, whatever divides them otherwise; with none they are divided as before any
    /// were given. `resident` are the kernels that are here.
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

    /// What the utility monitor of `kernel` has counted, by position in the order of use; nothing where there is none.
    pub fn monitor_hits(&self, kernel: usize) -> &[u32] {
        self.owned.as_ref().map_or(&[], |owned| owned.monitor_hits(kernel))
    }

    /// Ways of each kernel that is here; none where they are shared.
    pub fn ways_owned(&self) -> Option<Shares> {
        self.owned.as_ref().map(|owned| owned.shares())
    }

    /// Whether ways are owned.
    #[inline]
    pub fn is_owned(&self) -> bool {
        self.owned.is_some()
    }

    /// Whether a monitor counts an access of `sector`.
    #[inline]
    pub fn is_watched(&self, sector: u64) -> bool {
        self.owned.is_some() && self.monitors_watch(sector)
    }

    #[cold]
    #[inline(never)]
    fn monitors_watch(&self, sector: u64) -> bool {
        self.owned.as_ref().is_some_and(|owned| owned.watches(self.set_of(sector)))
    }

    /// Adds what is told of this cache, if its ways are owned.
    pub fn add_ways(&self, stats: &mut Option<WaysStats>) {
        if let Some(owned) = &self.owned {
            let stats = stats.get_or_insert_default();
            owned.add_to(&mut stats.repartitions, &mut stats.kernels);
        }
    }
}
