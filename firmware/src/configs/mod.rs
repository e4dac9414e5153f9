//! TB configurations: the vectors, their generation (Nasef 2023, algorithm 1), and the table of the
//! tried ones.

use core::cmp::Ordering;

mod generate;
mod measurement;
mod pick;
mod pool;
mod table;

pub use generate::{Candidate, Generator, Rules};
pub use measurement::Measurement;
pub use pick::{Stride, subsample};
pub use pool::{Pool, Tail};
pub use table::{ConfigTable, Entry, Origin, RoundTotals, Sums, TRIAL, WARM_UP};

/// Number of kernels that the firmware schedules at a time. Further launches wait in the FIFO.
pub const MAX_KERNELS: usize = 4;

/// TBs per SM of each scheduled kernel, in launch order, compared lexicographically.
///
/// Entries beyond the last kernel are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TbVector(pub [u8; MAX_KERNELS]);

impl PartialOrd for TbVector {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TbVector {
    /// Compares the counts as one number, first count in the highest byte. A comparison of slices
    /// would link memcmp into the image.
    fn cmp(&self, other: &Self) -> Ordering {
        u32::from_be_bytes(self.0).cmp(&u32::from_be_bytes(other.0))
    }
}

impl TbVector {
    /// Creates the vector with `tbs` of one kernel and no other TB.
    // Not inlined on the RISC-V core, whose image has the least flash to spare.
    #[cfg_attr(not(target_arch = "riscv32"), inline)]
    #[must_use]
    pub fn single(kernel: usize, tbs: u8) -> Self {
        let mut vector = Self::default();
        vector.set(kernel, tbs);
        vector
    }

    /// Returns the TBs of a kernel; 0 beyond the last one.
    #[inline]
    #[must_use]
    pub fn get(&self, kernel: usize) -> u8 {
        self.0.get(kernel).copied().unwrap_or(0)
    }

    /// Sets the TBs of a kernel; does nothing beyond the last one.
    #[inline]
    pub fn set(&mut self, kernel: usize, tbs: u8) {
        if let Some(entry) = self.0.get_mut(kernel) {
            *entry = tbs;
        }
    }

    /// Returns the number of kernels with at least one TB.
    #[cfg_attr(not(target_arch = "riscv32"), inline)]
    #[must_use]
    pub fn present(&self) -> usize {
        self.0.iter().filter(|tbs| **tbs != 0).count()
    }
}
