//! What the heads of the L1's banks were refused for, so that a head is looked up again only when that may have changed. Our own
//! structure; it changes no outcome (`remembering_refusals_changes_nothing`).
//!
//! Accesses of other banks are to other sectors. What they do can help a head in three ways: a store changes which lines may leave, a line that is
//! taken changes the owner's count, and a line that is awaited needs no share of awaited lines for its other sectors.

/// What a look-up may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// A line that may leave: until a sector arrives, or a store is accepted.
    Line,
    /// Room in the miss queue: until a miss is sent, or its sector arrives.
    Queue,
    /// An MSHR, or room in its sector's: until one hands a load out, or its sector arrives.
    Mshr,
}

/// Banks whose head was refused and would be refused again, by what it lacks; bit per bank.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refused {
    line: u32,
    queue: u32,
    mshr: u32,
}

impl Refused {
    /// Whether the head of `bank` would be refused again.
    #[inline]
    pub(super) fn has(self, bank: usize) -> bool {
        (self.line | self.queue | self.mshr) >> bank & 1 != 0
    }

    /// The head of `bank` was refused.
    pub(super) fn add(&mut self, bank: usize, lack: Lack) {
        let set = match lack {
            Lack::Line => &mut self.line,
            Lack::Queue => &mut self.queue,
            Lack::Mshr => &mut self.mshr,
        };
        *set |= 1 << bank;
    }

    /// A store was accepted.
    pub(super) fn store_accepted(&mut self) {
        self.line = 0;
    }

    /// A line has left for one of a load, where that changes which may leave next.
    pub(super) fn line_taken(&mut self) {
        self.line = 0;
    }

    /// A line is awaited, where kernels have shares of awaited lines.
    pub(super) fn line_awaited(&mut self) {
        self.line = 0;
    }

    /// A miss was sent.
    pub(super) fn miss_sent(&mut self) {
        self.queue = 0;
    }

    /// An MSHR handed a load out.
    pub(super) fn load_handed_out(&mut self) {
        self.mshr = 0;
    }

    /// A sector arrived: any head may find it now.
    pub(super) fn sector_arrived(&mut self) {
        *self = Refused::default();
    }
}
