//! Properties of basic parts, each as a function of arbitrary numbers.
//!
//! Unit tests call them with edge cases. Under `cfg(kani)`,
//! [Kani](https://github.com/model-checking/kani) proves them for all inputs (`cargo kani -p
//! mias-firmware`, if Kani is installed; no other part of the build needs it). The properties of
//! the whole firmware are in the crate `mias-policies`.

use crate::bodies::numbers::{configurations_are_feasible, scores_are_ordered};
use crate::configs::{RoundTotals, Stride, Sums, TbVector};
use crate::metric::wide::U96;
use crate::resources::{Resources, SmLimits, TbShape};
use crate::sm_set::{SmSet, SmWord};

/// A product of 64 and 32 bits is exact in 96.
fn product_is_exact(a: u64, b: u32) {
    assert_eq!(U96::product(a, b).to_u128(), u128::from(a) * u128::from(b));
}

/// After the maximum number of TBs no other TB fits.
fn max_tbs_is_the_most(capacity: Resources, tb: Resources) {
    let most = capacity.max_tbs(&tb).min(255);
    let left = capacity.minus(&tb, most);
    assert!(left.is_some());
    if most < 255 {
        assert!(left.is_some_and(|left| !left.fits(&Resources { tbs: tb.tbs.max(1), ..tb })));
    }
}

/// A set counts each SM once, and contains the inserted SMs.
fn set_counts_once(first: SmWord, second: SmWord) {
    let mut set = SmSet::EMPTY;
    set.insert(first);
    set.insert(second);
    let expected = if first.word == second.word {
        (first.bits | second.bits).count_ones()
    } else {
        first.bits.count_ones() + second.bits.count_ones()
    };
    assert_eq!(u32::from(set.len()), expected);
}

/// Vectors are ordered as slices are.
fn vectors_are_lexicographic(a: [u8; 4], b: [u8; 4]) {
    assert_eq!(TbVector(a).cmp(&TbVector(b)), a.cmp(&b));
}

/// A stride picks exactly the requested number, and the first item.
fn stride_picks_as_many(want: u32, total: u32) {
    let mut stride = Stride::new(want, total);
    let picks = (0..total).filter(|_| stride.pick()).count();
    assert_eq!(picks, want.min(total) as usize);
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: [u32; 6] = [0, 1, 2, 0x8000_0000, u32::MAX - 1, u32::MAX];

    #[test]
    fn numbers() {
        for a in EDGES {
            for b in EDGES {
                product_is_exact(u64::from(a) << 32 | u64::from(b), b);
                vectors_are_lexicographic(a.to_be_bytes(), b.to_be_bytes());
                set_counts_once(SmWord { word: 0, bits: a }, SmWord { word: 7, bits: b });
                set_counts_once(SmWord { word: 3, bits: a }, SmWord { word: 3, bits: b });
            }
        }
        (0..20).for_each(|total| (0..25).for_each(|want| stride_picks_as_many(want, total)));
    }

    #[test]
    fn whole() {
        for edge in EDGES {
            let sums = Sums { sms: 1, cycles: edge, memory_stall_cycles: !edge, outstanding_misses: edge.into(), ..Sums::default() };
            let totals = RoundTotals { sms: edge as u16, outstanding_misses: u64::MAX };
            scores_are_ordered(&sums, &Sums { cycles: 7, ..sums }, &totals, edge, edge % 2 == 0);
            let shape = TbShape { threads: edge, thread_registers: 1, shared_bytes: edge };
            let capacity = Resources { threads: edge, registers: edge, shared_bytes: 9, tbs: 40 };
            let limits = SmLimits { capacity, warp_threads: 32, register_granule: edge, shared_granule_bytes: 1 };
            configurations_are_feasible(&limits, &[(shape, 255), (TbShape::default(), 9)], 100);
        }
    }

    #[test]
    fn resources() {
        let amounts = [0, 1, 7, 1024, u32::MAX];
        for threads in amounts {
            for registers in amounts {
                for needed in amounts {
                    let capacity = Resources { threads, registers, shared_bytes: 4096, tbs: 32 };
                    max_tbs_is_the_most(capacity, Resources { threads: needed, registers: 7, shared_bytes: 0, tbs: 1 });
                }
            }
        }
    }
}

#[cfg(kani)]
mod harnesses {
    use super::*;

    fn resources() -> Resources {
        Resources { threads: kani::any(), registers: kani::any(), shared_bytes: kani::any(), tbs: kani::any() }
    }

    fn sms() -> SmWord {
        let word: u8 = kani::any();
        kani::assume(word < 8);
        SmWord { word, bits: kani::any() }
    }

    #[kani::proof]
    fn product() {
        product_is_exact(kani::any(), kani::any());
    }

    #[kani::proof]
    fn max_tbs() {
        let (capacity, tb) = (resources(), resources());
        kani::assume(capacity.tbs <= 255 && tb.tbs == 1);
        max_tbs_is_the_most(capacity, tb);
    }

    #[kani::proof]
    fn set() {
        set_counts_once(sms(), sms());
    }

    #[kani::proof]
    fn vectors() {
        vectors_are_lexicographic(kani::any(), kani::any());
    }

    #[kani::proof]
    #[kani::unwind(17)]
    fn stride() {
        let (want, total): (u32, u32) = (kani::any(), kani::any());
        kani::assume(total <= 16);
        stride_picks_as_many(want, total);
    }

    #[kani::proof]
    #[kani::unwind(9)]
    fn configurations() {
        let capacity = resources();
        kani::assume(capacity.tbs <= 4);
        let limits = SmLimits { capacity, warp_threads: kani::any(), register_granule: kani::any(), shared_granule_bytes: kani::any() };
        let shape = || TbShape { threads: kani::any(), thread_registers: kani::any(), shared_bytes: kani::any() };
        configurations_are_feasible(&limits, &[(shape(), kani::any()), (shape(), kani::any())], 8);
    }

    fn sums() -> Sums {
        Sums {
            sms: kani::any(),
            cycles: kani::any(),
            issue_cycles: kani::any(),
            memory_stall_cycles: kani::any(),
            load_requests: kani::any(),
            instructions: kani::any(),
            outstanding_misses: kani::any(),
            saturated: false,
        }
    }

    #[kani::proof]
    fn scores() {
        let totals = RoundTotals { sms: kani::any(), outstanding_misses: kani::any() };
        scores_are_ordered(&sums(), &sums(), &totals, kani::any(), kani::any());
    }
}
