//! Reasons for which the heads of the L1's banks were refused, so that a head is looked up again
//! only when its reason may have gone. The structure is own; it changes no result
//! (`remembering_refusals_changes_nothing`).
//!
//! Accesses of other banks are to other sectors. They can help a head in three ways: a store
//! changes which lines may be evicted, and a taken line changes the owner's count. A line in flight
//! needs no share of such lines for its other sectors.

/// Resource that a look-up may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// Evictable line: until a sector arrives, or a store is accepted.
    Line,
    /// Miss-queue entry: until a miss is sent, or its sector arrives.
    Queue,
    /// MSHR, or space in the sector's MSHR: until an MSHR releases a load, or its sector arrives.
    Mshr,
}

/// Mask of banks whose head would be refused again, by missing resource.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refused {
    line: u32,
    queue: u32,
    mshr: u32,
}

impl Refused {
    /// True if the head of `bank` would be refused again.
    #[inline]
    pub(super) fn has(self, bank: usize) -> bool {
        (self.line | self.queue | self.mshr) >> bank & 1 != 0
    }

    /// Records that the head of `bank` was refused.
    pub(super) fn add(&mut self, bank: usize, lack: Lack) {
        let set = match lack {
            Lack::Line => &mut self.line,
            Lack::Queue => &mut self.queue,
            Lack::Mshr => &mut self.mshr,
        };
        *set |= 1 << bank;
    }

    /// Handles an accepted store.
    pub(super) fn store_accepted(&mut self) {
        self.line = 0;
    }

    /// Handles a line evicted by a load, where that changes the next victims.
    pub(super) fn line_taken(&mut self) {
        self.line = 0;
    }

    /// Handles a line in flight, where kernels have shares of such lines.
    pub(super) fn line_awaited(&mut self) {
        self.line = 0;
    }

    /// Handles a sent miss.
    pub(super) fn miss_sent(&mut self) {
        self.queue = 0;
    }

    /// Handles a load released by an MSHR.
    pub(super) fn load_handed_out(&mut self) {
        self.mshr = 0;
    }

    /// Handles the arrival of a sector: any head may now find it.
    pub(super) fn sector_arrived(&mut self) {
        *self = Refused::default();
    }
}
