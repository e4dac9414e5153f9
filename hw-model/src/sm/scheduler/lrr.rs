//! Loose round robin (LRR; sources.md D55): the next warp, in the order of warp slots, after the
//! one that issued last; warps that cannot issue lose their turn.

/// Selects a warp of `issuable` (not empty) after warp `last` issued.
pub(super) fn pick(issuable: u32, last: u32) -> u32 {
    let after = issuable & (u32::MAX.checked_shl(last + 1).unwrap_or(0));
    if after != 0 { after.trailing_zeros() } else { issuable.trailing_zeros() }
}
