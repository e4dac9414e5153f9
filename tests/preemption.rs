//! The real firmware preempting on the real GPU model, by every scheme: kernels of any priority
//! arrive at any time, and no TB is lost or ends twice. The model's validation checks resources,
//! places and TBs in every cycle. `cargo xtask soak` runs many more schedules.

use crate::common::hand_made::{HandMade, any_kernel};
use crate::common::rig::{SCHEMES, Setting, launch, small_gpu};
use crate::common::schedules;
use mias_hw_model::config::{PreemptionConfig, ResumeOn, SwitchModel};
use mias_hw_model::gpu::{Gpu, Launch, Microcontroller, RunEnd};
use mias_hw_model::register_block::RegisterBlock;
use mias_policies::Firmware;
use mias_registers::{KERNEL_SLOTS, PolicyCode, preempt_scheme};
use proptest::prelude::*;

/// Number of schedules in a test run.
const USUAL: u32 = 60;

/// Latency limit of a preemption in cycles.
const LIMIT: u32 = 1_000;

/// Upper bound on the cycles of a run.
const TOO_LONG: u64 = 5_000_000;

/// Cycles that the oracle looks ahead.
const AHEAD: u64 = 2_000;

/// The firmware, which must raise no fault.
struct Sound(Firmware);

impl Microcontroller for Sound {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        let Ok(()) = self.0.on_interrupt(registers);
        assert_eq!(registers.faults(), 0, "faults in cycle {}", registers.now());
    }
}

fn any_launches() -> impl Strategy<Value = Vec<(HandMade, u64, u8, u32)>> {
    let one = (any_kernel(), 0u64..6_000, 0u8..3, prop::sample::select(vec![0u32, 1, 500, 20_000]));
    prop::collection::vec(one, 1..=4)
}

/// Runs the launches to their end.
fn run(launches: &[(HandMade, u64, u8, u32)], (switch, resume): (SwitchModel, ResumeOn), sms: u32, setting: &Setting) {
    let mut config = small_gpu(sms);
    config.sm.preemption = Some(PreemptionConfig { switch, resume, ..PreemptionConfig::default() });
    let mut gpu = Gpu::new(&config, setting.straps()).with_validation();
    let (scheme, _) = setting.preempt;
    if scheme == preempt_scheme::ORACLE {
        gpu = gpu.with_drain_oracle(AHEAD);
    }
    let mut firmware = Sound(Firmware::from_straps(gpu.registers_mut()).expect("the firmware knows its map"));
    let mut traces = Vec::new();
    for (stream, (kernel, arrival, priority, latency_limit)) in (0..).zip(launches) {
        let trace = kernel.trace();
        let launch = Launch { priority: *priority, latency_limit: *latency_limit, ..launch(&trace, stream, *arrival) };
        gpu.launch(launch).expect("every kernel here fits an SM");
        traces.push(trace);
    }
    let end = gpu.run(&mut firmware, TOO_LONG);
    assert_eq!(end, RunEnd::AllComplete, "{setting:?}, scheme {scheme}");
    let stats = gpu.stats();
    let flushed = stats.preemptions.iter().any(|tb| tb.technique == mias_hw_model::gpu::Technique::Flush && !tb.refused);
    for (launch, trace) in stats.launches.iter().zip(&traces) {
        assert_eq!(launch.tbs_completed, u64::from(trace.tbs()));
        // A flushed TB restarts, and its work counts once.
        let work = (launch.useful_warp_insts(), launch.useful_thread_insts());
        assert_eq!(work, (trace.warp_insts(), trace.thread_insts()), "of {} warp instructions", launch.warp_insts);
        assert!(flushed || launch.warp_insts == trace.warp_insts(), "{} instructions", launch.warp_insts);
        assert!(launch.first_issue_cycle <= launch.filled_cycle && launch.filled_cycle <= launch.all_issued_cycle);
        assert!(launch.all_issued_cycle < launch.end_cycle);
    }
    for tb in &stats.preemptions {
        assert!(tb.refused || tb.left_cycle.is_none_or(|left| left >= tb.commanded_cycle), "{tb:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(schedules(USUAL)) })]

    #[test]
    fn whoever_leaves_comes_back(
        launches in any_launches(),
        scheme in prop::sample::select(SCHEMES.to_vec()),
        policy in prop::sample::select(PolicyCode::ALL.to_vec()),
        switch in prop::sample::select(vec![SwitchModel::Traffic, SwitchModel::Stall]),
        resume in prop::sample::select(vec![ResumeOn::AnySm, ResumeOn::SameSm]),
        sms in 1u32..4,
        window in 50u32..2_000,
        fixed: [u8; KERNEL_SLOTS],
    ) {
        let setting = Setting { window, fixed, preempt: (scheme, LIMIT), ..Setting::new(policy, false) };
        run(&launches, (switch, resume), sms, &setting);
    }
}
