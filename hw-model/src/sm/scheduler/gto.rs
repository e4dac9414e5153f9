//! Greedy, then oldest (GTO; sources.md D55, after Rogers et al. 2012): the warp that issued last as long as it can
//! go on, else the one that arrived first.

use crate::sm::residents::Residents;

/// The place to pick among `issuable` (not empty) when the warp of place `last`, as a bit, issued last.
#[inline]
pub(super) fn pick(issuable: u32, last: u32, warps: &Residents) -> u32 {
    let greedy = issuable & last;
    // A branch on a condition that the host could not predict would cost more than the look at one warp.
    warps.oldest(if greedy != 0 { greedy } else { issuable })
}
