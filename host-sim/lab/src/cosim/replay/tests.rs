//! Generated recordings replayed in this process, with changes that must be found.
//! `host-sim/mias/tests/cosim/` tests the images.

use super::*;
use crate::cosim::recording::generate::{Request, generate};
use crate::cosim::recording::{Run, decode, encode};
use mias_registers::{PhaseCode, PolicyCode, fault, global, sm, sm_status};
use proptest::prelude::*;

fn made_up(seed: u64, cases: u32) -> Recording {
    generate(Request { seed, cases, sms: 12, kernels: 4 }, &mut || true).unwrap()
}

fn natively(recording: &Recording) -> Verdict {
    let ready = Ready::new(Target::Native, None, recording).unwrap();
    replay(recording, ready, &Cancel::default()).unwrap()
}

/// Replaces one access of a recording.
fn with_access(recording: &Recording, at: usize, access: Access) -> Recording {
    let [run] = recording.runs.as_slice() else { panic!("one run") };
    let mut changed = Run::new(run.gpu.clone());
    for step in run.steps() {
        changed.accesses_mut().extend_from_slice(step.accesses);
        changed.end_step(step.cycle);
    }
    changed.accesses_mut()[at] = access;
    Recording { runs: vec![changed], ..recording.clone() }
}

#[test]
fn the_same_seed_gives_the_same_recording_and_another_seed_another() {
    assert_eq!(encode(&made_up(7, 3)), encode(&made_up(7, 3)));
    assert_ne!(made_up(7, 3), made_up(8, 3));
    // The first runs do not depend on the number of runs.
    assert_eq!(made_up(7, 3).runs[..2], made_up(7, 2).runs);
    assert_eq!(generate(Request { seed: 1, cases: 3, sms: 12, kernels: 4 }, &mut || false), None);
}

/// Generated recordings cover all phases and policies, many decisions, counters at their limits,
/// ties and rejected launches.
#[test]
fn made_up_recordings_hold_what_they_are_for() {
    let recording = made_up(1, 200);
    let counts = Counts::of(&recording);
    assert!(counts.decisions > 400, "{counts:?}");
    let policies: std::collections::BTreeSet<_> = recording.runs.iter().map(|run| run.gpu.straps.policy).collect();
    assert_eq!(
        policies.len(),
        PolicyCode::ALL.iter().filter(|policy| !policy.searches()).count(),
        "all but those of an image of their own"
    );
    let accesses = || recording.runs.iter().flat_map(|run| run.accesses());
    let written = |offset, value| accesses().any(|&access| access == Access::Write { offset, value });
    for phase in PhaseCode::ALL {
        assert!(written(global::PHASE, phase as u32), "{phase:?}");
    }
    assert!(written(global::FAULT_SET, fault::KERNEL_TOO_LARGE));
    assert!(!written(global::FAULT_SET, fault::IMPOSSIBLE_INDEX), "hardware does nothing impossible");
    let read = |register: u32, value: u32| {
        accesses().any(|&access| {
            matches!(access, Access::Read { offset, value: found }
            if offset >= sm::BASE && (offset - sm::BASE) % sm::STRIDE == register && found == value)
        })
    };
    let thread_insts = mias_registers::counters::Counter::ThreadInsts;
    assert!(read(thread_insts.register(), thread_insts.max()) && read(thread_insts.register(), 0));
    assert!(read(sm::SATURATED, (1 << mias_registers::counters::COUNTERS) - 1), "all counters saturated");
    // The firmware does not use an SM's status.
    assert!(!read(sm::STATUS, sm_status::SATURATED));
}

#[test]
fn a_changed_write_is_the_first_difference() {
    let recording = made_up(3, 1);
    let at = recording.runs[0].accesses().iter().rposition(|access| matches!(access, Access::Write { .. })).unwrap();
    let Access::Write { offset, value } = recording.runs[0].accesses()[at] else { unreachable!() };
    let verdict = natively(&with_access(&recording, at, Access::Write { offset, value: value ^ 1 }));
    let End::Differs(Difference { run: 1, interrupt, cycle, parting }) = verdict.end else { panic!("{verdict:?}") };
    assert_eq!(parting.recorded, Some(Access::Write { offset, value: value ^ 1 }));
    assert_eq!(parting.made, Some(Access::Write { offset, value }));
    let step = recording.runs[0].steps().nth(interrupt).unwrap();
    assert_eq!((step.cycle, step.accesses[parting.access - 1]), (cycle, recording.runs[0].accesses()[at]));
    assert_eq!(verdict.done.reads + verdict.done.writes, at as u64);
}

#[test]
fn a_request_to_stop_is_heard() {
    let recording = made_up(3, 1);
    let cancel = Cancel::default();
    cancel.request();
    assert_eq!(replay(&recording, Ready::new(Target::Native, None, &recording).unwrap(), &cancel), None);
}

#[test]
fn a_firmware_that_is_too_small_is_refused() {
    let mut recording = made_up(3, 1);
    recording.maker.kernels = 5;
    let error = Ready::new(Target::Native, None, &recording).unwrap_err().to_string();
    assert!(error.starts_with("the firmware in this process is built for 4 kernels at a time, the recording asks for 5"), "{error}");
}

/// More SMs than the small image supports, and more kernels at a time than are scheduled.
#[test]
fn large_gpus_and_many_kernels_replay_too() {
    let recording = generate(Request { seed: 5, cases: 6, sms: 132, kernels: 8 }, &mut || true).unwrap();
    assert_eq!(recording.maker.configs, 264);
    assert_eq!(natively(&recording).end, End::Same);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_recording_replayed_natively_equals_the_run_that_made_it(seed: u64) {
        let recording = made_up(seed, 2);
        let verdict = natively(&decode(&encode(&recording).unwrap()).unwrap());
        prop_assert_eq!(&verdict, &Verdict { target: Target::Native, done: Counts::of(&recording), end: End::Same });
    }

    /// A firmware with one changed answer does not panic, and its first different access is found.
    #[test]
    fn a_changed_answer_gives_a_verdict(seed: u64, at: prop::sample::Index, value: u32) {
        let recording = made_up(seed, 1);
        let at = at.index(recording.runs[0].accesses().len());
        let changed = match recording.runs[0].accesses()[at] {
            Access::Read { offset, .. } => Access::Read { offset, value },
            Access::Write { offset, .. } => Access::Write { offset, value },
        };
        let verdict = natively(&with_access(&recording, at, changed));
        prop_assert!(verdict.done.reads + verdict.done.writes >= at as u64, "{:?}", verdict);
    }
}
