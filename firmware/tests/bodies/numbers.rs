//! Arithmetic properties: configurations fit and are maximal (invariants 1, 2 and 17 of
//! docs/porting/guarantees.md), and scores have an order for any counters (23, 25).

use core::cmp::Ordering;

use mias_firmware::configs::{Candidate, Generator, RoundTotals, Sums};
use mias_firmware::metric::{Factor, Ipc, IpmIpc, Linear, Metric, Score};
use mias_firmware::quantity::Coefficient;
use mias_firmware::resources::{SmLimits, TbShape};

/// Each of the first `most` configurations fits the SM, and no TB of any kernel fits in addition.
pub(crate) fn configurations_are_feasible(limits: &SmLimits, shapes: &[(TbShape, u8)], most: usize) {
    let empty = Candidate { demand: limits.demand(&TbShape::default()), cap: 0 };
    let mut candidates = [empty; 4];
    for (candidate, (shape, cap)) in candidates.iter_mut().zip(shapes) {
        *candidate = Candidate { demand: limits.demand(shape), cap: *cap };
    }
    let candidates = &candidates[..shapes.len().min(4)];
    let mut last = None;
    for vector in Generator::new(limits.capacity, candidates).take(most) {
        let mut rest = Some(limits.capacity);
        for (candidate, tbs) in candidates.iter().zip(vector.0) {
            assert!(tbs <= candidate.cap);
            rest = rest.and_then(|rest| rest.minus(&candidate.demand, tbs.into()));
        }
        let Some(rest) = rest else { panic!("{vector:?} does not fit") };
        let full = |(candidate, tbs): (&Candidate, u8)| tbs == candidate.cap || tbs == u8::MAX || !rest.fits(&candidate.demand);
        assert!(candidates.iter().zip(vector.0).all(full), "{vector:?} leaves room");
        assert!(last < Some(vector), "in lexicographic order, each once");
        last = Some(vector);
    }
}

/// Scores under every metric have positive denominators, and an order that does not depend on the
/// direction of comparison.
pub(crate) fn scores_are_ordered(one: &Sums, other: &Sums, totals: &RoundTotals, coefficient: u32, literal: bool) {
    let linear = Linear { coefficient: Coefficient::from_bits(coefficient), literal };
    let pairs: [(Score, Score); 4] = [
        (Ipc.score(one, totals), Ipc.score(other, totals)),
        (IpmIpc.score(one, totals), IpmIpc.score(other, totals)),
        (Factor.score(one, totals), Factor.score(other, totals)),
        (linear.score(one, totals), linear.score(other, totals)),
    ];
    for (a, b) in pairs {
        assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        assert_eq!(a.cmp(&a), Ordering::Equal);
    }
    // Within the counters' widths no denominator is 0.
    let in_width = |sums: &Sums| sums.sms != 0 && sums.outstanding_misses <= totals.outstanding_misses && totals.sms >= sums.sms;
    if in_width(one) && totals.outstanding_misses < 1 << 33 {
        assert!(pairs.iter().all(|(a, _)| a.denominator.to_u128() != 0));
    }
}
