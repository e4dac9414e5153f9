//! Tests of the window of the launch queue (sources.md D200).

use super::{gpu, kernel};
use crate::register_block::{Admitted, RegisterBlock};
use mias_registers::bus::Bus;
use mias_registers::{KERNEL_SLOTS, fault, feature, global, interrupt, queue, slot};

/// Block with a launch queue managed by the firmware.
fn managed() -> RegisterBlock {
    let mut gpu = gpu();
    gpu.features |= feature::QUEUE;
    let mut file = RegisterBlock::new(gpu);
    file.write32(global::QUEUE_MODE, 1);
    file.write32(global::INT_ENABLE, interrupt::QUEUE);
    file
}

fn passed(file: &mut RegisterBlock, entry: usize) -> u32 {
    file.read32(queue::at(entry, queue::PASSED))
}

#[test]
fn launches_are_shown_until_they_are_let_in() {
    let mut file = managed();
    for launch in 0..queue::ENTRIES {
        assert!(file.enter_queue(kernel(launch as u32 + 1), 100 + launch));
    }
    assert!(!file.enter_queue(kernel(1), 0), "the window is full");
    assert!(file.interrupt_pending());
    assert_eq!(file.read32(global::QUEUE_ENTRIES), 0xFFFF);
    assert_eq!([queue::GRID_TBS, queue::TB_THREADS, queue::NUMBER].map(|register| file.read32(queue::at(5, register))), [6, 256, 5]);
    file.write32(global::QUEUE_ADMIT, 5);
    assert_eq!(file.take_admitted(), [Admitted { launch: 105, slot: 0 }]);
    assert_eq!((file.read32(global::LAUNCH_COUNT), file.read32(slot::at(0, slot::GRID_TBS))), (1, 6));
    assert_eq!((file.read32(queue::at(5, queue::GRID_TBS)), file.read32(global::QUEUE_ENTRIES)), (0, 0xFFDF));
    // Earlier launches were bypassed, later ones were not.
    assert!((0..5).all(|entry| passed(&mut file, entry) == 1) && (6..16).all(|entry| passed(&mut file, entry) == 0));
    // A new launch is younger than all others, in any entry.
    assert!(file.enter_queue(kernel(9), 0));
    file.write32(global::QUEUE_ADMIT, 5);
    assert!((0..5).all(|entry| passed(&mut file, entry) == 2) && (6..16).all(|entry| passed(&mut file, entry) == 1));
    assert_eq!(file.faults(), 0);
}

/// Without an available slot, a launch waits, and the firmware is notified when one becomes
/// available.
#[test]
fn without_a_slot_a_launch_waits() {
    let mut file = managed();
    (0..KERNEL_SLOTS + 1).for_each(|launch| assert!(file.enter_queue(kernel(1), launch)));
    // An earlier kernel has requests in flight in two slots.
    file.set_occupied_slots(0b11);
    assert_eq!(file.read32(global::QUEUE_ROOM), 0xFC);
    (0..KERNEL_SLOTS as u32).for_each(|entry| file.write32(global::QUEUE_ADMIT, entry));
    assert_eq!(file.take_admitted().len(), KERNEL_SLOTS - 2);
    assert_eq!((file.queue_len(), passed(&mut file, KERNEL_SLOTS)), (3, 0));
    file.write32(global::INT_STATUS, u32::MAX);
    file.set_occupied_slots(0b01);
    assert!(file.interrupt_pending());
    file.write32(global::INT_STATUS, u32::MAX);
    file.set_occupied_slots(0);
    assert!(!file.interrupt_pending(), "nobody has asked since");
}

#[test]
fn what_is_not_there_cannot_be_let_in() {
    for entry in [0, 15, 16, u32::MAX] {
        let mut file = managed();
        file.write32(global::QUEUE_ADMIT, entry);
        assert_eq!((file.faults(), file.take_admitted()), (fault::VALUE_RANGE, Vec::new()), "{entry}");
    }
    let mut file = RegisterBlock::new(gpu());
    file.write32(global::QUEUE_MODE, 1);
    assert_eq!((file.faults(), file.queue_is_managed()), (fault::UNSUPPORTED, false));
}

/// When the firmware stops managing the queue, the launches in the window are admitted first,
/// oldest first.
#[test]
fn the_oldest_come_first_when_nobody_chooses() {
    let mut file = managed();
    (0..3).for_each(|launch| assert!(file.enter_queue(kernel(1), launch)));
    file.write32(global::QUEUE_ADMIT, 0);
    assert!(file.enter_queue(kernel(1), 3));
    file.write32(global::QUEUE_MODE, 0);
    (0..5).for_each(|_| file.admit_oldest());
    let order: Vec<usize> = file.take_admitted().iter().map(|admitted| admitted.launch).collect();
    assert_eq!((order, file.queue_len()), (vec![0, 1, 2, 3], 0));
}
