//! Roofline: what a configuration would do if all SMs ran it, from the SMs that ran it beside others. Own; docs/roofline.md derives it.
//!
//! Side by side, configurations share DRAM with all others: one that asks for more than its part gets it from those that ask for less.
//! On all SMs it would have only itself to share with. If `T` sectors per window and SM go to DRAM, `N` SMs ask for `N T`; a DRAM that
//! moves `B` takes `N T / B` windows for that, if that is more than one. So of what was counted, the whole GPU would do a
//!
//! `share = min(1, B / (N T))`
//!
//! (the roofline of Williams et al., CACM 2009, per configuration). The same holds for every kernel alone, and so for the
//! normalisers of progress.

use fixed::types::U16F16;

/// A share of 1.
pub const ONE: u32 = 1 << 16;
/// Quarters of DRAM's peak that it moves under load, the rest being turns between reads and writes, rows, refresh: 0.75, as the
/// coordinated combination takes it (algorithms.md section 1.13). Not fitted; docs/roofline.md has what other values give.
const SUSTAINED_QUARTERS: u64 = 3;
/// Speedup and progress are at most this, in parts of 2^16: 16, of at most 4 kernels.
const MOST: u32 = 16 << 16;
/// Fraction bits of a score.
pub const SCORE_BITS: u32 = 24;

/// What to make large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The fourth power of S, times STP: the speedup, and of configurations that are nearly as fast the one that furthers all kernels.
    #[default]
    Both,
    /// STP.
    Stp,
}

/// Sectors that an SM's counters say DRAM moves for it: loads that miss the L2, and every sector stored, which is written back in the
/// end. Whether a store hits makes no difference to that, and counters do not tell: what goes to the L2 beyond load misses of the L1 is
/// stores, and no more can go to DRAM than came to the L2.
#[must_use]
pub const fn traffic(l1_load_misses: u32, l2_accesses: u32, l2_hits: u32) -> u32 {
    // With `accesses - misses` stores: `min(accesses, accesses - hits + stores)`.
    l2_accesses.saturating_sub(l2_hits.saturating_add(l1_load_misses).saturating_sub(l2_accesses))
}

/// The part, of [`ONE`], of what was counted that would remain if all `sms` SMs ran what made `traffic` sectors in `cycles` SM cycles.
/// `dram_sectors` is DRAM's peak per cycle; 0 if that is not known, and then there is no limit.
#[must_use]
pub fn share(traffic: u32, cycles: u32, sms: u16, dram_sectors: U16F16) -> u32 {
    // 32 bits times 25 bits times 2 bits.
    let peak = u64::from(dram_sectors.to_bits()).wrapping_mul(cycles.into());
    let moved = peak.wrapping_mul(SUSTAINED_QUARTERS) >> (16 + 2);
    let asked = u64::from(traffic).wrapping_mul(sms.into());
    if moved >= asked || dram_sectors == U16F16::ZERO {
        return ONE;
    }
    // The 16 leading bits of what is asked for: a division of 32 bits, right to some parts of 2^16. At most 28 + 8 bits.
    let (mut moved, mut asked) = (moved, asked);
    while asked >> 16 != 0 {
        (moved, asked) = (moved >> 1, asked >> 1);
    }
    ((moved as u32) << 16).checked_div(asked as u32).unwrap_or(ONE)
}

/// A part of a count, of [`ONE`] and at most that: no more than the count.
#[inline(always)]
#[must_use]
pub fn part(count: u32, share: u32) -> u32 {
    (u64::from(count).wrapping_mul(share.into()) >> 16) as u32
}

/// The score of a configuration that made `speedup` and `progress`, in parts of 2^16, and would keep `share` of it; in parts of 2^24.
#[must_use]
pub fn value(objective: Objective, speedup: u32, progress: u32, share: u32) -> u32 {
    let mut factor = 1 << SCORE_BITS;
    if objective == Objective::Both {
        let once = u64::from(part(speedup, share).min(MOST));
        // At most 2^24 in parts of 2^16, then 2^40 in parts of 2^24, then 2^60.
        let square = once.wrapping_mul(once) >> 16;
        factor = square.wrapping_mul(square) >> (32 - SCORE_BITS);
    }
    let value = factor.wrapping_mul(part(progress, share).min(MOST).into()) >> 16;
    value.min(u32::MAX.into()) as u32
}
