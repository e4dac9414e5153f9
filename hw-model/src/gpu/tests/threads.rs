//! Any number of threads gives the same statistics in every count: concurrent kernels, launches in
//! sequence, clones, and a run that stops.

use super::fetch::with_fetch;
use super::lines::whole_lines;
use super::*;
use crate::config::{Arbiter, L1Lookup};

const THREADS: [usize; 3] = [2, 4, 16];

/// Two kernels on separate streams, the second relaunched if `relaunch`; they swap quotas during
/// the run.
fn side_by_side(config: &GpuConfig, recipes: [&Recipe; 2], relaunch: bool) -> (Gpu, Table) {
    let mut gpu = gpu(config);
    for (stream, recipe) in (0..).zip(recipes) {
        let again = relaunch && stream == 1;
        gpu.launch(Launch { relaunch: again, ..beside(stream, recipe.trace()) }).expect("fits");
    }
    let quotas = recipes.map(|recipe| recipe.quota).to_vec();
    let turned = quotas.iter().rev().copied().collect();
    (gpu, Table { phases: vec![(0, quotas), (250, turned)], slots: Vec::new(), ideal: relaunch })
}

/// Machines with random options.
fn any_options() -> impl Strategy<Value = GpuConfig> {
    let held = prop::option::of(memory_issue::any_mechanisms());
    let divided = prop::option::of(ways::any_divisions());
    let active = prop::collection::vec(0..4u8, 0..3);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (5u32..18, flags, held, divided, active).prop_map(|(sms, (lines, by_chance, fetch), held, divided, active)| {
        let mut config = if lines { whole_lines(of(sms), L1Lookup::AtHead) } else { of(sms) };
        config.interconnect.arbiter = if by_chance { Arbiter::Random } else { config.interconnect.arbiter };
        config = if fetch { with_fetch(config, 4, 2) } else { config };
        config = if let Some(held) = held { memory_issue::with(config, held) } else { config };
        config = active_warps::with(config, &active);
        if let Some(divided) = divided { ways::with(config, divided) } else { config }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn any_number_of_threads_gives_the_same(
        first in random_kernel(),
        second in random_kernel(),
        config in any_options(),
        relaunch: bool,
        skip: bool,
    ) {
        let run = |threads: usize| {
            let (gpu, mut table) = side_by_side(&config, [&first, &second], relaunch);
            let mut gpu = if skip { gpu } else { gpu.without_skipping() }.with_threads(threads);
            let end = gpu.run(&mut table, 600);
            (end, gpu.stats())
        };
        let alone = run(1);
        for threads in THREADS {
            prop_assert_eq!(&run(threads), &alone, "{} threads", threads);
        }
    }

    /// A clone on any number of threads continues as the original, and so does a run that stops
    /// repeatedly.
    #[test]
    fn clones_and_stops_change_nothing(
        first in random_kernel(),
        second in random_kernel(),
        config in any_options(),
        at in 50u64..550,
        stops in 100u64..300,
    ) {
        let (mut whole, mut table) = side_by_side(&config, [&first, &second], true);
        assert_eq!(whole.run(&mut table, 600), RunEnd::CycleLimit);
        let (gpu, mut table) = side_by_side(&config, [&first, &second], true);
        let mut gpu = gpu.with_threads(4);
        gpu.run(&mut table, at);
        for threads in [1, 2, 5] {
            let mut clone = gpu.clone().with_threads(threads);
            let mut table = Table { phases: table.phases.clone(), slots: table.slots.clone(), ideal: table.ideal };
            while clone.cycle() < 600 {
                let until = clone.cycle() + stops;
                clone.run(&mut table, until.min(600));
            }
            prop_assert_eq!(clone.stats(), whole.stats(), "{} threads", threads);
        }
    }
}

/// With enough work, threads run in parallel.
// Excluded where every run has several threads and hands over every cycle.
#[cfg(not(feature = "threads-of-environment"))]
#[test]
fn others_do_run() {
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
    let busy = kernel(32, 256, 16, 0, |tb, warp| (0..10).map(|i| (load, u64::from(10 * (8 * tb + warp) + i) * 128)).collect());
    let run = |threads: usize| {
        let mut gpu = gpu(&of(16)).with_threads(threads);
        gpu.launch(once(busy.clone())).expect("fits");
        assert_eq!(gpu.run(&mut Table::fixed(&[4]), 1_000_000), RunEnd::AllComplete);
        gpu
    };
    let (mut alone, mut four) = (run(1), run(4));
    assert_eq!(alone.stats(), four.stats());
    assert_eq!((alone.sms.groups().count(), four.sms.groups().count()), (1, 16));
    assert!(four.stats().launches[0].l2.accesses > 0);
    assert_eq!(alone.sms.orders, 0);
    // The first thread to come runs a group: on a busy machine others may always come too late in
    // one run, but not in every run.
    assert!(four.sms.orders > 0 || (0..1_000).any(|_| run(4).sms.orders > 0));
}

/// With one TB on each of two SMs, no group is handed over, and no thread is waited for.
// Excluded where every run has several threads and hands over every cycle.
#[cfg(not(feature = "threads-of-environment"))]
#[test]
fn two_tbs_are_run_by_one_thread() {
    let chain = vec![(StaticInst::new(0, Class::Dp).writes(4).reads(&[4]), 0); 100];
    let mut gpu = gpu(&of(16)).with_threads(16);
    gpu.launch(once(kernel(2, 64, 16, 0, |_, _| chain.clone()))).expect("fits");
    assert_eq!(gpu.run(&mut Table::fixed(&[1]), 1_000_000), RunEnd::AllComplete);
    assert_eq!(gpu.sms.orders, 0);
}

struct Panics;

impl Microcontroller for Panics {
    fn on_interrupt(&mut self, _: &mut RegisterBlock) {
        panic!("in the firmware");
    }
}

#[test]
fn a_panic_of_the_firmware_comes_through() {
    let mut gpu = gpu(&of(12));
    gpu.launch(once(kernel(1, 32, 16, 0, |_, _| vec![]))).expect("fits");
    let panic =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| gpu.with_threads(4).run(&mut Panics, 10_000))).expect_err("panics");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"in the firmware"));
}
