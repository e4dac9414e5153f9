//! Effective bandwidth: the DRAM bandwidth of a kernel as its cores see it behind two caches (Wang
//! et al. 2018; sources.md D159).
//!
//! ```text
//! EB = attained DRAM bandwidth / combined miss rate      combined miss rate = L1's miss rate times L2's
//! ```
//!
//! With D DRAM sectors in C cycles, A accesses of the L1s and the L2, and M misses of each, it is
//! `(D / C) (A1 / M1) (A2 / M2)`, in sectors per core cycle. Misses are at least one. A cache that
//! a kernel does not use has a miss rate of 1.
//!
//! The quality of a combination of limits is one of three metrics. They are the sum over all
//! kernels (EB-WS), the smallest over the largest (EB-FI), and the harmonic mean (EB-HS).

use crate::search::{KernelCounts, ONE, QUOTIENT_BITS, quotient};

/// Metric over effective bandwidths, to be maximized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EbMetric {
    /// Sum: throughput.
    Sum,
    /// Smallest over largest: fairness.
    Ratio,
    /// Harmonic mean over the number of kernels: throughput and fairness.
    Harmonic,
}

/// Ratio of two numbers: a mantissa below 2^17, times a power of 2.
#[derive(Clone, Copy)]
struct Ratio {
    mantissa: u32,
    exponent: i32,
}

impl Ratio {
    /// Returns the ratio, accurate to a part in 2^14. 0 over any number is 0.
    fn of(number: u32, over: u32) -> Self {
        let over = over.max(1);
        // At most 31, except for the number 0.
        let (up, down) = (number.leading_zeros() & 31, over.leading_zeros());
        // 32 significant bits over 16.
        let mantissa = (number << up).checked_div((over << down) >> 16).unwrap_or(0);
        Self { mantissa, exponent: down as i32 - up as i32 - 16 }
    }
}

/// Returns the effective bandwidth of a kernel from its counts in a window, in sectors per core
/// cycle, in parts of 2^14.
#[must_use]
pub(super) fn effective_bandwidth(counts: &KernelCounts) -> u32 {
    let amplified = |accesses: u32, misses: u32| Ratio::of(accesses.max(1), if accesses == 0 { 1 } else { misses });
    let factors = [
        Ratio::of(counts.dram_sectors, counts.cycles),
        amplified(counts.l1_accesses, counts.l1_misses),
        amplified(counts.l2_accesses, counts.l2_accesses.saturating_sub(counts.l2_hits)),
    ];
    // Three factors of 17 bits.
    let product = factors.iter().fold(1_u64, |product, factor| product.saturating_mul(factor.mantissa.into()));
    let exponent = factors.iter().fold(QUOTIENT_BITS as i32, |sum, factor| sum.saturating_add(factor.exponent));
    let shift = exponent.unsigned_abs();
    let parts = if exponent < 0 {
        product.checked_shr(shift).unwrap_or(0)
    } else if product.leading_zeros() >= shift {
        product.checked_shl(shift).unwrap_or(0)
    } else {
        u64::MAX
    };
    u32::try_from(parts).unwrap_or(u32::MAX)
}

impl EbMetric {
    /// Returns the score of these effective bandwidths, where more is better.
    ///
    /// Scores are comparable for the same metric and number of kernels. The order of the kernels
    /// does not matter.
    #[must_use]
    pub fn score(self, bandwidths: &[u32]) -> u32 {
        let (least, most) = bandwidths.iter().fold((u32::MAX, 0), |(least, most), of| (least.min(*of), most.max(*of)));
        match self {
            Self::Sum => bandwidths.iter().fold(0, |sum: u32, of| sum.saturating_add(*of)),
            Self::Ratio => quotient(least.into(), most.into()).unwrap_or(0),
            Self::Harmonic => {
                // Each at most 1, and one equals 1. The sum is at most the number of kernels, in
                // parts of 2^14.
                let parts =
                    bandwidths.iter().fold(0, |sum: u32, of| sum.saturating_add(quotient(least.into(), (*of).into()).unwrap_or(ONE)));
                let inverse = (1 << (2 * QUOTIENT_BITS)) / parts.max(ONE);
                (u64::from(least).saturating_mul(inverse.into()) >> QUOTIENT_BITS) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(cycles: u32, dram_sectors: u32, [l1_accesses, l1_misses]: [u32; 2], [l2_accesses, l2_hits]: [u32; 2]) -> KernelCounts {
        KernelCounts { cycles, dram_sectors, l1_accesses, l1_misses, l2_accesses, l2_hits, ..KernelCounts::NONE }
    }

    /// Effective bandwidth by hand: DRAM moves 2 sectors per cycle. Of 10 accesses 5 miss the L1,
    /// and 4 of these miss the L2. The combined miss rate is 0.4, and the result 5 sectors per
    /// cycle.
    #[test]
    fn by_hand() {
        assert_eq!(effective_bandwidth(&counts(1000, 2000, [5000, 2500], [2500, 500])), 5 * ONE);
        // Without use of the caches it is DRAM's own bandwidth.
        assert_eq!(effective_bandwidth(&counts(1000, 2000, [0, 0], [0, 0])), 2 * ONE);
        assert_eq!(effective_bandwidth(&counts(1000, 2000, [0, 0], [2000, 0])), 2 * ONE);
        // No division by zero: no miss counts as one.
        assert_eq!(effective_bandwidth(&counts(1024, 1024, [8, 0], [0, 0])), 8 * ONE);
        assert_eq!(effective_bandwidth(&counts(0, 0, [0, 0], [0, 0])), 0);
        assert_eq!(effective_bandwidth(&counts(1, u32::MAX, [u32::MAX, 1], [u32::MAX, u32::MAX])), u32::MAX);
    }

    /// Scores by hand: of 1 and 4 the sum is 5, the ratio 1/4, and 1 / (1 + 1/4) is 0.8. Of 1, 2, 4
    /// and 4 the harmonic score is 1/2.
    #[test]
    fn metrics_by_hand() {
        assert_eq!([EbMetric::Sum, EbMetric::Ratio].map(|metric| metric.score(&[ONE, 4 * ONE])), [5 * ONE, ONE / 4]);
        let harmonic = |bandwidths: &[u32]| f64::from(EbMetric::Harmonic.score(bandwidths)) / f64::from(ONE);
        assert!((harmonic(&[ONE, 4 * ONE]) - 0.8).abs() < 1e-3);
        assert!((harmonic(&[ONE, 4 * ONE, 2 * ONE, 4 * ONE]) - 0.5).abs() < 1e-3);
        assert!((harmonic(&[300 * ONE, 300 * ONE]) - 150.0).abs() < 0.1);
        for metric in [EbMetric::Ratio, EbMetric::Harmonic] {
            assert_eq!(metric.score(&[0, ONE]), 0, "{metric:?}: who gets nothing is treated as badly as can be");
        }
        assert_eq!(EbMetric::Ratio.score(&[0, 0]), 0);
    }

    proptest! {
        /// The effective bandwidth is accurate to a part in four thousand, against floating point.
        #[test]
        fn it_is_the_quotient(
            cycles in 1..1_u32 << 21,
            dram in 0..1_u32 << 27,
            (l1, l1_part) in (0..1_u32 << 27, 0.0..=1.0_f64),
            (l2, l2_part) in (0..1_u32 << 27, 0.0..=1.0_f64),
        ) {
            let part = |of: u32, part: f64| (f64::from(of) * part) as u32;
            let (misses, hits) = (part(l1, l1_part), part(l2, l2_part));
            let found = f64::from(effective_bandwidth(&counts(cycles, dram, [l1, misses], [l2, hits])));
            let rate = |accesses: u32, misses: u32| if accesses == 0 { 1.0 } else { f64::from(misses.max(1)) / f64::from(accesses) };
            let exact = f64::from(dram) / f64::from(cycles) / rate(l1, misses) / rate(l2, l2 - hits) * f64::from(ONE);
            let exact = exact.min(f64::from(u32::MAX));
            prop_assert!((found - exact).abs() <= 1.0 + exact / 4096.0, "{} is not {}", found, exact);
        }

        /// A score ignores the order of kernels, a kernel's gain never lowers the sum, and the mean
        /// agrees with floating point.
        #[test]
        fn scores_know_no_order(mut bandwidths in prop::collection::vec(0..1_u32 << 24, 2..5), more in 0..1_u32 << 20, of in 0..4_usize) {
            let metrics = [EbMetric::Sum, EbMetric::Ratio, EbMetric::Harmonic];
            let scores = metrics.map(|metric| metric.score(&bandwidths));
            let kernels = bandwidths.len();
            bandwidths.rotate_left(of % kernels);
            prop_assert_eq!(metrics.map(|metric| metric.score(&bandwidths)), scores);
            bandwidths[0] += more;
            prop_assert!(EbMetric::Sum.score(&bandwidths) >= scores[0]);
            let exact = 1.0 / bandwidths.iter().map(|of| 1.0 / f64::from(*of)).sum::<f64>();
            let found = f64::from(EbMetric::Harmonic.score(&bandwidths));
            prop_assert!((found - exact).abs() <= 2.0 + exact / 1000.0, "{} is not {}", found, exact);
        }
    }
}
