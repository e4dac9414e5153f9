//! Tests of quotas and profiling windows: when they take effect, start and end, and the latched
//! counters.

use super::{SMS, at, at_sm, gpu, kernel};
use crate::register_block::{RawCounters, RegisterBlock};
use mias_registers::bus::Bus;
use mias_registers::counters::Counter;
use mias_registers::{MAX_WINDOW, fault, global, sm, sm_control};

#[test]
fn quotas_take_effect_together_at_commit() {
    let mut file = RegisterBlock::new(gpu());
    file.write32(global::QUOTA_ALL, 2);
    file.write32(sm::at(3, sm::QUOTA + 4), 1);
    assert_eq!((file.quota(3, 0), file.quota(3, 1)), (0, 0));
    let before = file.generation();
    file.write32(global::COMMIT, 0);
    assert_ne!(file.generation(), before);
    assert_eq!((file.quota(3, 0), file.quota(3, 1), file.quota(0, 0), file.quota(0, 1)), (2, 1, 2, 0));
    file.write32(sm::at(0, sm::QUOTA), 33);
    assert_eq!(file.read32(sm::at(0, sm::QUOTA)), 32);
    assert_eq!(file.faults(), fault::VALUE_RANGE);
}

/// Machine with a kernel of `grid` TBs in slot 0, a quota of 2 everywhere and all SMs armed for
/// `window` cycles.
fn armed(grid: u32, window: u32) -> RegisterBlock {
    let mut file = RegisterBlock::new(gpu());
    assert_eq!(file.post_launch(kernel(grid)), Some(0));
    file.write32(global::PROFILE_WINDOW, window);
    file.write32(global::QUOTA_ALL, 2);
    file.write32(global::COMMIT, 0);
    file.write32(global::ARM, 0x1F);
    file
}

#[test]
fn window_is_exact_and_starts_at_the_partition() {
    let mut file = armed(100, 1000);
    file.tick(10, |_| panic!("no SM has reached its partition"));
    file.set_resident(2, 0, 1);
    file.tick(20, |_| panic!("one TB of two"));
    file.set_resident(2, 0, 2);
    assert!(file.needs_tick(37));
    file.tick(37, |sm| {
        assert_eq!(sm, 2);
        at(37)
    });
    assert_eq!(file.read32(global::PARTITION), 1 << 2);
    assert_eq!(file.next_deadline(), Some(1037));
    // Later changes of the partition do not move the window.
    file.set_resident(2, 0, 1);
    file.tick(500, |_| panic!("nothing starts or ends"));
    assert!(!file.needs_tick(1036) && file.needs_tick(1037));
    file.tick(1037, at_sm(1037));
    assert_eq!(file.read32(global::PROFILE_DONE), 1 << 2);
    assert_eq!(file.read32(global::ARM), 0x1B);
    assert_eq!(file.read32(sm::at(2, Counter::Cycles.register())), 1000);
    assert_eq!(file.read32(sm::at(2, Counter::ThreadInsts.register())), 3000);
    assert_eq!(file.read32(sm::at(2, sm::SATURATED)), 0);
    assert_eq!(file.next_deadline(), None);
}

#[test]
fn a_kernel_with_nothing_left_to_issue_does_not_hold_up_the_partition() {
    let mut file = armed(3, 10);
    file.set_resident(0, 0, 2);
    file.set_resident(1, 0, 1);
    file.tick(5, at_sm(5));
    assert_eq!(file.read32(global::PARTITION), 0b00001);
    file.set_unissued(0, 0);
    file.tick(6, at_sm(6));
    assert_eq!(file.read32(global::PARTITION), 0b11111);
    // More TBs than the quota never form the partition.
    let mut file = armed(3, 10);
    file.set_unissued(0, 0);
    (0..SMS).for_each(|sm| file.set_resident(sm, 0, 3));
    file.tick(5, |_| panic!("no SM is at its quota"));
}

#[test]
fn disarming_stops_a_window_without_an_event() {
    let mut file = armed(9, 10);
    file.set_resident(0, 0, 2);
    file.tick(5, at_sm(5));
    file.write32(global::DISARM, 1);
    assert_eq!(file.next_deadline(), None);
    file.tick(50, at_sm(50));
    assert_eq!(file.read32(global::PROFILE_DONE), 0);
}

#[test]
fn counters_saturate_visibly() {
    let mut file = armed(9, MAX_WINDOW);
    file.set_resident(0, 0, 2);
    file.tick(0, |_| RawCounters::default());
    let raw = RawCounters::of([(Counter::Cycles, MAX_WINDOW.into()), (Counter::LoadRequests, 1 << 40), (Counter::L2Hits, 7)]);
    file.tick(u64::from(MAX_WINDOW), |_| raw);
    assert_eq!(file.read32(sm::at(0, Counter::LoadRequests.register())), Counter::LoadRequests.max());
    assert_eq!(file.read32(sm::at(0, Counter::Cycles.register())), MAX_WINDOW);
    assert_eq!(file.read32(sm::at(0, Counter::L2Hits.register())), 7);
    assert_eq!(file.read32(sm::at(0, sm::SATURATED)), Counter::LoadRequests.bit());
}

/// A window latches the counts of each slot with the counters: since its start, and with the same
/// width.
#[test]
fn instructions_are_told_apart_by_slot() {
    let mut file = armed(9, 10);
    file.set_resident(0, 0, 2);
    let raw = |factor: u64| {
        let mut raw = RawCounters::default();
        raw.slot_warp_insts = [factor, 0, 3 * factor, 0, 0, 0, 0, 1 << 40];
        raw.slot_thread_insts = [32 * factor, 0, 96 * factor, 0, 0, 0, 0, 1 << 40];
        raw
    };
    file.tick(0, |_| RawCounters::default());
    file.tick(10, |_| raw(7));
    let read = |file: &mut RegisterBlock, register| (0..8).map(|slot| file.read32(sm::at(0, register + 4 * slot))).collect::<Vec<_>>();
    assert_eq!(read(&mut file, sm::SLOT_WARP_INSTS), [7, 0, 21, 0, 0, 0, 0, Counter::WarpInsts.max()]);
    assert_eq!(read(&mut file, sm::SLOT_THREAD_INSTS), [224, 0, 672, 0, 0, 0, 0, Counter::ThreadInsts.max()]);
    assert_eq!(file.read32(global::FAULT), 0);
}

#[test]
fn snapshot_latches_and_clears_at_one_instant() {
    let mut file = RegisterBlock::new(gpu());
    file.load_counters(1, at(100));
    file.write32(sm::at(1, sm::CONTROL), sm_control::SNAPSHOT);
    file.load_counters(1, at(130));
    assert_eq!(file.read32(sm::at(1, Counter::Cycles.register())), 100);
    file.write32(sm::at(1, sm::CONTROL), sm_control::SNAPSHOT);
    assert_eq!(file.read32(sm::at(1, Counter::ThreadInsts.register())), 90);
}
