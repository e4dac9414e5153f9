//! A utility monitor: how many more hits a kernel would have with more ways, if it had the cache alone (Qureshi and Patt 2006).
//!
//! An auxiliary tag directory of as many ways as the cache has, true LRU, for a sample of its sets, and a counter of hits for each position
//! in the order of use. By LRU's stack property a cache of `n` ways has the hits of the first `n` positions. A monitor is of one kernel.
//!
//! It watches lines: an access of a sector hits where its line is in the directory, whether the cache fetched that sector or not (own).

/// The monitor of one kernel.
#[derive(Clone, Debug)]
pub(super) struct Monitor {
    ways: usize,
    /// Line numbers of each watched set, the last used first.
    stacks: Vec<u64>,
    /// How many there are in each.
    depths: Vec<u16>,
    /// Hits by position in the order of use.
    hits: Vec<u32>,
    accesses: u32,
}

impl Monitor {
    /// A monitor of `sets` sets that knows nothing.
    pub(super) fn new(sets: u32, ways: u16) -> Self {
        let (sets, ways) = (sets as usize, usize::from(ways));
        Monitor { ways, stacks: vec![0; sets * ways], depths: vec![0; sets], hits: vec![0; ways], accesses: 0 }
    }

    /// The kernel accesses `line`, of the watched set number `set`.
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

    /// Hits by position, since the start, with what came before each period halved.
    pub(super) fn hits(&self) -> &[u32] {
        &self.hits
    }

    /// Accesses, likewise.
    pub(super) fn accesses(&self) -> u32 {
        self.accesses
    }

    /// A period has ended: what was counted counts half from now on.
    pub(super) fn halve(&mut self) {
        self.hits.iter_mut().for_each(|hits| *hits >>= 1);
        self.accesses >>= 1;
    }

    /// The cache has been emptied.
    pub(super) fn empty(&mut self) {
        self.depths.fill(0);
    }

    /// Another kernel is watched from now on.
    pub(super) fn forget(&mut self) {
        self.empty();
        self.hits.fill(0);
        self.accesses = 0;
    }
}
