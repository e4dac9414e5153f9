//! Trials on the whole GPU (sources.md D209): what is tried by hand, and what holds whatever kernels do.

use mias_firmware::configs::{MAX_KERNELS, TbVector};
use mias_firmware::kernel::Kernel;
use mias_firmware::machine::{Machine, Settings};
use mias_firmware::policy::{Context, MiasTrial, Policy};
use mias_firmware::resources::{Resources, SmLimits, TbShape};
use mias_firmware::search::{Ends, KernelCounts, Next, Parameters, Search};
use proptest::prelude::*;

const LIMITS: SmLimits =
    SmLimits { capacity: Resources { threads: 16, registers: 0, shared_bytes: 0, tbs: 32 }, warp_threads: 1, register_granule: 1, shared_granule_bytes: 1 };
const WINDOW: u32 = 20_000;

/// What all SMs have, or which SMs each kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placed {
    Together([u8; 4]),
    Apart([u32; 4]),
}

fn placed(search: &Search, sms: u16) -> Placed {
    match (search.together(), search.apart()) {
        (Some(vector), None) => Placed::Together(vector.0),
        (None, Some(ends)) => {
            Placed::Apart([0, 1, 2, 3].map(|kernel| (0..usize::from(sms)).filter(|sm| ends.holder(*sm) == Some(kernel)).count() as u32))
        }
        both => panic!("{both:?}"),
    }
}

/// Kernels whose TBs take so many threads of 16.
fn kernels(threads: &[u32]) -> Vec<Kernel> {
    let kernel = |threads: &u32| Kernel::new(0, &TbShape { threads: *threads, thread_registers: 0, shared_bytes: 0 }, 1_000_000, &LIMITS);
    threads.iter().map(kernel).collect()
}

/// Trials to their end, on kernels that make so many instructions in a window: what was tried, and what stays.
fn tried(sms: u16, kernels: &[Kernel], did: &mut dyn FnMut(Placed, usize) -> u32) -> (Vec<Placed>, Placed) {
    let machine = Machine { sm_count: sms, limits: LIMITS, ..Machine::NONE };
    let context = Context { machine: &machine, settings: &Settings::default(), kernels };
    let mut search = Search::NONE;
    search.parameters = Parameters { warm_up: WINDOW, window: WINDOW, able: true, ..Parameters::NONE };
    search.begin(sms, kernels.len());
    let mut tried = Vec::new();
    while MiasTrial.search(&context, &mut search) == Next::Measure {
        let now = placed(&search, sms);
        tried.push(now);
        for (kernel, counts) in search.counts.iter_mut().enumerate().take(kernels.len()) {
            *counts = KernelCounts { cycles: WINDOW, instructions: did(now, kernel), ..KernelCounts::NONE };
        }
        search.warmed_up();
        // The first, each alone, an end and two in between of each, and three ways to tell SMs apart.
        assert!(tried.len() <= 1 + 4 * kernels.len() + 3, "{tried:?}");
    }
    search.give_up();
    (tried, placed(&search, sms))
}

fn together(tbs: &[u8]) -> Placed {
    let mut all = [0; 4];
    all[..tbs.len()].copy_from_slice(tbs);
    Placed::Together(all)
}

/// A starved kernel: 16 TBs of one, 8 of the other fit. SMK-P has 8 and 4, of which the second makes nearly all the progress. One TB of it does as much as four, and three in four
/// of what the first does alone is left; two TBs leave it half of that. SMs of their own make 1, far behind.
#[test]
fn who_starves_the_other_gets_one_tb() {
    let kernels = kernels(&[1, 2]);
    let mut did = |placed: Placed, kernel: usize| match (placed, kernel) {
        (Placed::Together([_, 0, ..] | [0, ..]), _) => 1_000_000,
        (Placed::Together([_, 1, ..]), 0) => 750_000,
        (Placed::Together([_, 2, ..]), 0) => 375_000,
        (Placed::Together(_), 0) => 30_000,
        (Placed::Together(_), _) => 900_000,
        (Placed::Apart(sms), kernel) => 125_000 * sms[kernel],
    };
    let (order, stays) = tried(8, &kernels, &mut did);
    let expected =
        [together(&[8, 4]), together(&[16, 0]), together(&[0, 8]), together(&[14, 1]), together(&[12, 2]), Placed::Apart([4, 4, 0, 0])];
    assert_eq!((order, stays), (expected.to_vec(), together(&[14, 1])));
}

/// Where all are slowed alike nobody is given less; SMs apart are looked at once.
#[test]
fn who_is_slowed_alike_stays() {
    let kernels = kernels(&[1, 2]);
    let mut did = |placed: Placed, _: usize| match placed {
        Placed::Together([_, 0, ..] | [0, ..]) => 1_000_000,
        Placed::Together(_) => 600_000,
        Placed::Apart(_) => 500_000,
    };
    let (order, stays) = tried(8, &kernels, &mut did);
    assert_eq!(order[3..], [Placed::Apart([4, 4, 0, 0])]);
    assert_eq!(stays, together(&[8, 4]));
}

/// One that takes all it needs from an SM, and one that grows with every one. By hand: 7 SMs for the one that grows make 1 and 7/8; 6 and 5 less.
#[test]
fn who_needs_one_sm_gets_one() {
    let kernels = kernels(&[8, 8]);
    let mut did = |placed: Placed, kernel: usize| match placed {
        Placed::Together([_, 0, ..] | [0, ..]) => 1_000_000,
        Placed::Together(_) => 500_000,
        Placed::Apart(sms) => if kernel == 0 { 125_000 * sms[0] } else { 1_000_000 },
    };
    let (order, stays) = tried(8, &kernels, &mut did);
    assert_eq!(order[3..], [[4, 4], [7, 1], [5, 3]].map(|[first, second]| Placed::Apart([first, second, 0, 0])));
    assert_eq!(stays, Placed::Apart([7, 1, 0, 0]));
}

/// Three kernels, of which one is ahead: it gets one TB, what that leaves goes to the others, and what those leave is its own again.
#[test]
fn one_of_three_gives_the_others_room() {
    let kernels = kernels(&[2, 4, 5]);
    let mut did = |placed: Placed, kernel: usize| match placed {
        Placed::Together(tbs) if tbs.iter().filter(|tbs| **tbs != 0).count() == 1 => 1_000_000,
        Placed::Together(tbs) => if kernel == 0 { 900_000 } else { 100_000 * u32::from(tbs[kernel]) },
        Placed::Apart(_) => 333_000,
    };
    let (order, stays) = tried(8, &kernels, &mut did);
    assert_eq!((order[0], stays), (together(&[3, 1, 1]), together(&[1, 2, 1])), "{order:?}");
}

/// What a kernel does in a placement, as any function of it, or as it happens.
fn random(seed: u64, placed: Placed, kernel: usize) -> u32 {
    let numbers = match placed {
        Placed::Together(tbs) => tbs.map(u64::from),
        Placed::Apart(sms) => sms.map(|sms| u64::from(sms) + 1_000),
    };
    let mut state = seed ^ kernel as u64;
    for number in numbers {
        state = (state ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
    1_000 + (state >> 40) as u32 % 1_000_000
}

fn several() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(1..9_u32, 2..5)
}

proptest! {
    /// Every SM is somebody's, by the mask of a word as by itself, and parts are whole eighths, rounded down.
    #[test]
    fn eighths_divide_all_sms(sms in 1..257_u16, first in 0..9_u16, second in 0..9_u16) {
        let parts = [first, second, 8_u16.saturating_sub(first + second)];
        let cut = |part: u16| part * sms / 8;
        let exact = [cut(first), cut(first + second), sms];
        match Ends::eighths(sms, &parts) {
            None => prop_assert!(first + second > 7 || exact[0] == 0 || exact[1] == exact[0] || exact[2] == exact[1]),
            Some(ends) => {
                for sm in 0..300_usize {
                    let holder = exact.iter().position(|end| sm < usize::from(*end));
                    prop_assert_eq!(ends.holder(sm), holder);
                    for kernel in 0..3 {
                        let bit = ends.mask(kernel, sm as u16 / 32) >> (sm % 32) & 1;
                        prop_assert_eq!(bit != 0, holder == Some(kernel), "SM {} of {}", sm, sms);
                    }
                }
            }
        }
    }

    /// Where what kernels do is a function of who has what, what stays does no less work than SMK-P's, and slows nobody but by a sixteenth of all: by the exact sums.
    #[test]
    fn what_stays_is_no_worse(threads in several(), sms in 2..40_u16, seed: u64) {
        let kernels = kernels(&threads);
        prop_assume!(kernels.iter().map(|kernel| kernel.demand.threads).sum::<u32>() <= 16);
        let (order, stays) = tried(sms, &kernels, &mut |placed, kernel| random(seed, placed, kernel));
        let alone = |kernel: usize| f64::from(random(seed, together(&TbVector::single(kernel, kernels[kernel].max_tbs).0), kernel));
        let progress = |placed: Placed| (0..kernels.len()).map(|kernel| f64::from(random(seed, placed, kernel)) / alone(kernel)).collect::<Vec<_>>();
        if let Some(first) = order.first() {
            // Parts of 2^14 of quotients below 16.
            let capped = |placed: Placed| progress(placed).into_iter().map(|progress| progress.clamp(1.0 / 16.0, 15.0)).collect::<Vec<_>>();
            let (before, after) = (capped(*first), capped(stays));
            let sum = |progress: &[f64]| progress.iter().sum::<f64>();
            let slow = |progress: &[f64]| progress.iter().map(|progress| 1.0 / progress).sum::<f64>();
            prop_assume!(before.iter().chain(&after).all(|progress| *progress < 15.0));
            prop_assert!(sum(&after) >= sum(&before) * 0.99, "{:?} for {:?}", after, before);
            prop_assert!(slow(&after) <= slow(&before) * (17.0 / 16.0 + 0.01), "{:?} for {:?}", after, before);
        }
    }

    /// Any counts: it ends, everybody has TBs or SMs, and no SM is asked for more than it holds.
    #[test]
    fn any_counts_leave_everybody_something(threads in several(), sms in 1..257_u16, numbers in prop::collection::vec(any::<u32>(), 1..60)) {
        let kernels = kernels(&threads);
        prop_assume!(kernels.iter().map(|kernel| kernel.demand.threads).sum::<u32>() <= 16 && usize::from(sms) >= kernels.len());
        let mut number = 0;
        let mut any = |_: Placed, _: usize| {
            number += 1;
            numbers[number % numbers.len()] >> (number % 31)
        };
        let (order, stays) = tried(sms, &kernels, &mut any);
        for now in order.iter().chain([&stays]) {
            if let Placed::Together(tbs) = now {
                let held: u32 = kernels.iter().zip(tbs).map(|(kernel, tbs)| kernel.demand.threads * u32::from(*tbs)).sum();
                prop_assert!(held <= 16, "{:?}", now);
            }
        }
        let everybody = match stays {
            Placed::Together(tbs) => tbs[..kernels.len()].iter().all(|tbs| *tbs != 0),
            Placed::Apart(sms) => sms[..kernels.len()].iter().all(|sms| *sms != 0),
        };
        prop_assert!(everybody, "{:?}", stays);
        prop_assert!(kernels.len() <= MAX_KERNELS);
    }

    /// Noise of less than a thirty-second changes nothing, whoever is ahead.
    #[test]
    fn noise_changes_nothing(threads in several(), seed: u64, noise in prop::collection::vec(0..31_000_u32, 1..60)) {
        let kernels = kernels(&threads);
        prop_assume!(kernels.iter().map(|kernel| kernel.demand.threads).sum::<u32>() <= 16);
        let mut number = 0;
        let mut any = |placed: Placed, kernel: usize| {
            number += 1;
            let alone = matches!(placed, Placed::Together(tbs) if tbs.iter().filter(|tbs| **tbs != 0).count() == 1);
            if alone { 1_000_000 } else { (seed >> (8 * kernel) & 7) as u32 * 100_000 + 1_000_000 + noise[number % noise.len()] }
        };
        let (order, stays) = tried(8, &kernels, &mut any);
        prop_assert_eq!(order.first().copied().unwrap_or(stays), stays);
    }
}
