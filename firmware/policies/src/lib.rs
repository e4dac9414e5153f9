#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
//! Scheduling policies and mechanisms in addition to those of [`mias_firmware`], for the same
//! driver and register block.
//!
//! Use this crate for policies beyond MIAS and its baselines, or for preemption, launch scheduling
//! and memory-instruction limits. Use `mias-firmware` alone for the smallest image.
//!
//! | module | content |
//! |---|---|
//! | [`policy`] | Warped-Slicer, SMK-P, coordinated combination, direct measurement, variants of MIAS; with the feature `search` those that search; [`AnyPolicy`] for all |
//! | [`metric`] | progress and the roofline prediction, as metrics of MIAS |
//! | [`extra`] | additional measurements, next to the sums of counters |
//! | [`extras`] | mechanisms for any policy, as an extension of the driver: [`Extras`] |
//! | [`memory_limit`] | limits on memory instructions in flight |
//! | `preempt` | with the feature `preempt`: the TBs that leave an SM for a kernel of higher priority, and their techniques |
//! | `search` | with the feature `search`: the number of SMs that each kernel needs, found in steps |
//! | `levels` | with the feature `levels`: the next launch of the queue, and the settings of memory issue and DRAM |
//! | `oversubscription` | with the feature `oversubscription`: the number of extra TBs of a kernel |
//!
//! As [`mias_firmware`], it has no allocation, floats, recursion or reachable panic.
//!
//! # Example
//!
//! ```rust
//! use mias_firmware::gpu::{GpuProperties, Settings};
//! use mias_firmware::scheduler::Scheduler;
//! use mias_policies::AnyPolicy;
//! use mias_registers::PolicyCode;
//!
//! let gpu = GpuProperties { sm_count: 16, ..GpuProperties::NONE };
//! let settings = Settings::default();
//! let policy = AnyPolicy::new(PolicyCode::WarpedSlicer, &gpu, &settings, Default::default());
//! let scheduler = Scheduler::<AnyPolicy, 64>::new(policy, gpu, settings);
//! assert!(scheduler.kernels().is_empty());
//! ```
#![cfg_attr(any(test, kani), allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing))]

#[cfg(any(test, kani))]
extern crate self as mias_policies;
#[cfg(any(test, kani))]
extern crate std;

#[cfg(any(all(test, feature = "search", feature = "preempt"), kani))]
#[path = "../tests/bodies/mod.rs"]
mod bodies;
pub mod extra;
pub mod extras;
#[cfg(feature = "levels")]
pub mod levels;
pub mod memory_limit;
pub mod metric;
#[cfg(feature = "oversubscription")]
pub mod oversubscription;
pub mod policy;
#[cfg(feature = "preempt")]
pub mod preempt;
#[cfg(any(all(test, feature = "search", feature = "preempt"), kani))]
mod proofs;
#[cfg(feature = "search")]
pub mod search;

pub use extras::Extras;
pub use policy::AnyPolicy;

/// The firmware with all policies and mechanisms, as [`mias_firmware::Firmware`].
pub type Firmware<P = AnyPolicy, const C: usize = { mias_firmware::driver::DEFAULT_CONFIGS }> = mias_firmware::Firmware<P, Extras, C>;
