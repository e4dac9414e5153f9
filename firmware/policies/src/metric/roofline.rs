//! Roofline: what a configuration would do if all SMs ran it, from the SMs that ran it beside others. Own; docs/roofline.md derives it.
//!
//! Side by side, configurations share DRAM with all others: one that asks for more than its part gets it from those that ask for less.
//! On all SMs it would have only itself to share with. If `T` sectors per window and SM go to DRAM, `N` SMs ask for `N T`; a DRAM that
//! moves `B` (15/16 of its peak) takes `N T / B` windows for that, if that is more than one. So of what was counted, the whole GPU would do a
//!
//! `share = min(1, B / (N T))`
//!
//! (the roofline of Williams et al. 2009, per configuration). The same holds for every kernel alone, and so for the
//! normalisers of progress.

use fixed::traits::LossyFrom;

use mias_firmware::quantity::{Count, Gain, SectorRate, Share, Sixteenths, WideWorth, Worth, product, saturating, whole, wrapping};

/// The part of DRAM's peak that it moves when it is asked for more, the rest being turns between reads and writes, rows, refresh: what the
/// kernels move alone that DRAM binds on the model of the thesis' machine, 0.965 (`blk`) and 0.936 (`fwt`), 0.95 in the mean, in sixteenths.
/// docs/roofline.md says how to measure it.
const SUSTAINED: Sixteenths = Sixteenths::lit("0.9375");
/// Speedup and progress are at most this: 16, of at most 4 kernels.
const MOST: Gain = Gain::lit("16");

/// What to make large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The square of S, times STP: the speedup, and of configurations that are nearly as fast the one that furthers all kernels.
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

/// The part of what was counted that would remain if all `sms` SMs ran what made `traffic` sectors in `cycles` SM cycles.
/// `dram_sectors` is DRAM's peak per cycle; 0 if that is not known, and then there is no limit.
#[must_use]
pub fn share(traffic: u32, cycles: u32, sms: u16, dram_sectors: SectorRate) -> Share {
    // 32 bits times 25 bits times 4 bits.
    let moved = u64::lossy_from(product(dram_sectors.wide_mul(Count::from_bits(cycles)), SUSTAINED));
    let asked = u64::from(traffic).wrapping_mul(sms.into());
    if moved >= asked || dram_sectors == SectorRate::ZERO {
        return Share::ONE;
    }
    // The 16 leading bits of what is asked for: a division of 32 bits, right to some parts of 2^16. At most 28 + 8 bits.
    let (mut moved, mut asked) = (moved, asked);
    while asked >> 16 != 0 {
        (moved, asked) = (moved >> 1, asked >> 1);
    }
    let moved: Share = whole(moved as u32);
    moved.checked_div_int(asked as u32).unwrap_or(Share::ONE)
}

/// A part of a count: no more than the count.
#[inline(always)]
#[must_use]
pub fn part(count: u32, share: Share) -> u32 {
    let part: Count = wrapping(share.wide_mul(Count::from_bits(count)));
    part.to_bits()
}

/// The score of a configuration that made `speedup` and `progress` and would keep `share` of it.
#[must_use]
pub fn value(objective: Objective, speedup: Gain, progress: Gain, share: Share) -> Worth {
    let kept = |made: Gain| MOST.min(wrapping(made.wide_mul(share)));
    let mut factor = WideWorth::ONE;
    if objective == Objective::Both {
        let once = kept(speedup);
        // At most 2^8.
        factor = WideWorth::lossy_from(once.wide_mul(once));
    }
    // At most 2^12.
    saturating(product(factor, kept(progress)))
}
