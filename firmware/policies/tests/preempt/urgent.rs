//! Kernels with a priority, in addition to the policy (sources.md D136).

use super::register_block::FakeRegisterBlock;
use mias_policies::preempt::Scheme;
use mias_registers::{fault, global, interrupt, slot, slot_control};

#[test]
fn an_urgent_kernel_has_its_quota_at_once_and_beside_the_policy() {
    let mut register_block = FakeRegisterBlock::new(Scheme::Shieh, 2);
    register_block.kernel(0, 0, 50, 1000, 0, 100);
    register_block.launch(0);
    register_block.interrupt(interrupt::LAUNCH);
    register_block.kernel(5, 3, 50, 2000, 0, 10);
    register_block.launch(5);
    let quota = global::QUOTA_ALL + 4 * 5;
    register_block.writes.clear();
    register_block.interrupt(interrupt::LAUNCH);
    let phase = register_block.firmware.scheduler().phase();
    assert!(register_block.writes.windows(2).any(|two| two == [(quota, 2), (global::COMMIT, 1)]), "4,000 registers hold two");
    assert_eq!(
        (register_block.firmware.extension().preemption().urgent_slots(), register_block.firmware.scheduler().kernels().len()),
        (1 << 5, 1)
    );
    // The policy's own rescheduling, of the batch of slot 0, does not change it.
    register_block.writes.clear();
    register_block.set(global::CYCLE_LOW, 1 << 20);
    register_block.interrupt(interrupt::TIMER);
    assert_ne!(register_block.firmware.scheduler().phase(), phase);
    assert!(register_block.writes.contains(&(global::COMMIT, 1)) && !register_block.writes.iter().any(|(offset, _)| *offset == quota));
    assert_eq!(register_block.firmware.scheduler().reschedulings(), 1);
    // Several at a time; each is released when it has completed.
    register_block.kernel(6, 1, 50, 2000, 0, 10);
    register_block.launch(6);
    register_block.interrupt(interrupt::LAUNCH);
    assert_eq!(register_block.firmware.extension().preemption().urgent_slots(), 0b110_0000);
    register_block.complete(5);
    register_block.interrupt(interrupt::COMPLETED);
    assert_eq!(register_block.firmware.extension().preemption().urgent_slots(), 0b100_0000);
    assert!(register_block.writes.contains(&(slot::at(5, slot::CONTROL), slot_control::RELEASE)));
    assert_eq!(register_block.firmware.scheduler().reschedulings(), 1);
}

#[test]
fn an_urgent_kernel_that_fits_nowhere_is_rejected() {
    let mut register_block = FakeRegisterBlock::new(Scheme::Shieh, 1);
    register_block.kernel(3, 1, 50, 5000, 0, 10);
    register_block.launch(3);
    register_block.interrupt(interrupt::LAUNCH);
    assert!(register_block.writes.contains(&(slot::at(3, slot::CONTROL), slot_control::REJECT)));
    assert_eq!((register_block.faults(), register_block.firmware.extension().preemption().urgent_slots()), (fault::KERNEL_TOO_LARGE, 0));
    assert_eq!(register_block.get(global::LAUNCH_COUNT), 0);
}

/// The scheduler takes four kernels, the fifth and the seventh wait, and the sixth is urgent.
#[test]
fn an_urgent_kernel_does_not_wait_behind_others() {
    let mut register_block = FakeRegisterBlock::new(Scheme::Shieh, 1);
    for slot in 0..7 {
        register_block.kernel(slot, u32::from(slot == 5), 50, 1000, 0, 10);
        register_block.launch(slot as u32);
    }
    register_block.interrupt(interrupt::LAUNCH);
    assert_eq!(
        (register_block.firmware.scheduler().kernels().len(), register_block.firmware.extension().preemption().urgent_slots()),
        (4, 1 << 5)
    );
    assert_eq!(register_block.get(global::LAUNCH_COUNT), 1, "the seventh launch hides no other");
    // Waiting kernels are scheduled in order.
    for (done, expected) in [(0, 4), (1, 6)] {
        register_block.complete(done);
        register_block.interrupt(interrupt::COMPLETED);
        let last = register_block.firmware.scheduler().kernels().last().map(|kernel| kernel.slot);
        assert_eq!(last, Some(expected));
    }
}

#[test]
fn urgent_kernels_are_found_after_a_reset() {
    let mut register_block = FakeRegisterBlock::new(Scheme::Shieh, 1);
    register_block.kernel(2, 1, 50, 1000, 0, 10);
    register_block.kernel(4, 0, 50, 1000, 0, 10);
    register_block.restart();
    register_block.interrupt(interrupt::TIMER);
    assert_eq!(
        (register_block.firmware.extension().preemption().urgent_slots(), register_block.firmware.scheduler().kernels().len()),
        (1 << 2, 1)
    );
}
