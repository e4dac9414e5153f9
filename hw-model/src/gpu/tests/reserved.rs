//! Reserved capacity is available only to its kernel (Shieh 2016, section 3.1; sources.md D133).

use super::preempt::{preempting, preempting_gpu};
use super::*;
use crate::config::{ResumeOn, SwitchModel};
use mias_registers::preempt;

/// Cycles from which the second kernel, and the first, may have TBs.
const SECOND: u64 = 40_000;
const FIRST: u64 = 60_000;

/// SM with capacity for one TB of 256 threads in addition to three that stay for long. Two kernels
/// of `tbs` TBs are urgent. Capacity may be `reserved` for the first, which may not have TBs before
/// the second, of this `priority`, does. Returns the cycles of the first and the last TB issue of
/// each.
fn first_issues(reserved: bool, priority: u8, tbs: u32) -> [[u64; 2]; 2] {
    // Each uses another unit, so that older TBs do not keep younger ones from issuing.
    let arithmetic =
        |class, insts| move |_, _| (0..insts).map(|_| (StaticInst::new(0, class).writes(4).reads(&[4]), 0)).collect::<Vec<Step>>();
    let mut gpu = preempting_gpu(&preempting(SwitchModel::Traffic, ResumeOn::AnySm));
    gpu.launch(once(kernel(3, 256, 32, 0, arithmetic(Class::Sp, 100_000)))).expect("fits");
    for (stream, priority) in [(1, 1), (2, priority)] {
        gpu.launch(Launch { stream, priority, ..once(kernel(tbs, 256, 32, 0, arithmetic(Class::Int, 100))) }).expect("fits");
    }
    let quotas = |first, second| vec![3, first, second];
    let phases = vec![(0, quotas(0, 0)), (SECOND, quotas(0, 8)), (FIRST, quotas(8, 8))];
    let mut table = Table { phases, slots: Vec::new(), ideal: false };
    assert_eq!(gpu.run(&mut table, SECOND / 2), RunEnd::CycleLimit);
    assert_eq!(gpu.sms[0].resident(0), 3);
    if reserved {
        // The first three positions are those of the others.
        gpu.registers_mut().write32(preempt::at(0, preempt::RESERVED_LOW), 0b1000);
        gpu.registers_mut().write32(preempt::at(0, preempt::RESERVED_SLOT), 1 + 1);
    }
    assert_eq!(gpu.run(&mut table, FIRST + 20_000), RunEnd::CycleLimit);
    let launches = gpu.stats().launches;
    [1, 2].map(|launch: usize| {
        [launches[launch].first_issue_cycle, launches[launch].all_issued_cycle].map(|cycle| cycle.expect("it has TBs"))
    })
}

#[test]
fn what_is_reserved_is_taken_by_nobody_else() {
    for priority in [1, 2] {
        // The position is free, and any kernel that may have TBs takes it.
        let [_, [second, _]] = first_issues(false, priority, 1);
        assert!((SECOND..SECOND + 10).contains(&second), "priority {priority}: at {second}");
        // It is free for as long, and reserved.
        let [[first, _], [second, _]] = first_issues(true, priority, 1);
        assert!((FIRST..FIRST + 10).contains(&first), "priority {priority}: at {first}");
        assert!(second > first, "priority {priority}: at {first} and {second}");
    }
}

/// A position is reserved for one TB: it gives the next TB of the same kernel no precedence.
#[test]
fn a_position_is_reserved_once() {
    let [[first, last], [second, _]] = first_issues(true, 2, 2);
    assert!(first < second && second < last, "{first}, {second} and {last}");
}
