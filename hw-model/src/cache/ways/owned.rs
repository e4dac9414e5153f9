//! Owned ways: eviction that brings every kernel to its share (Qureshi and Patt 2006). The kernel
//! that allocates a line owns it. For a new line of a kernel, the least recently used of these
//! lines is evicted:
//!
//! 1. lines without an owner, and of kernels that are not resident;
//! 2. if the kernel has fewer lines in the set than its share: lines of kernels that have more than
//!    theirs;
//! 3. its own lines.
//!
//! Lines in flight are not evicted. If all of the above are in flight, the look-up is a reservation
//! fail.
//!
//! *Own, where the paper is silent:* a kernel whose share is all ways evicts as in a shared set. A
//! line without an owner, from a copy of the host, becomes the property of the kernel that hits it.
//! A kernel with none of these lines, in flight or not, evicts as in a shared set. Otherwise it
//! could wait forever: its own lines may all be modified, and too few to be evicted.
//!
//! In hardware 3 bits per line, and per set a line count of each kernel.

use super::utility::Utility;
use super::{KernelWays, Shares, fixed};
use crate::cache::line::Line;
use crate::cache::tags::NO_KERNEL;
use crate::config::{Partition, PartitionConfig};
use mias_registers::KERNEL_SLOTS;

/// Kernel slots, plus one for lines without an owner.
const OWNERS: usize = KERNEL_SLOTS + 1;

/// Method of dividing the ways.
#[derive(Clone, Debug)]
enum Division {
    /// No division: ways are shared unless some are [given](Owned::set_ways).
    Nobody,
    Fixed(Shares),
    Utility(Box<Utility>),
}

/// Decision of a set for a new line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The line at this slot is evicted.
    Leaves(u32),
    /// A line is evicted as in a shared set.
    AsShared,
    /// The access waits for a line in flight.
    Wait,
}

/// Ownership of the lines of a cache.
#[derive(Clone, Debug)]
pub(in crate::cache) struct Owned {
    ways: u16,
    division: Division,
    /// Given shares, which replace those of the division.
    given: Option<Shares>,
    /// Mask of resident kernels.
    resident: u8,
    /// Ways of each resident kernel; none for lines without an owner.
    shares: [u16; OWNERS],
    /// Ways of each kernel when it was last resident.
    last: Shares,
    /// Owner of each line.
    owners: Vec<u8>,
    /// Number of lines by set, then owner.
    held: Vec<[u16; OWNERS]>,
}

impl Owned {
    /// Creates the ownership; none if the configuration divides no ways.
    pub(super) fn new(config: &PartitionConfig, sets: u32, ways: u16, most_ways: u16) -> Option<Self> {
        let division = match config.by {
            Partition::Shared => return None,
            Partition::Fixed => {
                Division::Fixed(std::array::from_fn(|slot| config.ways.get(slot).map_or(1, |&ways| ways.min(u16::MAX.into()) as u16)))
            }
            Partition::Ucp | Partition::UcpRate => Division::Utility(Box::new(Utility::new(config, sets, ways, most_ways))),
        };
        Some(Owned::of(division, sets, ways))
    }

    /// Creates the ownership of a cache whose ways were shared until these were given.
    pub(super) fn made(given: Shares, sets: u32, ways: u16) -> Self {
        Owned { given: Some(given), ..Owned::of(Division::Nobody, sets, ways) }
    }

    /// True if the ownership exists only because ways were given.
    pub(super) fn is_made(&self) -> bool {
        matches!(self.division, Division::Nobody)
    }

    fn of(division: Division, sets: u32, ways: u16) -> Self {
        let mut owned = Owned {
            ways,
            division,
            given: None,
            resident: 0,
            shares: [0; OWNERS],
            last: Shares::default(),
            owners: Vec::new(),
            held: vec![[0; OWNERS]; sets as usize],
        };
        owned.empty(ways);
        owned
    }

    /// Resets the ownership of a cache that was emptied and now has `ways` ways.
    pub(in crate::cache) fn empty(&mut self, ways: u16) {
        if let Division::Utility(utility) = &mut self.division {
            utility.empty(self.ways, ways);
        }
        self.owners.clear();
        self.owners.resize(self.held.len() * usize::from(ways), NO_KERNEL);
        let mut held = [0; OWNERS];
        held[usize::from(NO_KERNEL)] = ways;
        self.held.fill(held);
        if self.ways != ways {
            self.ways = ways;
            self.share_out();
        }
    }

    /// Records an access of a kernel to a line of `set` at `slot`.
    pub(in crate::cache) fn looked_up(&mut self, set: usize, slot: u32, line: u64, kernel: u8, came: bool) {
        let owner = &mut self.owners[slot as usize];
        if came || *owner == NO_KERNEL {
            self.held[set][usize::from(*owner)] -= 1;
            *owner = kernel;
            self.held[set][usize::from(kernel)] += 1;
        }
        if let Division::Utility(utility) = &mut self.division
            && kernel != NO_KERNEL
        {
            utility.look(set, line, kernel);
        }
    }

    /// Selects which of a set's `lines`, from the least recent to the most, is evicted for one of
    /// `kernel`.
    pub(super) fn choose<'a>(
        &self,
        set: usize,
        kernel: u8,
        may_evict_modified: bool,
        lines: impl Iterator<Item = (u32, &'a Line)>,
    ) -> Choice {
        let mine = usize::from(kernel);
        if self.shares[mine] == self.ways {
            return Choice::AsShared;
        }
        let held = &self.held[set];
        let short = held[mine] < self.shares[mine];
        let (mut of_nobody, mut of_others, mut own, mut on_its_way) = (None, None, None, false);
        for (slot, line) in lines {
            let owner = usize::from(self.owners[slot as usize]);
            let class = if self.shares[owner] == 0 {
                &mut of_nobody
            } else if owner == mine {
                &mut own
            } else if short && held[owner] > self.shares[owner] {
                &mut of_others
            } else {
                continue;
            };
            on_its_way |= line.reserved != 0;
            if line.reserved == 0 && (may_evict_modified || line.modified == 0) {
                class.get_or_insert(slot);
            }
        }
        match of_nobody.or(of_others).or(own) {
            Some(slot) => Choice::Leaves(slot),
            None if on_its_way => Choice::Wait,
            None => Choice::AsShared,
        }
    }

    /// Ends every period that ends before cycle `end`. Returns true if shares have changed.
    pub(super) fn turn(&mut self, end: u64) -> bool {
        let mut changed = false;
        while let Division::Utility(utility) = &mut self.division
            && utility.ends(end)
        {
            if self.given.is_some() {
                utility.rest(self.resident);
            } else {
                let shares = utility.divide_anew(self.resident, self.ways);
                changed |= self.set(shares);
            }
        }
        changed
    }

    /// Sets the resident kernels.
    pub(super) fn reside(&mut self, resident: u8) {
        if self.resident != resident {
            self.resident = resident;
            self.share_out();
        }
    }

    /// Resets a slot for another kernel, which inherits the lines of the previous one.
    pub(super) fn forget(&mut self, kernel: u8) {
        self.last[usize::from(kernel)] = 0;
        if let Division::Utility(utility) = &mut self.division {
            utility.forget(kernel);
        }
    }

    /// Sets shares by slot; none restores the division. Monitors continue.
    pub(super) fn set_ways(&mut self, given: Option<Shares>) {
        self.given = given;
        self.share_out();
    }

    /// Counts of the monitor of `kernel`, by recency position; empty without one.
    pub(super) fn monitor_hits(&self, kernel: usize) -> &[u32] {
        match &self.division {
            Division::Utility(utility) => utility.hits(kernel),
            Division::Nobody | Division::Fixed(_) => &[],
        }
    }

    fn share_out(&mut self) {
        let shares = match (&self.division, &self.given) {
            _ if self.resident == 0 => Shares::default(),
            (Division::Nobody, None) => Shares::default(),
            (_, Some(given)) | (Division::Fixed(given), None) => fixed::shares(*given, self.resident, self.ways),
            (Division::Utility(utility), None) => utility.reside(self.resident, self.ways),
        };
        self.set(shares);
    }

    fn set(&mut self, shares: Shares) -> bool {
        let changed = self.shares[..KERNEL_SLOTS] != shares;
        self.shares[..KERNEL_SLOTS].copy_from_slice(&shares);
        for (last, share) in self.last.iter_mut().zip(shares).filter(|(_, share)| *share > 0) {
            *last = share;
        }
        changed
    }

    /// True if a monitor watches `set`.
    pub(super) fn watches(&self, set: usize) -> bool {
        matches!(&self.division, Division::Utility(utility) if utility.watches(set))
    }

    /// Ways of each resident kernel.
    pub(super) fn shares(&self) -> Shares {
        std::array::from_fn(|slot| self.shares[slot])
    }

    /// Adds this cache to the statistics of several.
    pub(super) fn add_to(&self, repartitions: &mut u64, kernels: &mut [KernelWays; KERNEL_SLOTS]) {
        for (kernel, &last) in kernels.iter_mut().zip(&self.last) {
            kernel.last.push(last);
        }
        let Division::Utility(utility) = &self.division else { return };
        let (ended, given) = utility.history();
        *repartitions += ended;
        for (slot, kernel) in kernels.iter_mut().enumerate() {
            kernel.repartitions.resize(given.len().max(kernel.repartitions.len()), 0);
            for (sum, of_ways) in kernel.repartitions.iter_mut().zip(given) {
                *sum += of_ways[slot];
            }
        }
    }

    /// Number of lines of each kernel in a set.
    #[cfg(test)]
    pub(in crate::cache) fn held(&self, set: usize) -> &[u16] {
        &self.held[set]
    }
}
