//! Straps that enable preemption, and the data for observers.

use super::register_block::{FakeRegisterBlock, four, urgent_beside};
use mias_firmware::driver::Observer;
use mias_policies::extras::WatchesPreemption;
use mias_policies::preempt::{Scheme, Selection};
use mias_registers::{fault, global, interrupt, mode};

#[test]
fn straps_decide_whether_and_how() {
    for (scheme, able, faults, on) in [
        (Scheme::None as u32, true, 0, false),
        (Scheme::None as u32, false, 0, false),
        (Scheme::Shieh as u32, true, 0, true),
        (Scheme::Shieh as u32, false, fault::NO_PREEMPTION, false),
        (8, true, fault::NO_PREEMPTION, false),
    ] {
        let register_block = FakeRegisterBlock::strapped(scheme, able, 1);
        assert_eq!(register_block.faults(), faults);
        assert_eq!(register_block.get(global::MODE), if on { mode::PREEMPT } else { mode::DRAIN });
        assert_eq!(register_block.get(global::INT_ENABLE) & interrupt::PREEMPT != 0, on);
        assert_eq!(register_block.firmware.extension().preemption().scheme() != Scheme::None, on);
    }
}

#[test]
fn without_the_strap_a_priority_is_nothing_and_nobody_leaves() {
    let mut register_block = urgent_beside(four(Scheme::None, [900, 800, 20, 10]), 1, 0);
    register_block.launch(1);
    register_block.interrupt(interrupt::LAUNCH);
    assert_eq!(
        (register_block.firmware.scheduler().kernels().len(), register_block.firmware.extension().preemption().urgent_slots()),
        (1, 0)
    );
    register_block.wants(0, 1, 1);
    register_block.interrupt(interrupt::PREEMPT);
    assert_eq!((register_block.commands(0), register_block.get(global::INT_STATUS)), (vec![], 0));
}

#[test]
fn what_watches_is_told_of_every_candidate() {
    #[derive(Default)]
    struct Watch(Vec<String>);
    impl Observer for Watch {}

    impl WatchesPreemption for Watch {
        fn preemption(&mut self, selection: &Selection<'_>) {
            let candidates: Vec<_> =
                selection.candidates().map(|one| (one.position, one.places, one.cost.latency, one.cost.overhead)).collect();
            self.0.push(format!(
                "SM {} for {} limit {}: {candidates:?} -> {}",
                selection.sm, selection.slot, selection.limit, selection.chosen.position
            ));
        }
    }
    let mut register_block = urgent_beside(four(Scheme::Shieh, [900, 800, 20, 10]), 2, 199);
    register_block.wants(0, 1, 2);
    let mut watch = Watch::default();
    register_block.serve_watched(&mut watch);
    assert_eq!(watch.0, ["SM 0 for 1 limit 199: [(0, 3, 100, 800), (1, 12, 0, 30)] -> 1", "SM 0 for 1 limit 199: [(0, 3, 100, 800)] -> 0"]);
}
