//! Kernels with a priority, in addition to the policy (sources.md D136).

use super::desk::FakeRegisterBlock;
use mias_policies::preempt::Scheme;
use mias_registers::{fault, global, interrupt, slot, slot_control};

#[test]
fn an_urgent_kernel_has_its_quota_at_once_and_beside_the_policy() {
    let mut desk = FakeRegisterBlock::new(Scheme::Shieh, 2);
    desk.kernel(0, 0, 50, 1000, 0, 100);
    desk.launch(0);
    desk.interrupt(interrupt::LAUNCH);
    desk.kernel(5, 3, 50, 2000, 0, 10);
    desk.launch(5);
    let quota = global::QUOTA_ALL + 4 * 5;
    desk.writes.clear();
    desk.interrupt(interrupt::LAUNCH);
    let phase = desk.firmware.scheduler().phase();
    assert!(desk.writes.windows(2).any(|two| two == [(quota, 2), (global::COMMIT, 1)]), "4,000 registers hold two");
    assert_eq!((desk.firmware.extension().preemption().urgent_slots(), desk.firmware.scheduler().kernels().len()), (1 << 5, 1));
    // The policy's own rescheduling, of the batch of slot 0, does not change it.
    desk.writes.clear();
    desk.set(global::CYCLE_LOW, 1 << 20);
    desk.interrupt(interrupt::TIMER);
    assert_ne!(desk.firmware.scheduler().phase(), phase);
    assert!(desk.writes.contains(&(global::COMMIT, 1)) && !desk.writes.iter().any(|(offset, _)| *offset == quota));
    assert_eq!(desk.firmware.scheduler().reschedulings(), 1);
    // Several at a time; each is released when it has completed.
    desk.kernel(6, 1, 50, 2000, 0, 10);
    desk.launch(6);
    desk.interrupt(interrupt::LAUNCH);
    assert_eq!(desk.firmware.extension().preemption().urgent_slots(), 0b110_0000);
    desk.complete(5);
    desk.interrupt(interrupt::COMPLETED);
    assert_eq!(desk.firmware.extension().preemption().urgent_slots(), 0b100_0000);
    assert!(desk.writes.contains(&(slot::at(5, slot::CONTROL), slot_control::RELEASE)));
    assert_eq!(desk.firmware.scheduler().reschedulings(), 1);
}

#[test]
fn an_urgent_kernel_that_fits_nowhere_is_rejected() {
    let mut desk = FakeRegisterBlock::new(Scheme::Shieh, 1);
    desk.kernel(3, 1, 50, 5000, 0, 10);
    desk.launch(3);
    desk.interrupt(interrupt::LAUNCH);
    assert!(desk.writes.contains(&(slot::at(3, slot::CONTROL), slot_control::REJECT)));
    assert_eq!((desk.faults(), desk.firmware.extension().preemption().urgent_slots()), (fault::KERNEL_TOO_LARGE, 0));
    assert_eq!(desk.get(global::LAUNCH_COUNT), 0);
}

/// The scheduler takes four kernels, the fifth and the seventh wait, and the sixth is urgent.
#[test]
fn an_urgent_kernel_does_not_wait_behind_others() {
    let mut desk = FakeRegisterBlock::new(Scheme::Shieh, 1);
    for slot in 0..7 {
        desk.kernel(slot, u32::from(slot == 5), 50, 1000, 0, 10);
        desk.launch(slot as u32);
    }
    desk.interrupt(interrupt::LAUNCH);
    assert_eq!((desk.firmware.scheduler().kernels().len(), desk.firmware.extension().preemption().urgent_slots()), (4, 1 << 5));
    assert_eq!(desk.get(global::LAUNCH_COUNT), 1, "the seventh hides nobody");
    // Waiting kernels are scheduled in order.
    for (done, expected) in [(0, 4), (1, 6)] {
        desk.complete(done);
        desk.interrupt(interrupt::COMPLETED);
        let last = desk.firmware.scheduler().kernels().last().map(|kernel| kernel.slot);
        assert_eq!(last, Some(expected));
    }
}

#[test]
fn urgent_kernels_are_found_after_a_reset() {
    let mut desk = FakeRegisterBlock::new(Scheme::Shieh, 1);
    desk.kernel(2, 1, 50, 1000, 0, 10);
    desk.kernel(4, 0, 50, 1000, 0, 10);
    desk.restart();
    desk.interrupt(interrupt::TIMER);
    assert_eq!((desk.firmware.extension().preemption().urgent_slots(), desk.firmware.scheduler().kernels().len()), (1 << 2, 1));
}
