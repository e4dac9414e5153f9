//! Fair share on kernels whose performance is a known function of their SMs.

use crate::cases::cases;
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::policy::Context;
use mias_firmware::policy::Next;
use mias_firmware::quantity::SectorRate;
use mias_policies::policy::{Alone, FairShare, FairShareStep, MOST_SHIFTS, Slowdowns};
use mias_policies::search::Searches as _;
use mias_policies::search::{KernelCounts, ONE, Parameters, Reach, Search, SmState, Supply};
use proptest::prelude::*;

const SUPPLY: Supply = Supply {
    sms: 24,
    schedulers: 2,
    access_sectors: 1,
    interconnect: SectorRate::lit("12"),
    l2: SectorRate::lit("12"),
    dram: SectorRate::lit("8"),
};

const REACH: Reach = Reach { base_permille: 400, row_hits_permille: 400 };

const PARAMETERS: Parameters = Parameters { warm_up: 20_000, window: 20_000, able: true, supply: SUPPLY, reach: REACH, ..Parameters::NONE };

/// Runs a search to its end. `count` gives a kernel's counts in a window by its number, its SMs,
/// and whether it runs alone. It returns each kernel's SMs in each window, and the search.
fn searched(sms: u16, kernels: usize, count: &mut dyn FnMut(usize, u16, bool) -> KernelCounts) -> (Vec<Vec<u16>>, Search, FairShare) {
    searched_by(Slowdowns::Alone, sms, kernels, count)
}

/// Runs a search with a given source of slowdowns.
fn searched_by(
    slowdowns: Slowdowns,
    sms: u16,
    kernels: usize,
    count: &mut dyn FnMut(usize, u16, bool) -> KernelCounts,
) -> (Vec<Vec<u16>>, Search, FairShare) {
    let mut search = Search::NONE;
    search.parameters = Parameters { supply: Supply { sms, ..SUPPLY }, ..PARAMETERS };
    search.begin(sms, kernels);
    let context = Context { gpu: &GpuProperties::NONE, settings: &Settings::NONE, kernels: &[] };
    let (mut policy, mut tried) = (FairShare::new(slowdowns), Vec::new());
    while policy.search(&context, &mut search) == Next::Measure {
        let active = |kernel| {
            let of_it = |holder: &mias_policies::search::Holder| holder.kernel == Some(kernel) && holder.state == SmState::Active;
            search.shares.holders().filter(of_it).count() as u16
        };
        let active: Vec<u16> = (0..kernels).map(active).collect();
        assert_eq!(search.shares.holders().filter(|holder| holder.kernel.is_some()).count(), usize::from(sms));
        let alone = policy.step == FairShareStep::Alone;
        (0..kernels).for_each(|kernel| search.counts[kernel] = count(kernel, active[kernel], alone));
        tried.push(active);
        policy.settled(&mut search);
        search.windows += 1;
        assert!(tried.len() <= kernels + 1 + usize::from(MOST_SHIFTS), "{tried:?}");
    }
    assert!(!search.measuring());
    (tried, search, policy)
}

fn did(instructions: u32, dram_sectors: u32) -> KernelCounts {
    KernelCounts { cycles: 20_000, instructions, warp_insts: 1, l2_accesses: dram_sectors, dram_sectors, ..KernelCounts::NONE }
}

/// The first kernel takes all of DRAM from 6 SMs on, and the second uses none and scales with its
/// SMs. Alone the first is as fast on 24 SMs as on 12, the second twice as fast. By hand: on 12 and
/// 12 they reach 1 and 1/2 of that; d = 0.5 12 12 / (0.5 12 + 1 12) = 4. On 8 and 16, 1 and 2/3:
/// 2.0. On 6 and 18, 1 and 3/4: 1.2. On 5 and 19, 5/6 and 19/24: none.
#[test]
fn a_saturating_and_a_growing_kernel_by_hand() {
    let mut count = |kernel: usize, sms: u16, _: bool| {
        if kernel == 0 { did(60_000 * u32::from(sms.min(6)), 160_000 * u32::from(sms.min(6)) / 6) } else { did(10_000 * u32::from(sms), 0) }
    };
    let (tried, search, policy) = searched(24, 2, &mut count);
    assert_eq!(tried, [[12, 0], [0, 12], [12, 12], [8, 16], [6, 18], [5, 19]]);
    assert_eq!([search.shares.active(0), search.shares.active(1)], [5, 19]);
    let progress = policy.progress();
    for (found, exact) in progress.iter().zip([5.0 / 6.0, 19.0 / 24.0]) {
        assert!((f64::from(*found) / f64::from(ONE) - exact).abs() < 1e-3, "{progress:?}");
    }
}

/// Two kernels that scale with their SMs, at any rates: the even split is fair, and stays.
#[test]
fn kernels_that_grow_alike_stay_even() {
    let (tried, search, _) = searched(24, 2, &mut |kernel, sms, _| did(if kernel == 0 { 90_000 } else { 700 } * u32::from(sms), 0));
    assert_eq!((tried.len(), search.shares.unused(), search.shares.active(0)), (3, 0, 12));
    // One kernel that the other slows down by half, on any shares: 12 and 12 make 1/4 and 1/2; d =
    // 0.25 144 / (0.25 12 + 0.5 12) = 4. 16 and 8: 1/3 each.
    let (tried, _, _) = searched(24, 2, &mut |kernel, sms, alone| did((2 - u32::from(kernel == 0 && !alone)) * 10_000 * u32::from(sms), 0));
    assert_eq!(tried[2..], [[12, 12], [16, 8]]);
}

/// The smallest growth of SMs, interconnect, L2 and DRAM counts.
#[test]
fn alone_it_is_limited_by_what_ends_first() {
    let multiple = |supply: Supply, accesses: u32, dram: u32| {
        let counts = KernelCounts { l2_accesses: accesses, dram_sectors: dram, ..did(20_000, 0) };
        // With the same counts, progress is one over the factor.
        f64::from(ONE) / f64::from(Alone::of(&counts, 8, &supply, &REACH).progress(&counts))
    };
    let close = |a: f64, b: f64| (a - b).abs() < 1e-3;
    assert!(close(multiple(SUPPLY, 0, 0), 3.0), "24 SMs for 8");
    assert!(close(multiple(SUPPLY, 20_000 * 6, 0), 2.0), "12 sectors per cycle for 6");
    assert!(close(multiple(Supply { l2: SectorRate::lit("9"), ..SUPPLY }, 20_000 * 6, 0), 1.5), "9 for 6");
    assert!(close(multiple(Supply { access_sectors: 2, ..SUPPLY }, 20_000 * 5, 0), 1.2), "12 for 5 of two");
    assert!(close(multiple(SUPPLY, 20_000 * 2, 20_000 * 2), 1.6), "0.4 of 8 for 2");
    assert!(close(multiple(SUPPLY, 20_000, 20_000 * 30), 1.0), "more than there is");
}

/// A kernel without progress, alone or always, causes no failure.
#[test]
fn who_does_nothing_is_not_divided_by() {
    let (_, search, _) = searched(24, 3, &mut |_, _, _| did(0, 0));
    assert_eq!([0, 1, 2].map(|kernel| search.shares.active(kernel)), [8, 8, 8]);
    // One kernel makes no progress with the other: more SMs change nothing, and the split stays
    // even.
    let (tried, search, _) = searched(24, 2, &mut |kernel, _, alone| did(u32::from(kernel == 1 || alone) * 500, 0));
    assert_eq!((tried.last(), search.shares.active(0)), (Some(&vec![18, 6]), 12));
}

/// By hand: a memory-intensive kernel has made half of 0.4 + 0.4 / 2 of 8 sectors per cycle.
/// Another one has its share of the SMs.
#[test]
fn the_model_by_hand() {
    let counts = |dram_sectors, row_hits| KernelCounts { warp_insts: dram_sectors, row_hits, ..did(20_000, dram_sectors) };
    let progress = |counts: KernelCounts, sms| f64::from(REACH.progress(&counts, sms, &SUPPLY)) / f64::from(ONE);
    let close = |a: f64, b: f64| (a - b).abs() < 1e-3;
    assert!(close(progress(counts(48_000, 24_000), 12), 0.5), "{}", progress(counts(48_000, 24_000), 12));
    assert!(close(progress(counts(48_000, 24_000), 3), 0.5), "SMs do not matter");
    assert!(close(progress(counts(48_000, 0), 12), 0.75));
    assert!(close(progress(counts(48_000, 48_000), 12), 0.375));
    assert!(close(progress(counts(160_000, 0), 12), 1.0), "never more");
    let crowded = KernelCounts { warp_insts: 100_000, l2_accesses: 180_000, ..did(20_000, 24_000) };
    assert!(close(progress(crowded, 12), 0.75), "9 of 12 sectors per cycle of the interconnect, 1.2 of 3.2 of DRAM");
    assert!(close(progress(did(9, 0), 6), 0.25), "6 of 24 SMs");
}

/// By hand: on 12 and 12 a kernel that takes 3 of 4.8 sectors from 6 SMs on makes 5/8, and a
/// compute-bound one 1/2: d = 0.125 144 / (0.5 12 + 0.625 12) = 1.3. On 11 and 13: 0.6. No kernel
/// ever runs alone.
#[test]
fn the_model_needs_no_kernel_alone() {
    let mut count = |kernel: usize, sms: u16, _: bool| {
        if kernel == 1 {
            return did(10_000 * u32::from(sms), 0);
        }
        let sectors = 60_000 * u32::from(sms.min(6)) / 6;
        KernelCounts { warp_insts: sectors, row_hits: sectors / 2, ..did(sectors, sectors) }
    };
    let (tried, search, _) = searched_by(Slowdowns::Model, 24, 2, &mut count);
    assert_eq!(tried, [[12, 12], [11, 13]]);
    assert_eq!(search.shares.active(0), 11);
}

proptest! {
    #![proptest_config(cases(256))]

    /// For any counts, repeatable or not: the search ends, SMs are conserved, and every kernel
    /// keeps one. The final shares were measured and are at least as fair as the even split was.
    #[test]
    fn any_counters(
        (sms, kernels) in (2..257_u16, 2..5_usize),
        (seed, narrow) in (any::<u64>(), 0..28_u32),
        slowdowns in prop::sample::select(vec![Slowdowns::Alone, Slowdowns::Model]),
    ) {
        prop_assume!(usize::from(sms) >= kernels);
        let mut state = seed | 1;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32 >> narrow
        };
        let mut count = |_: usize, _: u16, _: bool| {
            let [cycles, instructions, narrower @ ..]: [u32; 6] = std::array::from_fn(|_| random());
            let [warp_insts, l2_accesses, dram_sectors, row_hits] = narrower.map(|count| count >> 5);
            KernelCounts { cycles, instructions, warp_insts, l2_accesses, dram_sectors, row_hits, ..KernelCounts::NONE }
        };
        let (tried, search, _) = searched_by(slowdowns, sms, kernels, &mut count);
        let last: Vec<u16> = (0..kernels).map(|kernel| search.shares.active(kernel)).collect();
        prop_assert!(last.iter().all(|sms| *sms >= 1));
        prop_assert_eq!(last.iter().sum::<u16>(), sms);
        let alone = if slowdowns == Slowdowns::Alone { kernels } else { 0 };
        prop_assert!(tried[alone..].contains(&last));
    }

    /// If counters are a function of the shares, the result is at least as fair as the even split.
    #[test]
    fn never_less_fair_than_even(
        sms in 4..133_u16,
        curves in prop::collection::vec((1..10_000_u32, 1..133_u16, 0..100_u32), 2..5),
    ) {
        let kernels = curves.len();
        let mut count = |kernel: usize, sms: u16, alone: bool| {
            let (rate, saturates, loss) = curves[kernel];
            let alone_rate = rate * u32::from(sms.min(saturates)) * 100;
            did(if alone { alone_rate } else { alone_rate / 100 * (100 - loss) }, 0)
        };
        let fair = |shares: &[u16], count: &mut dyn FnMut(usize, u16, bool) -> KernelCounts| {
            let part = |kernel: usize, count: &mut dyn FnMut(usize, u16, bool) -> KernelCounts| {
                let share = (usize::from(sms) + kernels - kernel - 1) / kernels;
                let alone = count(kernel, share as u16, true);
                let supply = Supply { sms, ..SUPPLY };
                Alone::of(&alone, share as u16, &supply, &REACH).progress(&count(kernel, shares[kernel], false))
            };
            let parts: Vec<u32> = (0..kernels).map(|kernel| part(kernel, count)).collect();
            f64::from(*parts.iter().min().unwrap()) / f64::from(*parts.iter().max().unwrap())
        };
        let (tried, search, _) = searched(sms, kernels, &mut count);
        let last: Vec<u16> = (0..kernels).map(|kernel| search.shares.active(kernel)).collect();
        let [even, found] = [&tried[kernels], &last].map(|shares| fair(shares, &mut count));
        prop_assert!(found >= even - 1e-3, "{:?} with {} after {:?} with {}", last, found, tried[kernels], even);
    }
}
