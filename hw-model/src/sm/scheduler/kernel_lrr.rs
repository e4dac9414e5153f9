//! Kernel-LRR, then GTO (sources.md D55; Zhao et al. 2018, section 7.5): round robin among kernels
//! at a sub-core, so that age does not favor the kernel launched first; GTO among the warps of the
//! selected kernel.
//!
//! Own, where the sources are silent: a turn is one issue, turns go by kernel slot, and a kernel
//! without an issuable warp loses its turn. With one kernel it is GTO.

use crate::sm::KERNEL_SLOTS;
use crate::sm::residents::Residents;

/// Kernel slot selected after slot `last` issued, and its warps of `issuable` (not empty).
pub(super) fn turn(issuable: u32, last: u8, warps: &Residents) -> (u8, u32) {
    let (mut kernel, mut its_warps, mut nearest) = (0, 0, KERNEL_SLOTS);
    let mut rest = issuable;
    while rest != 0 {
        let bit = rest & rest.wrapping_neg();
        rest ^= bit;
        let of = warps.kernel(bit.trailing_zeros());
        // Slots from the one after `last` (0) to `last` itself.
        let distance = (usize::from(of) + 2 * KERNEL_SLOTS - 1 - usize::from(last)) % KERNEL_SLOTS;
        if distance < nearest {
            (kernel, its_warps, nearest) = (of, bit, distance);
        } else if distance == nearest {
            its_warps |= bit;
        }
    }
    (kernel, its_warps)
}
