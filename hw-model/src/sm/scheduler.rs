//! Warp schedulers: which of the issuable warps of a sub-core issues (algorithms.md section 1.14).

use super::warp::Warp;
use crate::config::WarpSchedulerKind;

/// A scheduler and what it remembers between cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picker {
    kind: WarpSchedulerKind,
    /// Local number of the warp that issued last.
    last: u32,
}

impl Picker {
    pub(super) fn new(kind: WarpSchedulerKind) -> Self {
        Picker { kind, last: 0 }
    }

    /// Local number of the warp that was picked last.
    pub(super) fn last(&self) -> u32 {
        self.last
    }

    /// Picks one of `issuable` (not empty; bit = local number). `warp_of` gives the warp of a local number.
    pub(super) fn pick<'a>(&mut self, issuable: u32, warp_of: impl Fn(u32) -> &'a Warp) -> u32 {
        let local = match self.kind {
            WarpSchedulerKind::Gto => greedy_then_oldest(issuable, self.last, warp_of),
            WarpSchedulerKind::Lrr => loose_round_robin(issuable, self.last),
        };
        self.last = local;
        local
    }
}

/// The warp that issued last if it can go on, else the one that arrived first.
fn greedy_then_oldest<'a>(issuable: u32, last: u32, warp_of: impl Fn(u32) -> &'a Warp) -> u32 {
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

/// The next issuable warp after the one that issued last.
fn loose_round_robin(issuable: u32, last: u32) -> u32 {
    let after = issuable & (u32::MAX.checked_shl(last + 1).unwrap_or(0));
    if after != 0 { after.trailing_zeros() } else { issuable.trailing_zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warps(ages: [u32; 4]) -> Vec<Warp> {
        ages.map(|age| Warp { age, ..Warp::EMPTY }).to_vec()
    }

    #[test]
    fn gto_stays_with_its_warp_and_falls_back_to_the_oldest() {
        let warps = warps([5, 3, 9, 4]);
        let mut gto = Picker::new(WarpSchedulerKind::Gto);
        let mut pick = |issuable| gto.pick(issuable, |i| &warps[i as usize]);
        assert_eq!(pick(0b1110), 1, "oldest of 1, 2, 3");
        assert_eq!(pick(0b1111), 1, "greedy");
        assert_eq!(pick(0b1101), 3, "1 stalls, 3 is the oldest left");
        assert_eq!(pick(0b1111), 3, "greedy again, although 1 is older");
    }

    #[test]
    fn lrr_takes_turns() {
        let warps = warps([0; 4]);
        let mut lrr = Picker::new(WarpSchedulerKind::Lrr);
        let order: Vec<u32> = [0b1111, 0b1111, 0b1011, 0b1111, 0b1111].map(|m| lrr.pick(m, |i| &warps[i as usize])).to_vec();
        assert_eq!(order, [1, 2, 3, 0, 1]);
    }
}
