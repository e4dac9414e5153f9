#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
//! Policies and mechanisms beside those of [`mias_firmware`], for the same driver and the same register block.
//!
//! | module | what it is |
//! |---|---|
//! | [`policy`] | Warped-Slicer, SMK-P, coordinated combination, direct measurement, variants of MIAS; with the feature `search` those that search; [`AnyPolicy`] for all |
//! | [`metric`] | progress and the roofline prediction, as metrics of MIAS |
//! | [`extra`] | what policies measure beside the sums of counters |
//! | [`extras`] | what goes with any policy, as an extension of the driver: [`Extras`] |
//! | [`memory_limit`] | limits of memory instructions in flight |
//! | `preempt` | with the feature `preempt`: which TBs leave an SM for a kernel that has precedence, and how |
//! | `search` | with the feature `search`: how many SMs each kernel needs, found in steps |
//! | `levels` | with the feature `levels`: which launch of the queue is next, and what is set of memory issue and DRAM beside the policy |
//! | `oversubscription` | with the feature `contexts`: how many TBs beyond those that fit a kernel may have |
//!
//! As [`mias_firmware`], it allocates nothing, and has no floats, no recursion and no reachable panic.
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
#[cfg(feature = "contexts")]
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

/// The firmware with all policies and mechanisms: [`mias_firmware::Firmware`].
pub type Firmware<P = AnyPolicy, const C: usize = { mias_firmware::driver::DEFAULT_CONFIGS }> = mias_firmware::Firmware<P, Extras, C>;
