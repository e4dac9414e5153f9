//! QBMI: quotas of memory instructions, with which all kernels make equally many requests (Dai et
//! al. 2018, section 3.2).
//!
//! `quota_i = lcm(r_0, .., r_n) / r_i`, where `r` is the number of requests per memory instruction.
//! The kernel with the larger remaining quota goes first; each instruction uses one. When the quota
//! of any kernel is zero, a new set is added to all. `r` is 1 at first. It is updated every 1,024
//! requests of the kernel, including atomics.
//!
//! Own, where the paper is silent: `r` is rounded to the nearest integer from 1 to 32, since reals
//! have no least common multiple. At equal quotas, the lower slot goes first. Quotas saturate at 16
//! bits.

use super::super::KERNEL_SLOTS;

/// Number of requests after which `r` is updated (Dai et al. 2018, section 3.2).
pub(super) const SAMPLE: u32 = 1024;

/// Maximum requests per memory instruction: one per lane.
const MOST_REQUESTS: u32 = 32;

/// Counter operations of an issued instruction: one for the instructions, and one for the quota
/// (sources.md D175).
const COUNTS_OF_ISSUE: u64 = 2;

/// Operations of a new `r`: a quotient of 6 bits, one subtraction each (own).
const COUNTS_OF_RATE: u64 = 6;

/// Operations of a set after a new `r`, for each resident kernel: a product of 16 bits, and a
/// quotient, one addition or subtraction each (own).
const COUNTS_OF_SET: u64 = 32;

/// Quotas, with their inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quota {
    /// Remaining quota, by kernel slot.
    left: [u16; KERNEL_SLOTS],
    /// Requests per memory instruction, by kernel slot.
    requests_each: [u8; KERNEL_SLOTS],
    /// Requests and memory instructions since the last update of `r`, by kernel slot.
    requests: [u32; KERNEL_SLOTS],
    instructions: [u32; KERNEL_SLOTS],
    resident: u8,
}

impl Default for Quota {
    fn default() -> Self {
        let zero = [0; KERNEL_SLOTS];
        Quota { left: [0; KERNEL_SLOTS], requests_each: [1; KERNEL_SLOTS], requests: zero, instructions: zero, resident: 0 }
    }
}

impl Quota {
    /// Kernel with the largest remaining quota, of `ready` (not empty).
    pub(super) fn first(&self, ready: u8) -> u8 {
        let mut first = ready.trailing_zeros() as usize;
        for slot in first + 1..KERNEL_SLOTS {
            if ready >> slot & 1 != 0 && self.left[slot] > self.left[first] {
                first = slot;
            }
        }
        first as u8
    }

    /// Records an issued memory instruction of the kernel. Returns the number of counter
    /// operations; a new set adds one for each resident kernel.
    pub(super) fn issued(&mut self, kernel: u8) -> u64 {
        let slot = usize::from(kernel) & (KERNEL_SLOTS - 1);
        self.left[slot] = self.left[slot].saturating_sub(1);
        self.instructions[slot] = self.instructions[slot].saturating_add(1);
        COUNTS_OF_ISSUE + if self.replenish() { self.kernels_here() } else { 0 }
    }

    /// Records requests of the kernel. Returns the number of operations for a new `r` and its set,
    /// if due.
    pub(super) fn observe(&mut self, kernel: u8, requests: u64) -> u64 {
        let slot = usize::from(kernel) & (KERNEL_SLOTS - 1);
        self.requests[slot] = self.requests[slot].saturating_add(u32::try_from(requests).unwrap_or(u32::MAX));
        if self.requests[slot] < SAMPLE {
            return 0;
        }
        let instructions = self.instructions[slot].max(1);
        let each = (self.requests[slot] + instructions / 2) / instructions;
        self.requests_each[slot] = each.clamp(1, MOST_REQUESTS) as u8;
        (self.requests[slot], self.instructions[slot]) = (0, 0);
        COUNTS_OF_RATE + COUNTS_OF_SET * self.kernels_here()
    }

    fn kernels_here(&self) -> u64 {
        self.resident.count_ones().into()
    }

    /// Sets the kernels with TBs on the SM; the quotas of others are lost.
    pub(super) fn reside(&mut self, resident: u8) {
        self.resident = resident;
        for slot in (0..KERNEL_SLOTS).filter(|slot| resident >> slot & 1 == 0) {
            self.left[slot] = 0;
        }
        self.replenish();
    }

    /// Resets the slot for a new kernel.
    pub(super) fn forget(&mut self, kernel: u8) {
        let slot = usize::from(kernel) & (KERNEL_SLOTS - 1);
        (self.requests_each[slot], self.requests[slot], self.instructions[slot]) = (1, 0, 0);
    }

    /// Adds a new set if any resident kernel has no quota left. Returns true if it did.
    fn replenish(&mut self) -> bool {
        let here = |slot: &usize| self.resident >> slot & 1 != 0;
        if !(0..KERNEL_SLOTS).filter(here).any(|slot| self.left[slot] == 0) {
            return false;
        }
        let multiple = (0..KERNEL_SLOTS).filter(here).fold(1u64, |multiple, slot| lcm(multiple, self.requests_each[slot].into()));
        for slot in (0..KERNEL_SLOTS).filter(|slot| self.resident >> slot & 1 != 0) {
            let quota = u16::try_from(multiple / u64::from(self.requests_each[slot])).unwrap_or(u16::MAX);
            self.left[slot] = self.left[slot].saturating_add(quota);
        }
        true
    }

    /// Remaining quotas, by kernel slot.
    #[cfg(test)]
    pub(super) fn left(&self) -> [u16; KERNEL_SLOTS] {
        self.left
    }

    /// Requests per memory instruction, by kernel slot.
    #[cfg(test)]
    pub(super) fn requests_each(&self) -> [u8; KERNEL_SLOTS] {
        self.requests_each
    }
}

/// Least common multiple of positive integers; for 1 to 32 it has 48 bits.
fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
