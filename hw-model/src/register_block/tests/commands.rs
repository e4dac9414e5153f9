//! Tests of launches and their slots, modes, preemption, and the reports of the firmware.

use super::{gpu, kernel};
use crate::register_block::{GpuDescription, PreemptAction, RegisterBlock, ShownTb};
use mias_registers::bus::Bus;
use mias_registers::{
    KERNEL_SLOTS, fault, global, interrupt, mode, preempt, preempt_command, preempt_reserve, preempt_tb, slot, slot_control, technique,
};

#[test]
fn notes_of_the_firmware_are_kept_apart() {
    let mut file = RegisterBlock::new(gpu());
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
    let mut file = RegisterBlock::new(gpu());
    let slots: Vec<_> = (0..=KERNEL_SLOTS).map(|grid| file.post_launch(kernel(grid as u32 + 1))).collect();
    assert_eq!(slots[..KERNEL_SLOTS], (0..KERNEL_SLOTS).map(Some).collect::<Vec<_>>());
    assert_eq!((slots[KERNEL_SLOTS], file.faults()), (None, fault::LAUNCH_OVERRUN));
    for expected in 0..KERNEL_SLOTS as u32 {
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
    let mut file = RegisterBlock::new(GpuDescription { features: 0, ..gpu() });
    file.write32(global::MODE, mode::IDEAL);
    assert!(!file.ideal_transition() && file.faults() == fault::VALUE_RANGE);
    file.write32(global::MODE, mode::PREEMPT);
    assert!(!file.preempts());
    file.write32(preempt::at(0, preempt::COMMAND), technique::DRAIN);
    assert!(file.take_preempt_actions().is_empty() && file.faults() & fault::UNSUPPORTED != 0);
    assert_eq!(file.read32(preempt::at(0, preempt::TB_LEFT)), preempt::UNKNOWN);
}

#[test]
fn preemption_is_shown_asked_for_and_commanded() {
    let mut file = RegisterBlock::new(gpu()).with_preemption(true);
    let command = |place: u32| preempt::at(2, preempt::COMMAND + 4 * place);
    file.write32(command(0), technique::DRAIN);
    let refused = technique::DRAIN | preempt_command::REFUSED | preempt_command::MODE << preempt_command::REASON_SHIFT;
    assert_eq!((file.read32(command(0)), file.take_preempt_actions()), (refused, vec![]));

    file.write32(global::MODE, mode::PREEMPT);
    let shown = ShownTb {
        slot: 5,
        flush: true,
        leaving: technique::DRAIN,
        insts: 7,
        cycles: 1 << 40,
        first_register: 4096,
        first_shared: 2048,
        left: Some(9),
        came_cycle: 11,
    };
    file.show_tb(2, 3, Some(shown), 0);
    let of = |register: u32| preempt::at(2, register + 4 * 3);
    let expected = [
        (preempt::TB, preempt_tb::LIVE | preempt_tb::FLUSH | 5 << preempt_tb::SLOT_SHIFT | technique::DRAIN << preempt_tb::LEAVING_SHIFT),
        (preempt::TB_INSTS, 7),
        (preempt::TB_CYCLES, u32::MAX - 1),
        (preempt::TB_REGISTERS, 4096),
        (preempt::TB_SHARED, 2048),
        (preempt::TB_LEFT, 9),
    ];
    for (register, value) in expected {
        assert_eq!(file.read32(of(register)), value, "{register:#x}");
        assert_eq!(file.read32(preempt::at(2, register)), if register == preempt::TB_LEFT { preempt::UNKNOWN } else { 0 });
    }

    file.want_room(2, Some((6, 4)));
    assert_eq!(file.read32(global::INT_STATUS) & interrupt::PREEMPT, interrupt::PREEMPT);
    assert_eq!((file.read32(global::PREEMPT_WANTED), file.read32(preempt::at(2, preempt::WANTED))), (1 << 2, 7 | 4 << 8));
    file.write32(global::PREEMPT_WANTED, 1 << 2);
    assert_eq!(file.read32(global::PREEMPT_WANTED), 0);

    file.write32(preempt::at(2, preempt::RESERVED_LOW), 0b101);
    file.write32(preempt::at(2, preempt::RESERVED_HIGH), 1);
    assert!(!file.has_preempt_actions());
    file.write32(preempt::at(2, preempt::RESERVED_SLOT), 7 | preempt_reserve::WHOLE_SM);
    file.write32(of(preempt::COMMAND), technique::SWITCH | 1234 << preempt_command::ESTIMATE_SHIFT);
    let positions = 1 << 32 | 0b101;
    let actions = vec![
        (2, PreemptAction::Reserve { word: 7 | preempt_reserve::WHOLE_SM, positions }),
        (2, PreemptAction::Command { place: 3, technique: technique::SWITCH, estimate: 1234, came_cycle: Some(11) }),
    ];
    assert_eq!(file.take_preempt_actions(), actions);
    file.post_preempt_done(2);
    assert_eq!((file.read32(global::PREEMPT_DONE), file.faults()), (1 << 2, 0));
}
