//! Greedy, then oldest (GTO; sources.md D55, after Rogers et al. 2012): the warp that issued last
//! while it can continue, else the one that arrived first.

use crate::sm::residents::Residents;

/// Selects a place of `issuable` (not empty); `last` is the bit of the warp that issued last.
#[inline]
pub(super) fn pick(issuable: u32, last: u32, warps: &Residents) -> u32 {
    let greedy = issuable & last;
    // An unpredictable branch on the host would cost more than examining one warp.
    warps.oldest(if greedy != 0 { greedy } else { issuable })
}
