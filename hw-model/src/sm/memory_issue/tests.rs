//! Comparison of the mechanisms with their sources (sources.md D123).

use super::dynamic_limit::{Milg, Rule, UNLIMITED};
use super::limit::Limits;
use super::order::Order;
use super::quota::{Quota, SAMPLE};
use super::warp_quota::WarpQuota;
use super::*;
use crate::config::{InFlightLimit, MemoryOrder, NoFails, StaticLimit, Unlimited};
use mias_policies::memory_limit::{Counted, MemoryLimit};
use mias_registers::option;
use proptest::prelude::*;

const BIT_EXACT: Rule = Rule { no_fails: NoFails::Unlimited, wide: false };

/// Generator after one interval of 1,024 requests with these fails and this peak in flight.
fn after(config: Rule, peak: u8, fails: u32) -> u8 {
    let mut generator = Milg::default();
    (1..=peak).for_each(|in_flight| generator.issued(in_flight));
    generator.observe(&config, 1023, fails, peak);
    assert_eq!(generator.limit(), UNLIMITED, "not before 1,024 requests");
    generator.observe(&config, 1, 0, peak);
    generator.limit()
}

#[test]
fn a_limit_is_the_peak_over_the_fails_per_request() {
    assert_eq!(after(BIT_EXACT, 24, 1024), 24);
    assert_eq!(after(BIT_EXACT, 24, 2047), 24, "the shift rounds down");
    assert_eq!(after(BIT_EXACT, 24, 2048), 12);
    assert_eq!(after(BIT_EXACT, 25, 3072), 8);
    assert_eq!(after(BIT_EXACT, 1, 4095), 1, "at least one");
    assert_eq!(after(BIT_EXACT, 96, 80 * 1024), 32, "12 bits of fails stay at 4,095");
    assert_eq!(after(Rule { wide: true, ..BIT_EXACT }, 96, 80 * 1024), 1);
    assert_eq!(after(BIT_EXACT, 24, 1023), UNLIMITED);
}

#[test]
fn without_fails_a_limit_goes_or_grows() {
    for (no_fails, expected) in [(NoFails::Unlimited, UNLIMITED), (NoFails::Grow, 5)] {
        let config = Rule { no_fails, wide: false };
        let mut generator = Milg::default();
        generator.issued(12);
        generator.observe(&config, 1024, 3 * 1024, 0);
        assert_eq!(generator.limit(), 4);
        generator.observe(&config, 1024, 1023, 0);
        assert_eq!(generator.limit(), expected);
    }
}

/// Quotas are proportional to the inverse of the requests per instruction.
#[test]
fn quotas_ask_for_as_many_requests_each() {
    let mut quota = Quota::default();
    quota.reside(0b111);
    assert_eq!(quota.left()[..3], [1, 1, 1]);
    // Three kernels with 1,024 requests each, of 512, 341 and 60 instructions: 2, 3 and 17 per
    // instruction.
    for (kernel, instructions) in [(0, 512), (1, 341), (2, 60)] {
        (0..instructions).for_each(|_| _ = quota.issued(kernel));
        quota.observe(kernel, SAMPLE.into());
    }
    assert_eq!(quota.requests_each()[..3], [2, 3, 17]);
    let before = quota.left();
    // The set that is added when a quota reaches zero: 102 / 2, 102 / 3, 102 / 17.
    let first = (0..3).min_by_key(|&kernel| before[kernel]).unwrap();
    (0..before[first]).for_each(|_| _ = quota.issued(first as u8));
    let after = quota.left();
    for (kernel, expected) in [51, 34, 6].into_iter().enumerate() {
        let used = if kernel == first { before[first] } else { 0 };
        assert_eq!(after[kernel], before[kernel] - used + expected, "{kernel}");
    }
}

#[test]
fn a_kernel_that_leaves_takes_its_quota_along() {
    let mut quota = Quota::default();
    quota.reside(0b11);
    quota.reside(0b01);
    (0..10).for_each(|_| _ = quota.issued(0));
    assert_eq!((quota.left()[1], quota.first(0b11)), (0, 0));
    quota.reside(0b11);
    assert!(quota.left()[..2].iter().all(|&left| left > 0));
}

/// Quotas of the first slots.
fn warp_quota(quotas: &[u32]) -> WarpQuota {
    WarpQuota::new(std::array::from_fn(|slot| quotas.get(slot).copied().unwrap_or(0))).expect("somebody has one")
}

/// A changed quota is full, others keep their rest, and without quotas no kernel waits.
#[test]
fn a_warp_quota_that_changes_is_whole() {
    let of = |quotas: [u32; 2]| std::array::from_fn(|slot| quotas.get(slot).copied().unwrap_or(0));
    let mut now = Some(warp_quota(&[2, 3]));
    let quota = now.as_mut().expect("there is one");
    quota.reside(0b11);
    [0, 0, 1].into_iter().for_each(|kernel| _ = quota.issued(kernel));
    WarpQuota::change(&mut now, of([2, 1]), 0b11);
    let quota = now.as_mut().expect("there is one");
    assert!(!quota.has_left(0) && quota.has_left(1));
    quota.issued(1);
    assert!(quota.has_left(0) && quota.has_left(1), "both were spent");
    WarpQuota::change(&mut now, of([0, 1]), 0b11);
    let quota = now.as_mut().expect("there is one");
    (0..9).for_each(|_| _ = quota.issued(0));
    assert!(quota.has_left(0) && quota.has_left(1));
    WarpQuota::change(&mut now, of([0, 0]), 0b11);
    assert!(now.is_none());
    WarpQuota::change(&mut now, of([4, 0]), 0b10);
    assert!(now.is_some_and(|quota| quota.has_left(0)));
}

#[test]
fn warp_quotas_are_renewed_when_all_are_spent() {
    let mut quota = warp_quota(&[2, 1]);
    quota.reside(0b11);
    quota.issued(1);
    assert!(quota.has_left(0) && !quota.has_left(1) && quota.has_left(7));
    quota.issued(0);
    assert!(!quota.has_left(1));
    quota.issued(0);
    assert!(quota.has_left(0) && quota.has_left(1));
    // No kernel waits for one that has left.
    quota.issued(1);
    quota.reside(0b10);
    assert!(quota.has_left(1));
}

#[test]
fn a_store_is_in_flight_until_its_last_acknowledgement() {
    let mut stores = InFlight::new();
    let (first, second) = (stores.store(2), stores.store(1));
    let ended = |stores: &mut InFlight| {
        let mut warps = Vec::new();
        stores.take(|warp| warps.push(warp));
        warps
    };
    stores.acknowledged(first, 7);
    assert!(ended(&mut stores).is_empty());
    stores.acknowledged(second, 9);
    stores.acknowledged(first, 7);
    assert_eq!(ended(&mut stores), [9, 7]);
    assert_ne!(stores.store(1), stores.store(1));
}

fn order_of(order: MemoryOrder) -> Order {
    let mut order = Order::new(order);
    order.reside(0xff);
    order
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` skips.
mod slow {
    use super::*;

    proptest! {
        /// Limits are at least 1 and never beyond the counter, for all inputs.
        #[test]
        fn limits_stay_in_their_bits(
            steps in prop::collection::vec((0u8..=127, 0u32..3000, 0u32..20_000), 1..50),
            wide: bool,
            grow: bool,
        ) {
            let config = Rule { no_fails: if grow { NoFails::Grow } else { NoFails::Unlimited }, wide };
            let mut generator = Milg::default();
            for (in_flight, requests, fails) in steps {
                generator.issued(in_flight);
                generator.observe(&config, requests, fails, in_flight);
                prop_assert!((1..=UNLIMITED).contains(&generator.limit()));
            }
        }

        /// The firmware's rule equals the hardware's. Over any number of whole intervals with
        /// constant fails and a constant peak, it finds the same limit from the sums, for all
        /// options.
        #[test]
        fn the_firmwares_limit_is_the_hardwares_on_a_steady_input(
            peak in 1u8..=127, fails in 0u32..20_000, intervals in 1u32..100, wide: bool, grow: bool,
        ) {
            let rule = Rule { no_fails: if grow { NoFails::Grow } else { NoFails::Unlimited }, wide };
            let mut hardware = Milg::default();
            for _ in 0..intervals {
                hardware.issued(peak);
                hardware.observe(&rule, 1024, fails, peak);
            }
            let asked = [(true, option::LIMIT_MEMORY), (grow, option::LIMIT_GROWS), (wide, option::LIMIT_WIDE)];
            let firmware = MemoryLimit::of(asked.iter().fold(0, |options, (asked, bit)| options | if *asked { *bit } else { 0 }));
            let counted = Counted { requests: 1024 * intervals, fails: fails * intervals, peak: peak.into() };
            prop_assert_eq!(firmware.limit(counted, UNLIMITED.into()), u32::from(hardware.limit()));
        }

        /// Round robin: between two turns of a kernel that is always ready, every other such kernel
        /// has had one turn.
        #[test]
        fn turns_go_round(ready in 1u8..=255) {
            let mut order = order_of(MemoryOrder::RoundRobin);
            let mut turns = Vec::new();
            for _ in 0..2 * ready.count_ones() {
                let first = order.first(ready);
                prop_assert!(first.is_power_of_two() && first & ready != 0);
                order.issued(first.trailing_zeros() as u8);
                turns.push(first);
            }
            let (once, again) = turns.split_at(turns.len() / 2);
            prop_assert_eq!(once.iter().fold(0, |set, turn| set | turn), ready);
            prop_assert_eq!(once, again);
        }

        /// Quotas: with constant requests per instruction, kernels that are always ready make
        /// equally many requests to within one set.
        #[test]
        fn quotas_balance_requests(each in prop::collection::vec(1u32..=32, 2..4)) {
            let mut order = order_of(MemoryOrder::Quota);
            order.reside((1 << each.len()) - 1);
            let ready = (1u8 << each.len()) - 1;
            let mut requests = vec![0u64; each.len()];
            let set: u64 = each.iter().fold(1, |multiple, &r| {
                let (mut a, mut b) = (multiple, u64::from(r));
                while b != 0 { (a, b) = (b, a % b); }
                multiple / a * u64::from(r)
            });
            // This runs until every kernel's requests per instruction are known: 1,024 requests of
            // the slowest, and those of the others meanwhile.
            for round in 0..200_000u64 {
                let kernel = order.first(ready).trailing_zeros() as usize;
                order.issued(kernel as u8);
                order.observe(kernel as u8, each[kernel].into());
                requests[kernel] += u64::from(each[kernel]);
                if round == 100_000 {
                    requests.fill(0);
                }
            }
            let (least, most) = (requests.iter().min().unwrap(), requests.iter().max().unwrap());
            prop_assert!(most - least <= 3 * set + 3 * 1024 / 10, "{:?} of {:?}, set {}", requests, each, set);
        }

        /// Each set adds the same number of requests for every kernel, at any time (Dai et al.
        /// 2018, section 3.2).
        #[test]
        fn a_set_asks_for_as_many_requests_of_each(
            each in prop::collection::vec(1u32..=12, 2..5),
            steps in prop::collection::vec((0usize..5, 1u32..200), 1..200),
        ) {
            let mut quota = Quota::default();
            quota.reside((1 << each.len()) - 1);
            for (kernel, instructions) in steps {
                let kernel = kernel % each.len();
                for _ in 0..instructions {
                    let before = quota.left();
                    quota.issued(kernel as u8);
                    let after = quota.left();
                    let added = |slot: usize| u32::from(after[slot]) + u32::from(slot == kernel) - u32::from(before[slot]);
                    let requests: Vec<u32> = (0..each.len()).map(|slot| added(slot) * u32::from(quota.requests_each()[slot])).collect();
                    let full = after.contains(&u16::MAX);
                    prop_assert!(full || requests.iter().all(|&of| of == requests[0]), "{:?}", requests);
                    prop_assert!(after[..each.len()].iter().all(|&left| left > 0), "a kernel with none is given a set at once");
                    quota.observe(kernel as u8, each[kernel].into());
                }
            }
        }

        /// Quotas stay within 16 bits: repeated sets that are too large neither wrap nor reduce a
        /// quota.
        #[test]
        fn quotas_saturate_at_sixteen_bits(steps in prop::collection::vec(0u8..6, 1..300)) {
            // The least common multiple is 86,822,723; divided by any of them it exceeds 16 bits.
            let each = [31u32, 29, 23, 19, 17, 13];
            let mut quota = Quota::default();
            quota.reside(0b11_1111);
            for (kernel, requests) in (0u8..).zip(each) {
                // A few more than 1,024 requests, in as many instructions as give `requests` per
                // instruction.
                let instructions = SAMPLE / requests + 1;
                (0..instructions).for_each(|_| _ = quota.issued(kernel));
                quota.observe(kernel, u64::from(instructions * requests));
            }
            prop_assert_eq!(quota.requests_each()[..6].to_vec(), each.map(|each| each as u8).to_vec());
            let lowest = (0..6).min_by_key(|&slot| quota.left()[slot]).unwrap();
            (0..quota.left()[lowest]).for_each(|_| _ = quota.issued(lowest as u8));
            prop_assert_eq!(quota.left()[..6].to_vec(), vec![u16::MAX; 6], "a set is more than 16 bits for each of them");
            for kernel in steps {
                let before = quota.left();
                quota.issued(kernel);
                for (slot, (before, after)) in before.into_iter().zip(quota.left()).enumerate() {
                    prop_assert_eq!(after, before - u16::from(slot == usize::from(kernel)));
                }
            }
        }

        /// No kernel issues beyond its quota before all other resident kernels have spent theirs.
        /// Kernels that may issue differ by at most a set, and a single kernel with a quota never
        /// waits.
        #[test]
        fn warp_quotas_are_spent_by_all_before_a_new_set(
            quotas in prop::collection::vec(1u32..40, 2..5),
            turns in prop::collection::vec(0usize..5, 1..2_000),
        ) {
            let kernels = quotas.len();
            let mut quota = warp_quota(&quotas);
            // In addition, one kernel has no quota.
            quota.reside((1 << (kernels + 1)) - 1);
            let mut issued = vec![0u32; kernels];
            for turn in turns {
                let kernel = turn % (kernels + 1);
                prop_assert!(quota.has_left(kernels as u8));
                if kernel == kernels || !quota.has_left(kernel as u8) {
                    quota.issued(kernels as u8);
                    continue;
                }
                quota.issued(kernel as u8);
                issued[kernel] += 1;
                let sets: Vec<u32> = issued.iter().zip(&quotas).map(|(issued, quota)| issued / quota).collect();
                let whole = *sets.iter().min().unwrap();
                for (slot, (issued, quota_of)) in issued.iter().zip(&quotas).enumerate() {
                    prop_assert!(*issued <= (whole + 1) * quota_of, "no more than the set that all are in");
                    prop_assert_eq!(quota.has_left(slot as u8), *issued < (whole + 1) * quota_of);
                }
            }
        }

        /// A kernel at its limit may not issue; below it, it may. A kernel without a limit always
        /// may.
        #[test]
        fn static_limits_are_kept(limit in 1u8..=127, in_flight in 0u16..300) {
            let limits = Limits::of(&MemorySettings::of(&MemoryIssueConfig {
                in_flight: InFlightLimit::Static,
                limits: vec![StaticLimit::Any(Unlimited::Inf), StaticLimit::Most(limit)],
                ..MemoryIssueConfig::default()
            }), BIT_EXACT);
            prop_assert!(limits.room(0, in_flight) && limits.room(2, in_flight));
            prop_assert_eq!(limits.room(1, in_flight), in_flight < u16::from(limit));
        }
    }
}
