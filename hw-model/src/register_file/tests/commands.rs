//! Launches and their slots, modes, preemption, and the notes that the firmware leaves.

use super::{kernel, machine};
use crate::register_file::{MachineDescription, RegisterFile};
use mias_firmware::bus::Bus;
use mias_firmware::regs::{MAX_SLOTS, fault, feature, global, interrupt, mode, preempt, slot, slot_control};

#[test]
fn notes_of_the_firmware_are_kept_apart() {
    let mut file = RegisterFile::new(machine());
    let notes = [global::PHASE, global::RESCHEDULINGS, global::DECISION_BEGIN, global::DECISION_CYCLES];
    assert_eq!(notes.map(|offset| file.read32(offset)), [0; 4]);
    for (offset, value) in notes.into_iter().zip(3..) {
        file.write32(offset, value);
    }
    assert_eq!(notes.map(|offset| file.read32(offset)), [3, 4, 5, 6]);
    assert_eq!((file.reschedulings(), file.faults()), (4, 0));
}

#[test]
fn launches_queue_in_order_and_slots_are_released() {
    let mut file = RegisterFile::new(machine());
    let slots: Vec<_> = (0..=MAX_SLOTS).map(|grid| file.post_launch(kernel(grid as u32 + 1))).collect();
    assert_eq!(slots[..MAX_SLOTS], (0..MAX_SLOTS).map(Some).collect::<Vec<_>>());
    assert_eq!((slots[MAX_SLOTS], file.faults()), (None, fault::LAUNCH_OVERRUN));
    for expected in 0..MAX_SLOTS as u32 {
        assert_eq!(file.read32(global::LAUNCH_SLOT), expected);
        file.write32(global::LAUNCH_POP, 0);
    }
    assert_eq!(file.read32(global::LAUNCH_COUNT), 0);
    file.post_completed(3);
    assert_eq!(file.read32(global::COMPLETED), 1 << 3);
    assert!(!file.has_free_slot(), "a completed kernel keeps its slot until the firmware lets go");
    file.write32(slot::at(3, slot::CONTROL), slot_control::RELEASE);
    assert_eq!(file.post_launch(kernel(1)), Some(3));
    file.write32(slot::at(5, slot::CONTROL), slot_control::REJECT);
    assert_eq!((file.take_rejected(), file.take_rejected()), (1 << 5, 0));
}

#[test]
fn modes_and_commands_that_the_hardware_lacks_are_refused() {
    let mut file = RegisterFile::new(MachineDescription { features: 0, ..machine() });
    file.write32(global::MODE, mode::IDEAL);
    assert!(!file.ideal_transition() && file.faults() == fault::VALUE_RANGE);
    file.write32(global::PREEMPT, 1);
    assert!(file.preempt_command().is_none() && file.faults() & fault::UNSUPPORTED != 0);

    let mut file = RegisterFile::new(MachineDescription { features: feature::PREEMPT, ..machine() });
    file.write32(global::PREEMPT, 4 | 2 << preempt::SLOT_SHIFT | 3 << preempt::COUNT_SHIFT);
    assert_eq!(file.preempt_command().map(|command| (command.sm, command.slot, command.tbs)), Some((4, 2, 3)));
    file.post_preempt_done();
    assert_eq!(file.read32(global::INT_STATUS) & interrupt::PREEMPT_DONE, interrupt::PREEMPT_DONE);
    assert_eq!(file.read32(global::PREEMPT), 0);
}
