//! QBMI: quotas of memory instructions, so that kernels make as many requests each (Dai et al. 2018, section 3.2).
//!
//! `quota_i = lcm(r_0, .., r_n) / r_i` with `r` the requests per memory instruction. The kernel with more quota left goes first; each
//! instruction takes one. When any kernel's quota is zero, a new set is added to all. `r` is 1 at first, and renewed every 1,024 requests of
//! the kernel, atomics included.
//!
//! Own, where the paper is silent: `r` is rounded to the nearest whole number from 1 to 32, since reals have no least common multiple;
//! of equal quotas the lower slot goes first; quotas have 16 bits, at which they stay.

use super::super::KERNEL_SLOTS;

/// Requests after which `r` is renewed (Dai et al. 2018, section 3.2).
pub(super) const SAMPLE: u32 = 1024;

/// Most requests per memory instruction: one per lane.
const MOST_REQUESTS: u32 = 32;

/// Counts of an instruction that issues: one of instructions, and one of the quota (sources.md D175).
const COUNTS_OF_ISSUE: u64 = 2;

/// Operations of a new `r`: a quotient of 6 bits, one subtraction each (own).
const COUNTS_OF_RATE: u64 = 6;

/// Operations of a set that a new `r` changes, for each kernel here: a product of 16 bits, and a quotient, one addition or subtraction each (own).
const COUNTS_OF_SET: u64 = 32;

/// Quotas, and what they are worked out from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quota {
    /// By kernel slot.
    left: [u16; KERNEL_SLOTS],
    /// Requests per memory instruction, by kernel slot.
    requests_each: [u8; KERNEL_SLOTS],
    /// Requests and memory instructions since `r` was renewed, by kernel slot.
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
    /// The kernel with most quota left, of `ready` (not empty).
    pub(super) fn first(&self, ready: u8) -> u8 {
        let mut first = ready.trailing_zeros() as usize;
        for slot in first + 1..KERNEL_SLOTS {
            if ready >> slot & 1 != 0 && self.left[slot] > self.left[first] {
                first = slot;
            }
        }
        first as u8
    }

    /// A memory instruction of the kernel has issued. Returns what that counted: with a new set, one more for each kernel here.
    pub(super) fn issued(&mut self, kernel: u8) -> u64 {
        let slot = usize::from(kernel) & (KERNEL_SLOTS - 1);
        self.left[slot] = self.left[slot].saturating_sub(1);
        self.instructions[slot] = self.instructions[slot].saturating_add(1);
        COUNTS_OF_ISSUE + if self.replenish() { self.kernels_here() } else { 0 }
    }

    /// Requests of the kernel were made. Returns what a new `r` and the set by it took, if it is time for them.
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

    /// Kernels that have TBs here: what others had left is gone.
    pub(super) fn reside(&mut self, resident: u8) {
        self.resident = resident;
        for slot in (0..KERNEL_SLOTS).filter(|slot| resident >> slot & 1 == 0) {
            self.left[slot] = 0;
        }
        self.replenish();
    }

    /// The slot has a new kernel.
    pub(super) fn forget(&mut self, kernel: u8) {
        let slot = usize::from(kernel) & (KERNEL_SLOTS - 1);
        (self.requests_each[slot], self.requests[slot], self.instructions[slot]) = (1, 0, 0);
    }

    /// Adds a new set if any kernel here has none left; whether it has.
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

    /// Quotas left, by kernel slot.
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

/// Least common multiple of whole numbers from 1; of 1 to 32 it has 48 bits.
fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
