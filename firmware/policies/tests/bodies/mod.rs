//! Properties of the firmware, each a function of arbitrary input that panics on violation.
//!
//! Each is stated once, for three sources of input: proptest (`firmware/policies/tests`), the
//! fuzzer (`fuzz/fuzz_targets/firmware.rs`), and Kani (`firmware/policies/src/proofs.rs`).
#![allow(dead_code, reason = "not everyone calls all of them")]

pub(crate) mod block;
#[path = "../../../tests/bodies/gpu.rs"]
pub(crate) mod gpu;
pub(crate) mod scheduling;

use mias_firmware::policy::Policy;
use mias_firmware::scheduler::Scheduler;

/// No SM is assigned more than its capacity, as far as the firmware knows it. A drained kernel
/// issues no TB, so its quota does not count.
fn commits_what_fits<P: Policy, const C: usize>(scheduler: &Scheduler<P, C>, sm: usize) {
    let vector = scheduler.quotas(sm);
    let mut rest = Some(scheduler.gpu().limits.capacity);
    for (slot, tbs) in scheduler.scheduled_slots().iter().zip(vector.0) {
        let kernel = scheduler.kernels().iter().find(|kernel| kernel.slot == *slot && !kernel.drained);
        rest = kernel.map_or(rest, |kernel| rest?.minus(&kernel.demand, tbs.into()));
    }
    assert!(rest.is_some(), "{vector:?} over-commits SM {sm}");
}
