//! Random faults during preemption: kernels of any priority arrive at any time, and TBs leave by
//! every scheme.
//!
//! The faults are those of docs/porting/guarantees.md in interrupts, resets, silence, descriptors
//! and registers. `tests/common/fault_rig.rs` checks that no TB is lost or ends twice, that exactly
//! the flushed TBs are executed again, and that the system comes to rest. `cargo xtask soak` runs
//! many more.

use crate::common::fault_rig::FaultRig;
use crate::common::faults::{BrokenCounter, BrokenRegister, Fault, Reading};
use crate::common::hand_made::{HandMade, Step};
use crate::common::rig::{SCHEMES, Setting, launch, small_gpu};
use crate::common::schedules;
use mias_hw_model::config::{PreemptionConfig, ResumeOn, SwitchModel};
use mias_hw_model::gpu::Launch;
use mias_registers::counters::Counter;
use mias_registers::{KERNEL_SLOTS, PolicyCode, interrupt, preempt, preempt_scheme, slot};
use proptest::prelude::*;

/// Number of schedules in a test run.
const USUAL: u32 = 60;

/// Latency limit of a preemption in cycles.
const LIMIT: u32 = 1_000;

/// Cycles that the oracle looks ahead.
const AHEAD: u64 = 2_000;

fn reading() -> impl Strategy<Value = Reading> {
    prop_oneof![Just(Reading::Zero), any::<bool>().prop_map(|told| Reading::Max { told }), any::<u32>().prop_map(Reading::Torn)]
}

fn broken_counter() -> impl Strategy<Value = BrokenCounter> {
    (prop::option::of(0usize..4), prop::option::of(prop::sample::select(Counter::ALL.to_vec())), reading())
        .prop_map(|(sm, counter, reading)| BrokenCounter { sm, counter, reading })
}

/// Generates any register by which victims are chosen, including those that show written values.
fn broken_register() -> impl Strategy<Value = BrokenRegister> {
    let registers: Vec<u32> = preempt::REGISTERS.iter().map(|register| register.offset).collect();
    (prop::option::of(0usize..4), prop::sample::select(registers), reading()).prop_map(|(sm, register, reading)| BrokenRegister {
        sm,
        register,
        reading,
    })
}

/// Generates the faults of `tests/fault_schedules.rs`, in addition the interrupt of SMs that
/// request space and the other kernel fields of a selection. Resets come after more accesses,
/// because a selection makes more.
fn fault() -> impl Strategy<Value = Fault> {
    let statuses = vec![interrupt::LAUNCH, interrupt::COMPLETED, interrupt::PARTITION, interrupt::TIMER, interrupt::ALL];
    let status = prop_oneof![2 => Just(interrupt::PREEMPT), 1 => prop::sample::select(statuses)];
    let descriptor = prop_oneof![
        (Just(slot::TB_THREADS), 1u32..=1_024),
        (Just(slot::THREAD_REGISTERS), 0u32..=64),
        (Just(slot::TB_SHARED_BYTES), 0u32..=65_536),
        (Just(slot::UNFINISHED_TBS), any::<u32>()),
        (Just(slot::UNISSUED_TBS), any::<u32>()),
        (Just(slot::PRIORITY), 0u32..3),
        (Just(slot::LATENCY_LIMIT), any::<u32>()),
    ];
    prop_oneof![
        3 => (status, any::<bool>()).prop_map(|(status, events)| Fault::Lost { status, events }),
        2 => (1u32..4_000).prop_map(Fault::Late),
        2 => (0u32..6).prop_map(Fault::Doubled),
        1 => (1u32..4_000).prop_map(Fault::Silent),
        2 => (0u32..400).prop_map(Fault::SilentReads),
        3 => (0u32..400).prop_map(Fault::Reset),
        1 => Just(Fault::ResetAsleep),
        1 => descriptor.prop_map(|(register, value)| Fault::Descriptor { register, value }),
    ]
}

/// Generates a kernel of few instructions, because the test is about faults. It may be flushed
/// until it stores to loaded data, until its atomic, or to its end.
fn kernel() -> impl Strategy<Value = HandMade> {
    let threads = prop::sample::select(vec![64u32, 256, 512]);
    let shared = prop_oneof![3 => Just(0u32), 1 => Just(9_000u32), 1 => Just(40_000u32)];
    (1u32..24, threads, shared, 16u32..65, 1usize..60, 0..3).prop_map(|(tbs, threads, shared, registers, length, kind)| {
        let mut kernel = match kind {
            0 => HandMade::memory(tbs, threads, 1 + length as u64 / 20),
            _ => HandMade::compute(tbs, threads, length),
        };
        if kind == 2 {
            kernel.body.insert(length / 2, Step::Atomic(6, 3));
        }
        HandMade { registers, ..kernel.sharing(shared) }
    })
}

/// Generates kernels with their arrival, priority and limit.
fn launches() -> impl Strategy<Value = Vec<(HandMade, u64, u8, u32)>> {
    let one = || (kernel(), 0u64..4_000, 0u8..3, prop::sample::select(vec![0u32, 1, 500, 20_000]));
    prop_oneof![4 => prop::collection::vec(one(), 2..=4), 1 => prop::collection::vec(one(), 5..=8)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(schedules(USUAL)) })]

    #[test]
    fn whatever_goes_wrong_nobody_is_lost(
        launches in launches(),
        scheme in prop::sample::select(SCHEMES.to_vec()),
        policy in prop::sample::select(PolicyCode::ALL.to_vec()),
        (stall, same) in any::<(bool, bool)>(),
        (sms, window, fixed) in (1u32..4, 50u32..1_500, any::<[u8; KERNEL_SLOTS]>()),
        counters in prop::collection::vec(broken_counter(), 0..2),
        registers in prop::collection::vec(broken_register(), 0..3),
        schedule in prop::collection::vec((0u64..10_000, fault()), 0..6),
    ) {
        let mut config = small_gpu(sms);
        config.sm.preemption = Some(PreemptionConfig {
            switch: if stall { SwitchModel::Stall } else { SwitchModel::Traffic },
            resume: if same { ResumeOn::SameSm } else { ResumeOn::AnySm },
            ..PreemptionConfig::default()
        });
        let setting = Setting { window, fixed, preempt: (scheme, LIMIT), ..Setting::new(policy, false) };
        let mut rig = FaultRig::new(&config, &setting, &counters, &schedule).breaking(&registers);
        if scheme == preempt_scheme::ORACLE {
            rig = rig.foreseeing(AHEAD);
        }
        for ((kernel, arrival, priority, latency_limit), stream) in launches.iter().zip(0..) {
            let (priority, latency_limit) = (*priority, *latency_limit);
            rig.launch(Launch { priority, latency_limit, ..launch(&kernel.trace(), stream, *arrival) });
        }
        rig.run();
    }
}
