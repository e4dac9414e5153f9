//! Utility monitor: number of hits that a kernel would have alone with each number of ways (Qureshi
//! and Patt 2006).
//!
//! It is an auxiliary tag directory with as many ways as the cache and true LRU, for a sample of
//! its sets. It has a counter of hits for each recency position. By LRU's stack property, a cache
//! of `n` ways has the hits of the first `n` positions. Each kernel has its own monitor.
//!
//! It watches lines: an access to a sector hits if its line is in the directory, even if the cache
//! did not fetch that sector (own).

/// Monitor of one kernel.
#[derive(Clone, Debug)]
pub(super) struct Monitor {
    ways: usize,
    /// Line numbers of each watched set, most recent first.
    stacks: Vec<u64>,
    /// Number of lines in each watched set.
    depths: Vec<u16>,
    /// Hits by recency position.
    hits: Vec<u32>,
    accesses: u32,
}

impl Monitor {
    /// Creates an empty monitor of `sets` sets.
    pub(super) fn new(sets: u32, ways: u16) -> Self {
        let (sets, ways) = (sets as usize, usize::from(ways));
        Monitor { ways, stacks: vec![0; sets * ways], depths: vec![0; sets], hits: vec![0; ways], accesses: 0 }
    }

    /// Records an access to `line` of watched set number `set`.
    pub(super) fn look(&mut self, set: usize, line: u64) {
        let depth = &mut self.depths[set];
        let stack = &mut self.stacks[set * self.ways..][..self.ways];
        self.accesses = self.accesses.saturating_add(1);
        let found = stack[..usize::from(*depth)].iter().position(|&other| other == line);
        if let Some(position) = found {
            self.hits[position] = self.hits[position].saturating_add(1);
        } else if usize::from(*depth) < self.ways {
            *depth += 1;
        }
        let end = found.unwrap_or(usize::from(*depth) - 1);
        stack.copy_within(..end, 1);
        stack[0] = line;
    }

    /// Hits by recency position since the start, halved at the end of each period.
    pub(super) fn hits(&self) -> &[u32] {
        &self.hits
    }

    /// Number of accesses since the start, halved at the end of each period.
    pub(super) fn accesses(&self) -> u32 {
        self.accesses
    }

    /// Halves all counts at the end of a period.
    pub(super) fn halve(&mut self) {
        self.hits.iter_mut().for_each(|hits| *hits >>= 1);
        self.accesses >>= 1;
    }

    /// Empties the directory with the cache.
    pub(super) fn empty(&mut self) {
        self.depths.fill(0);
    }

    /// Resets the monitor for another kernel.
    pub(super) fn forget(&mut self) {
        self.empty();
        self.hits.fill(0);
        self.accesses = 0;
    }
}
