//! Properties of numbers, each a function of arbitrary input that panics where it does not hold. One statement of each, for
//! whoever finds the input: proptest (`firmware/tests`), the fuzzer (`fuzz/fuzz_targets/firmware.rs`), Kani (`firmware/src/proofs.rs`).
#![allow(dead_code, reason = "not everyone calls all of them")]

pub(crate) mod gpu;
pub(crate) mod numbers;
