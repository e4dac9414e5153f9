//! Row-hit cap: FR-FCFS serves at most this number of consecutive row hits of a bank while an older
//! request to another row of that bank waits; then the oldest goes first (sources.md D70). Off with
//! a cap of 0, as in GPGPU-Sim.

/// Number of times that the oldest request of each bank has been bypassed.
#[derive(Clone, Debug)]
pub(super) struct RowCap {
    cap: u32,
    passed: Vec<u32>,
}

impl RowCap {
    /// Creates a cap of `cap` hits; 0: none.
    pub(super) fn new(cap: u32, banks: u32) -> Self {
        RowCap { cap, passed: vec![0; banks as usize] }
    }

    /// True if a row hit may bypass the bank's oldest request once more.
    #[inline]
    pub(super) fn allows(&self, bank: usize) -> bool {
        self.cap == 0 || self.passed[bank] < self.cap
    }

    /// Records that a request of the bank was taken: the oldest, or one that bypassed it.
    #[inline]
    pub(super) fn taken(&mut self, bank: usize, passed_the_oldest: bool) {
        self.passed[bank] = if passed_the_oldest { self.passed[bank].saturating_add(1) } else { 0 };
    }
}
