//! The row-hit cap: FR-FCFS serves at most so many row hits of a bank in a row while an older request to another row of
//! that bank waits; then the oldest goes first (sources.md D70). Off with a cap of 0, as in GPGPU-Sim.

/// Per bank, how often its oldest request has been passed.
#[derive(Clone, Debug)]
pub(super) struct RowCap {
    cap: u32,
    passed: Vec<u32>,
}

impl RowCap {
    /// A cap of `cap` hits; 0: none.
    pub(super) fn new(cap: u32, banks: u32) -> Self {
        RowCap { cap, passed: vec![0; banks as usize] }
    }

    /// Whether a row hit may pass the bank's oldest request once more.
    #[inline]
    pub(super) fn allows(&self, bank: usize) -> bool {
        self.cap == 0 || self.passed[bank] < self.cap
    }

    /// A request of the bank was taken: the oldest, or one that passed it.
    #[inline]
    pub(super) fn taken(&mut self, bank: usize, passed_the_oldest: bool) {
        self.passed[bank] = if passed_the_oldest { self.passed[bank].saturating_add(1) } else { 0 };
    }
}
