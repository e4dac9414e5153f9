//! Tests of extra TBs in the register block (sources.md D181).

use super::gpu;
use crate::register_block::{ExtraTbLimit, Peak, RawCounters, RegisterBlock};
use mias_registers::bus::Bus;
use mias_registers::{CONTEXT_ARRAYS, CONTEXT_COUNTS, context_allowed, context_bound, fault, feature, global, interrupt};

/// Block with a kernel in slot 2 that may have 5 extra TBs, in the L1 only.
fn file() -> RegisterBlock {
    let peaks = [Peak { most: 7, cycles: 3 }; CONTEXT_COUNTS];
    let mut file = RegisterBlock::new(gpu()).with_oversubscription(Some(peaks));
    file.context_kernel_placed(2, 5, true);
    file
}

fn counts(file: &mut RegisterBlock) -> [u32; CONTEXT_COUNTS] {
    CONTEXT_ARRAYS.map(|base| file.read32(base + 8))
}

#[test]
fn an_interval_is_latched_once_the_last_is_done_with() {
    let mut file = file();
    file.write32(global::CONTEXT_INTERVAL, 1_000);
    assert_eq!((file.context_interval(), file.context_intervals_asked()), (1_000, 1));
    // A peak of 7 in 3 cycles, rounded down.
    assert_eq!(file.read32(global::CONTEXT_CAPACITY + 20), 2_333);
    file.end_context_interval(2, [1, 2, 3, 4, 5, 1 << 40]);
    assert_eq!(
        (file.pending_events(), file.read32(global::CONTEXT_DUE), file.due_oversubscription()),
        (interrupt::OVERSUBSCRIPTION, 1 << 2, 1)
    );
    assert_eq!(counts(&mut file), [1, 2, 3, 4, 5, u32::MAX]);
    // An interval that ends while the firmware reads the last one is lost, and reported.
    file.write32(global::INT_STATUS, interrupt::OVERSUBSCRIPTION);
    file.end_context_interval(2, [9; CONTEXT_COUNTS]);
    assert_eq!((file.pending_events(), counts(&mut file)[0]), (interrupt::OVERSUBSCRIPTION, 1));
    file.write32(global::CONTEXT_DUE, 1 << 2);
    assert_eq!(file.due_oversubscription(), 0);
    file.end_context_interval(2, [9; CONTEXT_COUNTS]);
    assert_eq!(counts(&mut file), [9; CONTEXT_COUNTS]);
    assert_eq!(file.faults(), 0);
}

#[test]
fn what_is_allowed_is_within_the_bound_and_goes_with_the_kernel() {
    let mut file = file();
    assert_eq!(file.read32(global::CONTEXT_BOUND + 8), 5 | context_bound::NEEDS_L1);
    let word = 4 | context_allowed::IN_L1 | context_allowed::STOPPED | context_allowed::MODERATE << context_allowed::CLASS_SHIFT;
    file.write32(global::CONTEXT_ALLOWED + 8, word | 1 << 20);
    assert_eq!((file.read32(global::CONTEXT_ALLOWED + 8), file.faults()), (word, 0));
    assert_eq!(file.context_limit(2), ExtraTbLimit { extra: 4, in_l1: true });
    assert_eq!((file.take_context_writes(), file.take_context_writes()), (1 << 2, 0));
    assert_eq!(file.context_decisions(2), [0, 1, 0]);
    file.write32(global::CONTEXT_ALLOWED + 8, 6);
    assert_eq!((file.context_limit(2).extra, file.faults()), (5, fault::VALUE_RANGE));
    file.end_context_interval(2, [1; CONTEXT_COUNTS]);
    file.context_kernel_placed(2, 300, false);
    assert_eq!((file.read32(global::CONTEXT_BOUND + 8), file.read32(global::CONTEXT_ALLOWED + 8)), (255, 0));
    assert_eq!((counts(&mut file), file.due_oversubscription(), file.context_decisions(2)), ([0; CONTEXT_COUNTS], 0, [0; 3]));
}

#[test]
fn a_chip_that_does_not_leave_it_to_firmware_says_so() {
    let mut file = RegisterBlock::new(gpu());
    assert_eq!(file.read32(global::FEATURES) & feature::OVERSUBSCRIPTION, 0);
    for offset in [global::CONTEXT_INTERVAL, global::CONTEXT_DUE, global::CONTEXT_ALLOWED + 4] {
        file.write32(global::FAULT, u32::MAX);
        file.write32(offset, 1);
        assert_eq!(file.faults(), fault::UNSUPPORTED, "{offset:#x}");
    }
    assert_eq!((file.context_interval(), file.context_limit(1), file.take_context_writes()), (0, ExtraTbLimit::default(), 0));
}

/// The allowance and the acknowledgment of the counts take effect at the end of the decision time.
#[test]
fn what_is_allowed_waits_for_the_time_that_it_takes() {
    let mut file = file();
    file.write32(global::INT_ENABLE, interrupt::OVERSUBSCRIPTION);
    file.time_decisions();
    file.set_now(500);
    file.end_context_interval(2, [1; CONTEXT_COUNTS]);
    file.write32(global::INT_STATUS, interrupt::OVERSUBSCRIPTION);
    assert!(!file.undated_oversubscription());
    file.write32(global::CONTEXT_ALLOWED + 8, 3);
    file.write32(global::CONTEXT_DUE, 1 << 2);
    assert!(
        file.undated_oversubscription() && !file.undated_memory_limits() && !file.undated_placement() && file.undated_decision().is_none()
    );
    assert_eq!(file.due_oversubscription(), 1);
    file.finish_decision(600);
    file.tick(599, |_| RawCounters::default());
    file.end_context_interval(2, [2; CONTEXT_COUNTS]);
    assert_eq!((file.context_limit(2).extra, counts(&mut file), file.calls_firmware()), (0, [1; CONTEXT_COUNTS], false));
    file.tick(600, |_| RawCounters::default());
    assert_eq!((file.context_limit(2).extra, file.due_oversubscription(), file.calls_firmware()), (3, 0, true));
}
