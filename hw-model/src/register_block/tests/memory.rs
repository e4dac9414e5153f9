//! Tests of memory issue in the register block (sources.md D127).

use super::{SMS, gpu, kernel};
use crate::config::{InFlightLimit, MemoryIssueConfig};
use crate::register_block::{RawCounters, RegisterBlock};
use crate::sm::KernelMemoryCounts;
use mias_registers::bus::Bus;
use mias_registers::{fault, global, interrupt, memory, memory_active, memory_mode, sm, sm_control};
use proptest::prelude::*;

fn file() -> RegisterBlock {
    let mut file = RegisterBlock::new(gpu()).with_memory_issue(Some(&MemoryIssueConfig::default()));
    file.post_launch(kernel(100));
    file
}

/// Counters with these counts in slot 1.
fn counted(raw: KernelMemoryCounts) -> RawCounters {
    let mut counters = RawCounters::default();
    counters.memory[1] = raw;
    counters
}

fn read(file: &mut RegisterBlock, register: u32) -> u32 {
    file.read32(memory::at(2, register + 4))
}

proptest! {
    /// A snapshot latches the counts since the slot's last latch, saturated to the register width.
    /// A slot with fewer than 1,024 requests waits for the next snapshot. No count wraps.
    #[test]
    fn a_snapshot_latches_what_was_counted_since(
        steps in prop::collection::vec((0..3_000_u64, 0..1_u64 << 26, 0..1_u64 << 26, 0..2_000_u16, 0..2_000_u16), 1..20),
    ) {
        let mut file = file();
        let (mut raw, mut base) = (KernelMemoryCounts::default(), KernelMemoryCounts::default());
        let mut expected = [0; 4];
        for (requests, fails, held_cycles, in_flight, peak) in steps {
            raw.requests += requests;
            raw.fails += fails;
            raw.held_cycles += held_cycles;
            (raw.in_flight, raw.peak) = (in_flight, peak.max(in_flight));
            file.load_counters(2, counted(raw));
            file.write32(global::MEMORY_SNAPSHOT, 1);
            let ready = raw.requests - base.requests >= 1024;
            if ready {
                let counts = [raw.requests - base.requests, raw.fails - base.fails, raw.held_cycles - base.held_cycles];
                expected = [counts[0], counts[1], counts[2], 0].map(|count| count.min((1 << 24) - 1));
                expected[3] = u64::from(raw.peak.min(1023));
                base = raw;
            }
            prop_assert_eq!(file.read32(global::MEMORY_READY), if ready { 1 << 2 } else { 0 });
            prop_assert_eq!(file.read32(memory::at(2, memory::READY)), if ready { 1 << 1 } else { 0 });
            prop_assert_eq!(file.take_latched(2), if ready { 1 << 1 } else { 0 });
            let latched = [memory::REQUESTS, memory::FAILS, memory::HELD_CYCLES, memory::PEAK];
            let found = latched.map(|register| u64::from(read(&mut file, register)));
            prop_assert_eq!(found, expected);
            prop_assert_eq!(read(&mut file, memory::IN_FLIGHT), u32::from(in_flight.min(1023)));
            prop_assert_eq!(file.read32(memory::at(1, memory::REQUESTS + 4)), 0);
        }
        prop_assert_eq!(file.faults(), 0);
    }
}

#[test]
fn limits_and_modes_are_clamped_and_read_back() {
    let mut file = file();
    let before = file.memory_generation();
    file.write32(global::MEMORY_MODE_ALL, memory_mode::QUOTA | memory_mode::WRITTEN);
    file.write32(memory::at(3, memory::LIMIT + 4), 9);
    assert_ne!(file.memory_generation(), before);
    assert_eq!(file.read32(memory::at(3, memory::LIMIT + 4)), 9);
    file.write32(global::MEMORY_LIMIT_ALL + 4, 127);
    let settings = (0..SMS).map(|sm| file.memory_settings(sm));
    assert!(settings.into_iter().all(|s| s.limits[1] == 127 && s.mode == 0x12 && s.active));
    assert_eq!(file.faults(), 0);
    file.write32(memory::at(0, memory::LIMIT), 128);
    assert_eq!((file.read32(memory::at(0, memory::LIMIT)), file.faults()), (127, fault::VALUE_RANGE));
    file.write32(memory::at(0, memory::MODE), 3);
    assert_eq!(file.read32(memory::at(0, memory::MODE)), memory_mode::QUOTA);
    // A new kernel in the slot has the limit after reset and counts from 0.
    file.load_counters(0, counted(KernelMemoryCounts { requests: 5_000, ..KernelMemoryCounts::default() }));
    file.memory_kernel_placed(1);
    file.write32(global::MEMORY_SNAPSHOT, 1);
    assert_eq!((file.read32(memory::at(0, memory::READY)), file.read32(memory::at(0, memory::LIMIT + 4))), (0, 0));
}

#[test]
fn limits_of_the_firmware_begin_with_as_many_as_are_counted() {
    let config = MemoryIssueConfig { in_flight: InFlightLimit::Firmware, ..MemoryIssueConfig::default() };
    let mut file = RegisterBlock::new(gpu()).with_memory_issue(Some(&config));
    for slot in 0..8 {
        assert_eq!(file.read32(memory::at(4, memory::LIMIT + 4 * slot)), 127);
    }
    assert_eq!(file.read32(memory::at(0, memory::MODE)), memory_mode::WRITTEN);
}

#[test]
fn an_sm_without_it_cannot_be_told_to_hold_back() {
    let mut file = RegisterBlock::new(gpu());
    for offset in [global::MEMORY_MODE_ALL, global::MEMORY_ACTIVE, global::MEMORY_LIMIT_ALL, memory::at(1, memory::LIMIT)] {
        file.write32(global::FAULT, u32::MAX);
        file.write32(offset, 1);
        assert_eq!(file.faults(), fault::UNSUPPORTED, "{offset:#x}");
    }
    assert_eq!((file.memory_generation(), file.memory_settings(1).mode), (0, 0));
}

/// Profiling runs without restrictions: from arming until quotas come after the window.
#[test]
fn from_the_decision_on_is_not_while_windows_run() {
    let mut file = file();
    let active = |file: &RegisterBlock| -> Vec<bool> { (0..3).map(|sm| file.memory_settings(sm).active).collect() };
    file.write32(global::PROFILE_WINDOW, 100);
    file.write32(global::MEMORY_ACTIVE, memory_active::FROM_DECISION);
    assert_eq!(active(&file), [true; 3]);
    file.write32(global::COMMIT, 1);
    file.write32(sm::at(1, sm::CONTROL), sm_control::ARM);
    let tick = |file: &mut RegisterBlock, now: u64| file.tick(now, |_| RawCounters::default());
    for now in 0..=150 {
        tick(&mut file, now);
        assert_eq!(active(&file), [true, false, true], "cycle {now}");
        // A commit during the window is not a decision.
        if now == 50 {
            file.write32(global::COMMIT, 1);
        }
    }
    assert_eq!(file.read32(global::PROFILE_DONE), 1 << 1);
    file.write32(global::COMMIT, 1);
    assert_eq!(active(&file), [true; 3]);
    file.write32(global::MEMORY_ACTIVE, memory_active::OFF);
    assert_eq!(active(&file), [false; 3]);
}

#[test]
fn intervals_follow_one_another() {
    let mut file = file();
    file.write32(global::INT_STATUS, u32::MAX);
    file.set_now(1_000);
    file.write32(global::MEMORY_INTERVAL, 70);
    for now in 1_001..2_000_u64 {
        if file.needs_tick(now) {
            assert_eq!(file.next_deadline(), Some(now));
            file.tick(now, |_| RawCounters::default());
        }
        let due = (now - 1_000).is_multiple_of(70);
        assert_eq!(file.pending_events() & interrupt::MEMORY != 0, due, "cycle {now}");
        file.write32(global::INT_STATUS, interrupt::MEMORY);
    }
    file.write32(global::MEMORY_INTERVAL, 0);
    assert_eq!(file.next_deadline(), None);
}

/// Limits take effect at the end of the decision time; the snapshot is taken in the cycle of the
/// command.
#[test]
fn limits_wait_for_the_time_that_they_take() {
    let mut file = file();
    file.write32(global::INT_STATUS, u32::MAX);
    file.write32(global::MEMORY_MODE_ALL, memory_mode::WRITTEN);
    file.time_decisions();
    file.set_now(500);
    file.load_counters(2, counted(KernelMemoryCounts { requests: 2_000, fails: 6_000, peak: 40, ..KernelMemoryCounts::default() }));
    file.write32(global::MEMORY_SNAPSHOT, 1);
    assert_eq!([memory::REQUESTS, memory::FAILS, memory::PEAK].map(|register| read(&mut file, register)), [2_000, 6_000, 40]);
    file.write32(memory::at(2, memory::LIMIT + 4), 13);
    assert!(file.undated_memory_limits() && !file.undated_placement() && file.undated_decision().is_none());
    assert_eq!(file.latched_kernels(), (1, 1));
    file.finish_decision(600);
    for now in 501..600 {
        file.tick(now, |_| RawCounters::default());
        assert_eq!((file.memory_settings(2).limits[1], file.calls_firmware()), (0, false));
    }
    file.tick(600, |_| RawCounters::default());
    assert_eq!(file.memory_settings(2).limits[1], 13);
}
