//! Lookahead algorithm: ways are assigned by the highest marginal utility over any number of
//! further ways (Qureshi and Patt 2006). Each kernel starts with one way.
//!
//! *Own, where the paper is silent:* at equal utility the kernel with fewer ways goes first, then
//! the lower slot. So ways without utility are divided evenly.

use super::Shares;
use mias_registers::KERNEL_SLOTS;

/// Utility curve of a kernel: hits by recency position, each weighted by `worth.0 / worth.1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve<'a> {
    pub(super) hits: &'a [u32],
    pub(super) worth: (u32, u32),
}

/// Hits per way, as a fraction.
#[derive(Clone, Copy, Debug)]
struct Gain {
    worth: u128,
    per: u128,
}

impl Gain {
    fn exceeds(self, other: Gain) -> bool {
        self.worth * other.per > other.worth * self.per
    }
}

impl Curve<'_> {
    /// Highest gain per way of a kernel with `held` ways over 1 to `most` further ones, and the
    /// smallest number that achieves it.
    fn best(&self, held: u16, most: u16) -> (Gain, u16) {
        let (mut best, mut hits) = ((Gain { worth: 0, per: 1 }, 1), 0u64);
        for more in 1..=most {
            hits += u64::from(self.hits.get(usize::from(held + more) - 1).copied().unwrap_or(0));
            let gain = Gain { worth: u128::from(hits) * u128::from(self.worth.0), per: u128::from(more) * u128::from(self.worth.1) };
            if gain.exceeds(best.0) {
                best = (gain, more);
            }
        }
        best
    }
}

/// Ways of each kernel, by slot; a slot without a curve has none. With more kernels than ways, the
/// first kernels have one each.
pub(super) fn lookahead(curves: &[Option<Curve<'_>>; KERNEL_SLOTS], ways: u16) -> Shares {
    let mut shares = [0; KERNEL_SLOTS];
    let mut left = ways;
    for (share, _) in shares.iter_mut().zip(curves).filter(|(_, curve)| curve.is_some()) {
        *share = left.min(1);
        left -= *share;
    }
    while left > 0 {
        let mut winner: Option<(usize, Gain, u16)> = None;
        for (slot, curve) in curves.iter().enumerate() {
            let Some(curve) = curve else { continue };
            let (gain, more) = curve.best(shares[slot], left);
            let wins = winner.is_none_or(|(other, best, _)| gain.exceeds(best) || (!best.exceeds(gain) && shares[slot] < shares[other]));
            if wins {
                winner = Some((slot, gain, more));
            }
        }
        let Some((slot, _, more)) = winner else { break };
        shares[slot] += more;
        left -= more;
    }
    shares
}
