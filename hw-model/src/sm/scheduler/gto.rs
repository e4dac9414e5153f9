//! Greedy, then oldest (GTO; algorithms.md section 1.14, after CCWS, MICRO 2012): the warp that issued last as long as it can
//! go on, else the one that arrived first.

use crate::sm::warp::Warp;

/// The pick among `issuable` (not empty) when warp `last` issued last.
pub(super) fn pick<'a>(issuable: u32, last: u32, warp_of: impl Fn(u32) -> &'a Warp) -> u32 {
    if issuable >> last & 1 == 1 {
        return last;
    }
    let mut rest = issuable;
    let mut oldest = rest.trailing_zeros();
    let mut age = warp_of(oldest).age;
    rest &= rest - 1;
    while rest != 0 {
        let local = rest.trailing_zeros();
        rest &= rest - 1;
        let candidate = warp_of(local).age;
        if candidate < age {
            (oldest, age) = (local, candidate);
        }
    }
    oldest
}
