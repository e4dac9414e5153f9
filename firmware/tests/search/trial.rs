//! Trials on the whole GPU (sources.md D209): what is tried by hand, and what holds whatever kernels do.

use mias_firmware::kernel::Kernel;
use mias_firmware::machine::{Machine, Settings};
use mias_firmware::policy::{Context, MiasTrial, Policy};
use mias_firmware::resources::{Resources, SmLimits, TbShape};
use mias_firmware::search::{KernelCounts, Next, Parameters, Search};
use proptest::prelude::*;

const LIMITS: SmLimits = SmLimits {
    capacity: Resources { threads: 16, registers: 0, shared_bytes: 0, tbs: 32 },
    warp_threads: 1,
    register_granule: 1,
    shared_granule_bytes: 1,
};
const WINDOW: u32 = 20_000;

/// Kernels whose TBs take so many threads of 16.
fn kernels(threads: &[u32]) -> Vec<Kernel> {
    let kernel = |threads: &u32| Kernel::new(0, &TbShape { threads: *threads, thread_registers: 0, shared_bytes: 0 }, 1_000_000, &LIMITS);
    threads.iter().map(kernel).collect()
}

/// Trials to their end, on kernels that make so many instructions in a window: what was tried, and what stays.
fn tried(kernels: &[Kernel], did: &mut dyn FnMut([u8; 4], usize) -> u32) -> (Vec<[u8; 4]>, [u8; 4]) {
    let machine = Machine { sm_count: 8, schedulers: 1 << 14, limits: LIMITS, ..Machine::NONE };
    let context = Context { machine: &machine, settings: &Settings::default(), kernels };
    let mut search = Search::NONE;
    search.parameters = Parameters { warm_up: WINDOW, window: WINDOW, able: true, ..Parameters::NONE };
    search.begin(8, kernels.len());
    let mut tried = Vec::new();
    while MiasTrial.search(&context, &mut search) == Next::Measure {
        let now = search.together().expect("SMs are shared").0;
        tried.push(now);
        for settled in [true, false] {
            let cycles = if settled { search.settles() } else { search.measures() };
            for (kernel, counts) in search.counts.iter_mut().enumerate().take(kernels.len()) {
                let instructions = cycles * did(now, kernel);
                *counts = KernelCounts { cycles, instructions, warp_insts: instructions, ..KernelCounts::NONE };
            }
            if settled {
                search.warmed_up();
            }
        }
        // Four trials, of three steps each at most.
        assert!(tried.len() <= 3 * 4, "{tried:?}");
    }
    search.give_up();
    (tried, search.together().expect("SMs are shared").0)
}

fn tbs(tbs: &[u8]) -> [u8; 4] {
    let mut all = [0; 4];
    all[..tbs.len()].copy_from_slice(tbs);
    all
}

/// SMK-P's, with which all begin.
fn usual(kernels: &[Kernel]) -> [u8; 4] {
    tried(kernels, &mut |_, _| 1).0[0]
}

/// A kernel that one TB per SM saturates, and one that it starves: 16 TBs of the second fit, or 8 of the first. SMK-P has 8 and 4, by hand; with two of the first there is room for 12, with one for 14.
/// The other is tried first, since it issues less, and in vain.
#[test]
fn who_needs_one_tb_gets_one() {
    let kernels = kernels(&[1, 2]);
    let mut did = |tbs: [u8; 4], kernel: usize| if kernel == 1 { 900 } else { 100 * u32::from(tbs[0]) / u32::from(tbs[1]).pow(2) };
    let order = [[8, 4], [4, 6], [8, 4], [12, 2], [12, 2], [14, 1], [14, 1]].map(|vector| tbs(&vector));
    assert_eq!(tried(&kernels, &mut did), (order.to_vec(), tbs(&[14, 1])));
}

/// It is halved as long as that is worth a quarter: 600 for 400, but not 700 for 600.
#[test]
fn halving_ends_where_it_is_worth_less_than_a_quarter() {
    let mut did = |tbs: [u8; 4], kernel: usize| if kernel == 0 { 900 } else { 100 * u32::from(tbs[1]) };
    let order = [[8, 4], [12, 2], [8, 4], [4, 6], [4, 6], [2, 7], [2, 7]].map(|vector| tbs(&vector));
    assert_eq!(tried(&kernels(&[1, 2]), &mut did), (order.to_vec(), tbs(&[4, 6])));
}

/// Kernels that are the faster the more TBs they have, if not as many times: each is tried with half for a quarter of a step, between two steps of SMK-P's, which stays. Nothing is measured of SMK-P's
/// after the last.
#[test]
fn who_needs_all_keeps_all() {
    for kernels in [kernels(&[1, 2]), kernels(&[4, 4]), kernels(&[4, 4, 4, 4])] {
        let mut did = |tbs: [u8; 4], kernel: usize| 100 + 70 * u32::from(tbs[kernel]);
        let (order, stays) = tried(&kernels, &mut did);
        assert_eq!(stays, usual(&kernels));
        let several = stays.into_iter().filter(|tbs| *tbs > 1).count();
        assert!(order.len() == (2 * several).max(1) && order.iter().step_by(2).all(|now| *now == stays), "{order:?}");
    }
}

/// TBs in each other's way: fewer than an SM holds do more. 5 and 6 of 16 threads leave room for a second TB of the first alone, which nobody else can use.
#[test]
fn fewer_than_fit_may_be_best() {
    let kernels = kernels(&[5, 6]);
    let mut did = |tbs: [u8; 4], _: usize| 10_000 / tbs.into_iter().map(u32::from).sum::<u32>();
    assert_eq!(tried(&kernels, &mut did), (vec![tbs(&[2, 1]), tbs(&[1, 1]), tbs(&[1, 1])], tbs(&[1, 1])));
}

/// Three kernels, of which one is as fast with seven TBs as with three: it gets three, and one of the others what it leaves. A single one is no choice, for it gives up too much. And what is no better is
/// given up at once.
#[test]
fn one_of_three_makes_room() {
    let kernels = kernels(&[1, 4, 5]);
    let from = tbs(&[7, 1, 1]);
    assert_eq!(from, usual(&kernels), "by hand: 4 and 5 of 16 for one of each, of which no second fits");
    let better = [[7, 1, 1], [3, 2, 1], [3, 2, 1], [1, 2, 1]].map(|vector| tbs(&vector));
    for (gain, order, stays) in [(2, &better[..], tbs(&[3, 2, 1])), (1, &better[..2], from)] {
        let mut did = |tbs: [u8; 4], kernel: usize| match (kernel, tbs[0]) {
            (0, 1) => 700,
            (0, _) => 1_000,
            // Others are slowed by what the first has more than three.
            (1, 3) if gain == 2 => 400,
            (_, 1) => 200,
            _ => 100,
        };
        assert_eq!(tried(&kernels, &mut did), (order.to_vec(), stays));
    }
}

/// What a kernel does with what all SMs have: any function of it.
fn random(seed: u64, tbs: [u8; 4], kernel: usize) -> u32 {
    let mut state = seed ^ kernel as u64;
    for number in tbs {
        state = (state ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
    10 + (state >> 40) as u32 % 100
}

/// Two to four kernels of which one TB of each fits.
fn several() -> impl Strategy<Value = Vec<Kernel>> {
    prop::collection::vec(1..9_u32, 2..5)
        .prop_map(|threads| kernels(&threads))
        .prop_filter("they fit together", |kernels| kernels.iter().map(|kernel| kernel.demand.threads).sum::<u32>() <= 16)
}

proptest! {
    /// Where what kernels do is a function of what all SMs have, what stays is SMK-P's, or the product of what kernels do in it is larger by a quarter.
    #[test]
    fn what_stays_is_better_or_usual(kernels in several(), seed: u64) {
        let (order, stays) = tried(&kernels, &mut |tbs, kernel| random(seed, tbs, kernel));
        let usual = usual(&kernels);
        let product = |tbs: [u8; 4]| (0..kernels.len()).map(|kernel| f64::from(random(seed, tbs, kernel))).product::<f64>();
        prop_assert!(stays == usual || product(stays) > product(usual) * 1.24, "{:?} for {:?}", stays, usual);
        prop_assert!(stays == usual || order.contains(&stays));
        prop_assert_eq!(order[0], usual);
    }

    /// Any counts, that change as they like: it ends, everybody has a TB on every SM, and no SM is asked for more than it holds.
    #[test]
    fn any_counts_leave_everybody_something(kernels in several(), numbers in prop::collection::vec(any::<u32>(), 1..60)) {
        let mut number = 0;
        let (order, stays) = tried(&kernels, &mut |_, _| {
            number += 1;
            (numbers[number % numbers.len()] >> (number % 31)) / 20_000
        });
        for now in order.iter().chain([&stays]) {
            let held: u32 = kernels.iter().zip(now).map(|(kernel, tbs)| kernel.demand.threads * u32::from(*tbs)).sum();
            prop_assert!(held <= 16 && now[..kernels.len()].iter().all(|tbs| *tbs != 0), "{:?}", now);
        }
    }

    /// Where kernels do the same whatever they have, windows of each that differ by less than a twentieth leave SMK-P's.
    #[test]
    fn noise_changes_nothing(kernels in several(), seed: u64, noise in prop::collection::vec(0..50_u32, 1..60)) {
        let mut number = 0;
        let (_, stays) = tried(&kernels, &mut |_, kernel| {
            number += 1;
            (1 + (seed >> (8 * kernel) & 7) as u32) * (1_000 + noise[number % noise.len()])
        });
        prop_assert_eq!(stays, usual(&kernels));
    }
}

/// The floor: what does more for the product by taking more than a quarter from one of them is not chosen.
#[test]
fn nobody_gives_up_more_than_a_quarter() {
    let kernels = kernels(&[1, 2]);
    for (left, expected) in [(760, tbs(&[12, 2])), (740, tbs(&[8, 4]))] {
        let mut did = |now: [u8; 4], kernel: usize| match (kernel, now[1]) {
            (0, ..4) => 800,
            (0, 4) => 100,
            (0, _) => 10,
            (_, ..4) => left,
            _ => 1_000,
        };
        assert_eq!(tried(&kernels, &mut did).1, expected);
    }
}

/// Who issues in a quarter of all slots or more is not tried with less, whatever that would bring.
#[test]
fn who_issues_much_needs_its_tbs() {
    let kernels = kernels(&[1, 2]);
    // Of 8 SMs with 2^14 schedulers each.
    let quarter = (8 << 14) / 4;
    for (issues, second) in [(quarter, None), (quarter - 1, Some(tbs(&[4, 6])))] {
        let mut did = |now: [u8; 4], kernel: usize| if now[0] == 8 { [issues, quarter][kernel] } else { 2 * quarter };
        let (order, stays) = tried(&kernels, &mut did);
        assert_eq!((order[0], order.get(1).copied(), stays == order[0]), (tbs(&[8, 4]), second, second.is_none()), "{order:?}");
    }
}
