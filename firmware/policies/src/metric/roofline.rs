//! Roofline: prediction of a configuration's performance on all SMs, from the SMs that ran it in a
//! profile. Own; docs/results/roofline.md derives it.
//!
//! In a profile, configurations share DRAM with all others. A configuration with a high demand
//! takes bandwidth from those with a low demand. On all SMs it would share only with itself. If `T`
//! sectors per window and SM go to DRAM, `N` SMs need `N T`. A DRAM that transfers `B` (15/16 of
//! its peak) takes `N T / B` windows for that, if that is more than one. Of the measured counts the
//! whole GPU would therefore reach a
//!
//! `share = min(1, B / (N T))`
//!
//! (the roofline of Williams et al. 2009, per configuration). The same holds for every kernel
//! alone, and so for the normalizers of progress.

use fixed::traits::LossyFrom;

use mias_firmware::quantity::{Count, Gain, SectorRate, Share, Sixteenths, WideWorth, Worth, product, saturating, whole, wrapping};

/// Sustained part of DRAM's peak, in sixteenths.
///
/// The rest is lost to turnarounds between reads and writes, rows, and refresh. The value is the
/// bandwidth of the DRAM-bound isolated kernels on the model of the thesis' GPU: 0.965 (`blk`)
/// and 0.936 (`fwt`), 0.95 on average. docs/results/roofline.md describes the measurement.
const SUSTAINED: Sixteenths = Sixteenths::lit("0.9375");
/// Largest speedup and progress: 16, for at most 4 kernels.
const MOST: Gain = Gain::lit("16");

/// Objective to maximize.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// S squared, times STP: the speedup, and among nearly equal configurations the one that
    /// advances all kernels.
    #[default]
    Both,
    /// STP only.
    Stp,
}

/// Returns the sectors that DRAM transfers for an SM, by its counters: loads that miss the L2, and
/// every stored sector, which is written back in the end.
///
/// A store costs the same whether it hits or not, and the counters do not distinguish the two. L2
/// accesses beyond the L1's load misses are stores. DRAM cannot receive more than the L2 did.
#[must_use]
pub const fn traffic(l1_load_misses: u32, l2_accesses: u32, l2_hits: u32) -> u32 {
    // With `accesses - misses` stores: `min(accesses, accesses - hits + stores)`.
    l2_accesses.saturating_sub(l2_hits.saturating_add(l1_load_misses).saturating_sub(l2_accesses))
}

/// Returns the share of the counts that would remain if all `sms` SMs ran a configuration with
/// `traffic` sectors in `cycles` SM cycles.
///
/// `dram_sectors` is DRAM's peak per cycle; 0 if unknown, which means no limit.
#[must_use]
pub fn share(traffic: u32, cycles: u32, sms: u16, dram_sectors: SectorRate) -> Share {
    // 32 bits times 25 bits times 4 bits.
    let moved = u64::lossy_from(product(dram_sectors.wide_mul(Count::from_bits(cycles)), SUSTAINED));
    let asked = u64::from(traffic).wrapping_mul(sms.into());
    if moved >= asked || dram_sectors == SectorRate::ZERO {
        return Share::ONE;
    }
    // The 16 leading bits of the demand allow a 32-bit division, accurate to a few parts of 2^16.
    // At most 28 + 8 bits.
    let (mut moved, mut asked) = (moved, asked);
    while asked >> 16 != 0 {
        (moved, asked) = (moved >> 1, asked >> 1);
    }
    let moved: Share = whole(moved as u32);
    moved.checked_div_int(asked as u32).unwrap_or(Share::ONE)
}

/// Returns a share of a count, at most the count.
#[inline(always)]
#[must_use]
pub fn part(count: u32, share: Share) -> u32 {
    let part: Count = wrapping(share.wide_mul(Count::from_bits(count)));
    part.to_bits()
}

/// Returns the score of a configuration with the measured `speedup` and `progress`, of which
/// `share` remains.
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
