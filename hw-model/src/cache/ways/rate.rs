//! Weights by access rate: the hits of a kernel that accesses the cache far more often than another
//! count less, since it hides misses better.
//!
//! The rule follows TAP (Lee and Kim 2012), with the numbers of the utility partition in CRISP's
//! GPGPU-Sim: where a kernel has more than ten times the accesses of another, its utility is
//! divided by their ratio.
//!
//! *Own:* with more than two kernels, the other kernel is the one with the fewest nonzero accesses.

use mias_registers::KERNEL_SLOTS;

/// Ratio of accesses above which hits count less.
const MOST_RATIO: u64 = 10;

/// Weight of a hit of each kernel, as a fraction, from the accesses of each; 0 for a kernel that is
/// not resident.
pub(super) fn worths(accesses: [u32; KERNEL_SLOTS]) -> [(u32, u32); KERNEL_SLOTS] {
    let fewest = accesses.into_iter().filter(|&accesses| accesses > 0).min().unwrap_or(0);
    accesses.map(|mine| if u64::from(mine) > MOST_RATIO * u64::from(fewest) { (fewest, mine) } else { (1, 1) })
}
