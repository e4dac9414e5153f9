//! Properties of numbers, each a function of arbitrary input that panics on violation.
//!
//! Each is stated once, for three sources of input: proptest (`firmware/tests`), the fuzzer
//! (`fuzz/fuzz_targets/firmware.rs`), and Kani (`firmware/src/proofs.rs`).
#![allow(dead_code, reason = "not everyone calls all of them")]

pub(crate) mod gpu;
pub(crate) mod numbers;
