//! The four metrics against exact rationals of unbounded size, which follow the printed equations
//! with averages per SM (Nasef 2023, eq. 3.1 to 3.9).
//!
//! The invariants are those of docs/porting/guarantees.md, "Invariants"; the number of each is in
//! the test.

use core::cmp::Ordering;

use crate::bodies::numbers::scores_are_ordered;
use crate::cases::cases;
use crate::exact::{Exact, exact, means, ratio, reference_factor, reference_ipc, reference_ipm_ipc, reference_linear};
use mias_firmware::configs::{ConfigTable, RoundTotals, Sums, TbVector};
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::kernel::Kernel;
use mias_firmware::metric::wide::{U96, compare_products};
use mias_firmware::metric::{Factor, Ipc, IpmIpc, Linear, Metric};
use mias_firmware::policy::{Context, Mias, Policy, Verdict};
use mias_firmware::quantity::Coefficient;
use mias_firmware::resources::{Resources, SmLimits};
use mias_registers::counters::Counter;
use num_bigint::BigInt;
use proptest::prelude::*;

fn linear(coefficient_q16: u32, literal: bool) -> Linear {
    Linear { coefficient: Coefficient::from_bits(coefficient_q16), literal }
}

prop_compose! {
    /// Sums over `sms` SMs, with each counter within its width and extremes likely.
    fn sums(sms: std::ops::RangeInclusive<u16>)(sms in sms)(
        sms in Just(sms),
        cycles in count(Counter::Cycles, sms), issue in count(Counter::IssueCycles, sms),
        stall in count(Counter::MemoryStallCycles, sms), load_requests in count(Counter::LoadRequests, sms),
        instructions in count(Counter::ThreadInsts, sms), outstanding in count(Counter::OutstandingMisses, sms),
    ) -> Sums {
        Sums {
            sms, cycles: cycles as u32, issue_cycles: issue as u32, memory_stall_cycles: stall as u32, load_requests: load_requests as u32,
            instructions: instructions as u32, outstanding_misses: outstanding, saturated: false,
        }
    }
}

fn count(counter: Counter, sms: u16) -> impl Strategy<Value = u64> {
    let max = u64::from(counter.max()) * u64::from(sms);
    prop_oneof![1 => Just(0), 1 => Just(max), 2 => 0..=max.min(50), 4 => 0..=max]
}

prop_compose! {
    /// Sums that no hardware can show.
    fn any_sums()(sms: u16, counts: [u32; 5], outstanding_misses: u64) -> Sums {
        let [cycles, issue_cycles, memory_stall_cycles, load_requests, instructions] = counts;
        Sums { sms, cycles, issue_cycles, memory_stall_cycles, load_requests, instructions, outstanding_misses, saturated: false }
    }
}

fn totals(configs: &[Sums]) -> RoundTotals {
    RoundTotals {
        sms: configs.iter().map(|sums| sums.sms).sum(),
        outstanding_misses: configs.iter().map(|sums| sums.outstanding_misses).sum(),
    }
}

/// A round of up to 256 SMs in up to 8 configurations.
fn round() -> impl Strategy<Value = Vec<Sums>> {
    prop_oneof![
        proptest::collection::vec(sums(1..=32), 1..=8),
        proptest::collection::vec(sums(128..=128), 2..=2),
        proptest::collection::vec(sums(256..=256), 1..=1),
    ]
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn scores_equal_the_exact_reference(configs in round(), coefficient: u32, literal: bool) {
        let totals = totals(&configs);
        for sums in &configs {
            let m = means(sums, &totals);
            prop_assert_eq!(exact(&Ipc.score(sums, &totals)), reference_ipc(&m));
            // Squared averages per SM: the replica count cancels.
            prop_assert_eq!(exact(&IpmIpc.score(sums, &totals)), reference_ipm_ipc(&m));
            prop_assert_eq!(exact(&Factor.score(sums, &totals)), reference_factor(&m));
            prop_assert_eq!(exact(&linear(coefficient, literal).score(sums, &totals)), reference_linear(&m, coefficient, literal));
        }
    }

    /// Scores compare as the exact values do, also across rounds with different totals.
    #[test]
    fn scores_compare_exactly(one in round(), two in round(), coefficient: u32) {
        let (first, second) = (totals(&one), totals(&two));
        let metric = linear(coefficient, false);
        let pairs = [
            (Factor.score(&one[0], &first), Factor.score(&two[0], &second)),
            (metric.score(&one[0], &first), metric.score(&two[0], &second)),
            (IpmIpc.score(&one[0], &first), IpmIpc.score(&two[0], &second)),
        ];
        for (a, b) in pairs {
            prop_assert_eq!(a.cmp(&b), exact(&a).cmp(&exact(&b)));
        }
    }

    /// Invariant 21: f is 1 for equal A, and the score is then the IPC. The mean of f over the SMs
    /// is 1. More A never increases the score.
    #[test]
    fn factor_properties(mut configs in round(), more in 0..10_000_u64) {
        let all = totals(&configs);
        if all.outstanding_misses != 0 {
            let f_sum: Exact = configs.iter().map(|sums| {
                let m = means(sums, &all);
                &m.outstanding * &m.sms / &m.all_outstanding * ratio(sums.sms)
            }).sum();
            prop_assert_eq!(f_sum, ratio(all.sms));
        }
        // The same totals with a larger share: f grows, so the score cannot grow.
        let mut stressed = configs[0];
        stressed.outstanding_misses += more;
        prop_assert!(Factor.score(&stressed, &all) <= Factor.score(&configs[0], &all));
        for sums in &mut configs {
            sums.outstanding_misses = 77 * u64::from(sums.sms);
        }
        let equal = totals(&configs);
        prop_assert!(configs.iter().all(|sums| Factor.score(sums, &equal) == Ipc.score(sums, &equal)));
    }

    /// Invariant 22: coefficient 0 is the IPC metric; so is equal A.
    #[test]
    fn linear_properties(mut configs in round(), coefficient: u32, literal: bool) {
        let all = totals(&configs);
        prop_assert!(configs.iter().all(|sums| linear(0, literal).score(sums, &all) == Ipc.score(sums, &all)));
        configs.iter_mut().for_each(|sums| sums.outstanding_misses = 5 * u64::from(sums.sms));
        let equal = totals(&configs);
        prop_assert!(configs.iter().all(|sums| linear(coefficient, literal).score(sums, &equal) == Ipc.score(sums, &equal)));
    }

    /// Invariant 23: scaling all misses does not change the order. With equal misses and cycles the
    /// order is that of the IPC.
    #[test]
    fn ipm_ipc_properties(a in sums(1..=1), b in sums(1..=1), factor in 1..50_u32) {
        let none = RoundTotals::default();
        let with = |sums: &Sums, load_requests: u32, cycles: u32| Sums { load_requests, cycles, issue_cycles: 0, ..*sums };
        let (ma, mb) = (a.load_requests.max(1), b.load_requests.max(1));
        let plain = IpmIpc.score(&with(&a, ma, a.cycles), &none).cmp(&IpmIpc.score(&with(&b, mb, b.cycles), &none));
        let scaled = IpmIpc.score(&with(&a, ma * factor, a.cycles), &none).cmp(&IpmIpc.score(&with(&b, mb * factor, b.cycles), &none));
        prop_assert_eq!(plain, scaled);
        let (a, b) = (with(&a, 9, 1000), with(&b, 9, 1000));
        prop_assert_eq!(IpmIpc.score(&a, &none).cmp(&IpmIpc.score(&b, &none)), Ipc.score(&a, &none).cmp(&Ipc.score(&b, &none)));
    }

    /// Invariant 24, for equal cycles and no clamps: all metrics choose alike if A and misses are
    /// equal on all SMs. Invariant 25: the order of adding SMs does not matter, because sums
    /// commute.
    #[test]
    fn metrics_agree_without_interference(instructions in proptest::collection::vec(1..1_000_000_u32, 3), coefficient: u32) {
        let configs: Vec<Sums> = instructions.iter().map(|instructions| Sums {
            sms: 1, cycles: 45_000, issue_cycles: 100, memory_stall_cycles: 3, load_requests: 17, instructions: *instructions,
            outstanding_misses: 99, saturated: false,
        }).collect();
        let by_ipc = decide(Ipc, &configs);
        prop_assert_eq!(decide(IpmIpc, &configs), by_ipc);
        prop_assert_eq!(decide(Factor, &configs), by_ipc);
        prop_assert_eq!(decide(linear(coefficient, false), &configs), by_ipc);
        let best = instructions.iter().max();
        prop_assert_eq!(instructions.iter().position(|count| Some(count) == best), Some(usize::from(by_ipc.get(0)) - 1));
    }

    /// Invariant 22: without clamps the `dM` of all SMs sum to zero, in the literal and in the
    /// per-SM variant.
    #[test]
    fn linear_takes_from_one_what_it_gives_to_another(configs in round(), coefficient in 1..1000_u32, literal: bool) {
        // Neither clamp applies: stalls suffice for the subtraction, and few cycles have an issue.
        let free: Vec<Sums> = configs.iter().map(|sums| Sums {
            cycles: 1 << 24, issue_cycles: 0, memory_stall_cycles: 1 << 24, instructions: 1, outstanding_misses: sums.outstanding_misses % 1000, ..*sums
        }).collect();
        let all = totals(&free);
        let delta = |sums: &Sums| {
            let score = exact(&linear(coefficient, literal).score(sums, &all));
            // I / (C + dM) of sums: replicas are added.
            ratio(sums.instructions) / score - ratio(sums.cycles)
        };
        prop_assert_eq!(free.iter().map(delta).sum::<Exact>(), ratio(0));
    }

    /// Invariants 23 and 25: an order exists for any counters.
    #[test]
    fn any_counters_have_an_order(one in any_sums(), other in any_sums(), sms: u16, outstanding_misses: u64, coefficient: u32, literal: bool) {
        scores_are_ordered(&one, &other, &RoundTotals { sms, outstanding_misses }, coefficient, literal);
    }

    /// The wide integer agrees with 128-bit and unbounded arithmetic.
    #[test]
    fn wide_arithmetic(a: u64, b: u32, c: u64, d: u32) {
        let (x, y) = (U96::product(a, b), U96::product(c, d));
        let (p, q) = (u128::from(a) * u128::from(b), u128::from(c) * u128::from(d));
        prop_assert_eq!((x.to_u128(), y.to_u128()), (p, q));
        prop_assert_eq!(x.cmp(&y), p.cmp(&q));
        prop_assert_eq!(x.saturating_sub(y).to_u128(), p.saturating_sub(q));
        prop_assert_eq!(x.wrapping_add(y).to_u128(), (p + q) & ((1 << 96) - 1));
        prop_assert_eq!(x.saturating_add(y).to_u128(), (p + q).min((1 << 96) - 1));
        let (big_p, big_q) = (BigInt::from(p), BigInt::from(q));
        let one = U96::from(c | 1);
        prop_assert_eq!(compare_products(x, y, y, x), Ordering::Equal);
        prop_assert_eq!(compare_products(x, one, y, y), (big_p * BigInt::from(c | 1)).cmp(&(&big_q * &big_q)));
    }
}

/// Returns the vector that MIAS broadcasts if configuration `i` is `(i + 1, 1)` with these sums.
fn decide(metric: impl Metric, configs: &[Sums]) -> TbVector {
    let demand = Resources { threads: 32, registers: 0, shared_bytes: 0, tbs: 1 };
    let limits = SmLimits {
        capacity: Resources { threads: 1024, registers: 0, shared_bytes: 0, tbs: 32 },
        warp_threads: 32,
        register_granule: 1,
        shared_granule_bytes: 1,
    };
    let kernel = Kernel { demand, max_tbs: 32, grid_tbs: 9999, unfinished_tbs: 9999, ..Kernel::default() };
    let gpu = GpuProperties { sm_count: 30, slot_count: 8, limits, ..GpuProperties::NONE };
    let mut table = ConfigTable::<8>::default();
    table.reset([0_u8, 1].into_iter());
    for (position, sums) in (0_u32..).zip(configs) {
        assert!(table.push(TbVector([position as u8 + 1, 1, 0, 0]), position));
        *table.sums_mut(position as usize).expect("just pushed") = *sums;
    }
    table.set_total(configs.len() as u32);
    let context = Context { gpu: &gpu, settings: &Settings::default(), kernels: &[kernel, kernel] };
    // No configuration is left untried, so the decision is final.
    match (Mias { metric }).on_done_profiling(&context, &mut table) {
        Verdict::Broadcast(vector) => vector,
        other => panic!("no decision: {other:?}"),
    }
}

/// Equal scores select the lexicographically lowest configuration.
#[test]
fn ties_go_to_the_lowest_configuration() {
    let same = Sums { sms: 1, cycles: 100, instructions: 50, ..Sums::default() };
    let twice = Sums { sms: 2, cycles: 200, instructions: 100, ..Sums::default() };
    assert_eq!(decide(Ipc, &[twice, same, same]), TbVector([1, 1, 0, 0]));
}

/// Configurations that no SM finished are not chosen, for any scores of the others.
#[test]
fn untried_configurations_do_not_win() {
    let poor = Sums { sms: 1, cycles: 100, ..Sums::default() };
    assert_eq!(decide(Ipc, &[Sums::default(), poor]), TbVector([2, 1, 0, 0]));
}
