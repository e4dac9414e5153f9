//! Steps of both modes on kernels whose performance is a known function of their SMs.

use crate::cases::cases;
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::policy::Context;
use mias_firmware::policy::Next;
use mias_firmware::quantity::SectorRate;
use mias_policies::policy::{CdSearch, Mode, most_windows};
use mias_policies::search::Searches as _;
use mias_policies::search::{KernelCounts, Parameters, Rest, Search, Supply};
use proptest::prelude::*;

const SUPPLY: Supply = Supply {
    sms: 24,
    schedulers: 2,
    access_sectors: 1,
    interconnect: SectorRate::lit("12"),
    l2: SectorRate::lit("12"),
    dram: SectorRate::lit("8"),
};

const PARAMETERS: Parameters =
    Parameters { warm_up: 20_000, window: 20_000, loss_permille: 50, able: true, gates: true, supply: SUPPLY, ..Parameters::NONE };

/// A kernel: whether it is memory-intensive, and its instructions in a window on a number of SMs.
type Kernel<'a> = (bool, &'a dyn Fn(u16) -> u32);

/// Runs a search to its end, and returns the SMs that each kernel keeps after each window, and the
/// search.
fn searched(mode: Mode, parameters: Parameters, kernels: &[Kernel<'_>]) -> (Vec<Vec<u16>>, Search) {
    let mut search = Search::NONE;
    search.parameters = parameters;
    search.begin(parameters.supply.sms, kernels.len());
    let (mut policy, mut tried) = (CdSearch::new(mode), Vec::new());
    let context = Context { gpu: &GpuProperties::NONE, settings: &Settings::NONE, kernels: &[] };
    while policy.search(&context, &mut search) == Next::Measure {
        tried.push((0..kernels.len()).map(|kernel| search.shares.active(kernel)).collect());
        for (kernel, (memory, instructions)) in kernels.iter().enumerate() {
            let instructions = instructions(search.shares.active(kernel));
            let warp_insts = 100_000;
            let l2_accesses = if *memory { warp_insts } else { 100 };
            search.counts[kernel] = KernelCounts { cycles: 20_000, instructions, warp_insts, l2_accesses, ..KernelCounts::NONE };
        }
        policy.settled(&mut search);
        search.windows += 1;
        assert!(search.windows <= most_windows(parameters.supply.sms), "{tried:?}");
    }
    (tried, search)
}

/// A rate that saturates at `at` SMs.
fn saturates(at: u16) -> impl Fn(u16) -> u32 {
    move |sms| 10_000 * u32::from(sms.min(at))
}

fn grows(sms: u16) -> u32 {
    10_000 * u32::from(sms)
}

/// Zhao et al. 2018, sections 3.1 and 4.2: two SMs less in each step, until the loss exceeds 5 %,
/// then one step back.
#[test]
fn performance_mode_by_hand() {
    let (tried, search) = searched(Mode::Chosen, PARAMETERS, &[(true, &saturates(6)), (false, &grows)]);
    assert_eq!(tried, [[12, 12], [10, 12], [8, 12], [6, 12], [4, 12]]);
    assert_eq!([search.shares.active(0), search.shares.active(1)], [6, 18]);
    assert_eq!((search.memory, search.shares.unused()), (0b01, 0));
    // The order of the kernels does not matter.
    let (_, search) = searched(Mode::Chosen, PARAMETERS, &[(false, &grows), (true, &saturates(6))]);
    assert_eq!([search.shares.active(0), search.shares.active(1), search.memory.into()], [18, 6, 0b10]);
    // With SMs reassigned in every step.
    let (tried, search) = searched(Mode::Chosen, Parameters { reassigns: true, ..PARAMETERS }, &[(true, &saturates(6)), (false, &grows)]);
    assert_eq!(tried, [[12, 12], [10, 14], [8, 16], [6, 18], [4, 20]]);
    assert_eq!([search.shares.active(0), search.shares.active(1)], [6, 18]);
}

/// Exactly 5 % does not exceed 5 %.
#[test]
fn the_threshold_is_a_loss_that_exceeds_it() {
    let at = |share| move |sms: u16| if sms >= 12 { 1_000 } else { share };
    let kept = |share| searched(Mode::Chosen, PARAMETERS, &[(true, &at(share)), (false, &grows)]).1.shares.active(0);
    assert_eq!((kept(950), kept(949)), (1, 12));
}

/// Zhao et al. 2018, section 4.3: one SM each, the estimate, and one more at a time.
#[test]
fn power_mode_by_hand() {
    // 12 SMs are 5 times one; 5 suffice at once.
    let (tried, search) = searched(Mode::Chosen, PARAMETERS, &[(true, &saturates(5)), (true, &saturates(3))]);
    assert_eq!(tried, [[12, 12], [1, 1], [5, 3]]);
    assert_eq!((search.shares.rest(), search.shares.unused()), (Rest::Gated, 16));
    // One SM alone is faster than its part: 12 are 3 times one, and it takes 5.
    let crowded = |sms: u16| if sms == 1 { 20_000 } else { 12_000 * u32::from(sms.min(5)) };
    let (tried, search) = searched(Mode::Chosen, PARAMETERS, &[(true, &crowded), (true, &saturates(3))]);
    assert_eq!(tried, [[12, 12], [1, 1], [3, 3], [4, 3], [5, 3]]);
    assert_eq!(search.shares.unused(), 16);
    // Without power gating they only stay empty.
    let parameters = Parameters { gates: false, ..PARAMETERS };
    let (_, search) = searched(Mode::Chosen, parameters, &[(true, &saturates(5)), (true, &saturates(3))]);
    assert_eq!(search.shares.rest(), Rest::Idle);
}

/// With two warp instructions per SM and cycle and a supply of 8 / 2 sectors per cycle without
/// hits, 24 SMs demand more above 4 / 48 accesses per warp instruction, 12 above 4 / 24.
#[test]
fn demand_is_of_all_sms_or_of_those_that_a_kernel_has() {
    let memory = |accesses_per_thousand: u32, by_share: bool| {
        let mut search = Search::NONE;
        search.parameters = Parameters { by_share, ..PARAMETERS };
        search.begin(24, 2);
        let counts = |l2_accesses| KernelCounts { cycles: 20_000, warp_insts: 1_000_000, l2_accesses, ..KernelCounts::NONE };
        (search.counts[0], search.counts[1]) = (counts(1000 * accesses_per_thousand), counts(0));
        search.classify();
        search.memory
    };
    assert_eq!([83, 84].map(|accesses| memory(accesses, false)), [0, 1]);
    assert_eq!([84, 166, 167].map(|accesses| memory(accesses, true)), [0, 0, 1]);
}

/// Zhao et al. 2018, section 3.3: two compute-intensive kernels do not change, after one window.
#[test]
fn compute_stays_even() {
    for mode in [Mode::Chosen, Mode::Performance, Mode::Power] {
        let (tried, search) = searched(mode, PARAMETERS, &[(false, &grows), (false, &grows)]);
        assert_eq!((tried, search.shares.unused()), (vec![vec![12, 12]], 0), "{mode:?}");
    }
}

/// A forced mode: power takes SMs only from memory-intensive kernels, and performance has no
/// receiver if all are memory-intensive.
#[test]
fn forced_modes() {
    let (_, search) = searched(Mode::Power, PARAMETERS, &[(true, &saturates(6)), (false, &grows)]);
    assert_eq!([search.shares.active(0), search.shares.active(1), search.shares.unused()], [6, 12, 6]);
    let (tried, search) = searched(Mode::Performance, PARAMETERS, &[(true, &saturates(5)), (true, &saturates(3))]);
    assert_eq!((tried.len(), search.shares.unused()), (1, 0));
}

/// Zhao et al. 2018, section 7.4.3: of four kernels, the compute-intensive ones share the SMs that
/// the others do not need.
#[test]
fn four_kernels() {
    let (_, search) = searched(Mode::Chosen, PARAMETERS, &[(true, &saturates(2)), (false, &grows), (true, &saturates(4)), (false, &grows)]);
    assert_eq!([0, 1, 2, 3].map(|kernel| search.shares.active(kernel)), [2, 9, 4, 9]);
}

proptest! {
    #![proptest_config(cases(256))]

    /// Invariant 38, for any curves: every kernel has at least one SM, and windows stay within the
    /// stated number. The performance mode takes at most half of half the SMs. In the power mode
    /// every memory-intensive kernel finally has its former rate, or its whole share.
    #[test]
    fn any_curves(
        sms in 2..133_u16,
        curves in prop::collection::vec((any::<bool>(), prop::collection::vec(0..100_000_u32, 133)), 2..5),
        (loss_permille, reassigns) in (0..1001_u32, any::<bool>()),
        mode in prop::sample::select(vec![Mode::Chosen, Mode::Performance, Mode::Power]),
    ) {
        prop_assume!(usize::from(sms) >= curves.len());
        let parameters = Parameters { loss_permille, reassigns, supply: Supply { sms, ..SUPPLY }, ..PARAMETERS };
        let curve = |curve: Vec<u32>| move |sms: u16| curve[usize::from(sms)];
        let owned: Vec<_> = curves.iter().map(|(memory, points)| (*memory, curve(points.clone()))).collect();
        let kernels: Vec<Kernel<'_>> = owned.iter().map(|(memory, curve)| (*memory, curve as &dyn Fn(u16) -> u32)).collect();
        let (tried, search) = searched(mode, parameters, &kernels);
        let shares = &search.shares;
        let all_memory = curves.iter().all(|(memory, _)| *memory);
        let power = mode == Mode::Power || mode == Mode::Chosen && all_memory;
        for (kernel, (memory, curve)) in curves.iter().enumerate() {
            let (even, kept) = (shares.share(kernel), shares.active(kernel));
            prop_assert!(kept >= 1);
            prop_assert!(*memory || kept >= even, "a compute-intensive kernel lost SMs");
            if power && *memory {
                let [now, then] = [kept, even].map(|sms| u64::from(curve[usize::from(sms)]));
                prop_assert!(kept == even || 1000 * now >= u64::from(1000 - loss_permille) * then, "{} is not enough of {}", now, then);
            }
        }
        if !power {
            prop_assert!(tried.len() <= 1 + usize::from(sms.div_ceil(curves.len() as u16) / 2), "{:?}", tried);
            prop_assert_eq!(shares.unused(), 0, "SMs are left over");
        }
    }
}
