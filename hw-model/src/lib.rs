//! The GPU that the firmware drives: a cycle-level timing model with the scheduler's register block on its edge.
//!
//! Data flows one way: a [`KernelTrace`](mias_warp_trace::KernelTrace) (what the kernel did, produced once by a front end) is replayed by the
//! timing model; its counters appear in the register block; the microcontroller reads them and writes TB quotas back.
//! This crate knows warps, caches and DRAM; it never hears of policies (docs/architecture.md).
//!
//! Time is an integer number of core cycles. There are no floats, no hash maps, and no allocation in the cycle loop:
//! equal inputs give equal bytes.
#![forbid(unsafe_code)]

pub mod cache;
pub mod config;
mod counts;
pub mod energy;
pub mod gpu;
#[cfg(test)]
mod hand_made;
pub mod memory;
mod queue;
pub mod register_block;
pub mod sm;
