//! Random faults at random times under random work, with the properties of
//! docs/porting/guarantees.md, which `tests/common/fault_rig.rs` checks in every run. `cargo xtask
//! soak` runs many more of them.

use crate::common::fault_rig::FaultRig;
use crate::common::faults::{BrokenCounter, Fault, Reading};
use crate::common::hand_made::HandMade;
use crate::common::rig::{Setting, launch, small_gpu};
use crate::common::schedules;
use mias_registers::counters::Counter;
use mias_registers::{KERNEL_SLOTS, PolicyCode, interrupt, slot};
use proptest::prelude::*;

/// Number of schedules in a test run.
const USUAL: u32 = 300;

fn reading() -> impl Strategy<Value = Reading> {
    prop_oneof![Just(Reading::Zero), any::<bool>().prop_map(|told| Reading::Max { told }), any::<u32>().prop_map(Reading::Torn)]
}

fn broken_counter() -> impl Strategy<Value = BrokenCounter> {
    (prop::option::of(0usize..4), prop::option::of(prop::sample::select(Counter::ALL.to_vec())), reading())
        .prop_map(|(sm, counter, reading)| BrokenCounter { sm, counter, reading })
}

fn fault() -> impl Strategy<Value = Fault> {
    let statuses = vec![
        interrupt::LAUNCH,
        interrupt::DRAINED,
        interrupt::COMPLETED,
        interrupt::PARTITION,
        interrupt::PROFILE_DONE,
        interrupt::TIMER,
        interrupt::ALL,
    ];
    let descriptor = prop_oneof![
        (Just(slot::TB_THREADS), 1u32..=1_024),
        (Just(slot::THREAD_REGISTERS), 0u32..=64),
        (Just(slot::TB_SHARED_BYTES), 0u32..=65_536),
        (Just(slot::GRID_TBS), 1u32..),
        (Just(slot::UNFINISHED_TBS), any::<u32>()),
    ];
    prop_oneof![
        3 => (prop::sample::select(statuses), any::<bool>()).prop_map(|(status, events)| Fault::Lost { status, events }),
        2 => (1u32..4_000).prop_map(Fault::Late),
        2 => (0u32..6).prop_map(Fault::Doubled),
        1 => (1u32..4_000).prop_map(Fault::Silent),
        2 => (0u32..120).prop_map(Fault::SilentReads),
        3 => (0u32..160).prop_map(Fault::Reset),
        1 => Just(Fault::ResetAsleep),
        // Descriptors that fit an SM. Others are rejected, which the model's launch does not know.
        1 => descriptor.prop_map(|(register, value)| Fault::Descriptor { register, value }),
    ]
}

/// Generates a kernel of few instructions, because the test is about faults.
fn kernel() -> impl Strategy<Value = HandMade> {
    let threads = prop::sample::select(vec![32u32, 64, 256]);
    let shared = prop_oneof![3 => Just(0u32), 1 => Just(9_000u32), 1 => Just(40_000u32)];
    let body = prop_oneof![(1usize..60).prop_map(Ok), (1u64..4).prop_map(Err)];
    (1u32..40, threads, shared, body).prop_map(|(tbs, threads, shared, body)| {
        match body {
            Ok(instructions) => HandMade::compute(tbs, threads, instructions),
            Err(loads) => HandMade::memory(tbs, threads, loads),
        }
        .sharing(shared)
    })
}

/// Generates launches whose streams are numbered as the launches, so each kernel has its own.
fn launches() -> impl Strategy<Value = Vec<(HandMade, u64)>> {
    let arrival = prop_oneof![2 => Just(0u64), 3 => 0u64..4_000];
    prop_oneof![5 => prop::collection::vec((kernel(), arrival.clone()), 1..=4), 1 => prop::collection::vec((kernel(), arrival), 5..=10)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(schedules(USUAL)) })]

    #[test]
    fn whatever_goes_wrong(
        launches in launches(),
        policy in prop::sample::select(PolicyCode::ALL.to_vec()),
        sms in 1u32..5,
        window in 50u32..1_500,
        fixed: [u8; KERNEL_SLOTS],
        ideal: bool,
        counters in prop::collection::vec(broken_counter(), 0..3),
        schedule in prop::collection::vec((0u64..8_000, fault()), 0..6),
    ) {
        let setting = Setting { window, fixed, ..Setting::new(policy, ideal) };
        let mut rig = FaultRig::new(&small_gpu(sms), &setting, &counters, &schedule);
        for ((kernel, arrival), stream) in launches.iter().zip(0..) {
            rig.launch(launch(&kernel.trace(), stream, *arrival));
        }
        rig.run();
    }
}
