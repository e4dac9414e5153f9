//! Rates: the hits of a kernel that accesses the cache far more often than another count for less, since it covers misses better. After
//! TAP (Lee and Kim 2012), with the numbers of the utility partition in CRISP's GPGPU-Sim: where a kernel
//! has more than ten times the accesses of another, its utility is divided by their ratio.
//!
//! *Own:* of more than two kernels the other is the one with the fewest accesses that has any.

use mias_registers::KERNEL_SLOTS;

/// More than so many times another's accesses.
const MOST_RATIO: u64 = 10;

/// What a hit of each kernel is worth, as a fraction, by the accesses of each; 0 for a kernel that is not here.
pub(super) fn worths(accesses: [u32; KERNEL_SLOTS]) -> [(u32, u32); KERNEL_SLOTS] {
    let fewest = accesses.into_iter().filter(|&accesses| accesses > 0).min().unwrap_or(0);
    accesses.map(|mine| if u64::from(mine) > MOST_RATIO * u64::from(fewest) { (fewest, mine) } else { (1, 1) })
}
