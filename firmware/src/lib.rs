#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
//! MIAS (Memory Interference Aware Scheduler) as firmware: the thread-block scheduler of a GPU, for
//! a microcontroller next to it.
//!
//! Use this crate to run thread-block scheduling on a microcontroller, or over a model of the
//! register block. It has no standard library, allocation, floating point, recursion or reachable
//! panic. The firmware accesses its GPU through a register block on a two-function
//! [bus](mias_registers::bus). It receives launches, completions and finished profiling windows,
//! and answers with TB quotas per SM.
//!
//! | module | content |
//! |---|---|
//! | [`mias_registers`] | the contract with the hardware |
//! | [`driver`] | registers to events, commands to registers: [`driver::Firmware`] |
//! | [`service`], [`crash_record`] | around the driver in an image: watchdog and waiting; the crash record |
//! | [`scheduler`] | the state machine, independent of hardware |
//! | [`policy`] | Left-over, Spatial, MIAS, a fixed configuration; all others are in the crate `mias-policies` |
//! | [`sm_set`] | sets of SMs |
//! | [`configs`] | all maximal TB vectors of an SM, and the table of the tried ones |
//! | [`metric`] | IPC, IPM*IPC, Factor, Linear, as exact rationals |
//! | [`limits`] | capacities of the images |
//! | `log` | with the feature `defmt`, on targets: phases, decisions and faults as defmt logs |
//! | [`resources`], [`kernel`], [`gpu`], [`counters`] | TB demands, launched kernels, parameters, the counters of a decision |
//! | [`quantity`] | the fixed-point types: fraction bits and ranges |
//!
//! Integration takes a [`Bus`](mias_registers::bus::Bus), or a
//! [`TryBus`](mias_registers::bus::TryBus) if an access can fail, and one call per interrupt.
//! `examples/own_bus.rs` launches a kernel this way.
//!
//! # Example
//!
//! ```rust
//! use std::collections::BTreeMap;
//!
//! use mias_firmware::Firmware;
//! use mias_firmware::policy::ShippedPolicy;
//! use mias_registers::bus::Bus;
//! use mias_registers::{ID_VALUE, PolicyCode, VERSION_VALUE, global};
//!
//! struct Block(BTreeMap<u32, u32>);
//!
//! impl Bus for Block {
//!     fn read32(&mut self, offset: u32) -> u32 {
//!         self.0.get(&offset).copied().unwrap_or(0)
//!     }
//!
//!     fn write32(&mut self, offset: u32, value: u32) {
//!         // Events are cleared by writing ones, and this block raises none.
//!         if offset != global::INT_STATUS {
//!             self.0.insert(offset, value);
//!         }
//!     }
//! }
//!
//! let mut block = Block(BTreeMap::from([
//!     (global::ID, ID_VALUE),
//!     (global::VERSION, VERSION_VALUE),
//!     (global::SM_COUNT, 2),
//!     (global::SLOT_COUNT, 1),
//!     (global::STRAP_POLICY, PolicyCode::MiasIpmIpc as u32),
//!     (global::STRAP_PROFILE_WINDOW, 45_000),
//!     (global::STRAP_COALESCE_WINDOW, 5_000),
//! ]));
//! let mut firmware = Firmware::<ShippedPolicy, (), 64>::from_straps(&mut block).unwrap();
//! firmware.on_interrupt(&mut block).unwrap();
//! assert_eq!(firmware.scheduler().gpu().sm_count, 2);
//! ```
#![cfg_attr(any(test, kani), allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing))]

#[cfg(any(test, kani))]
extern crate self as mias_firmware;
#[cfg(any(test, kani))]
extern crate std;

#[cfg(any(test, kani))]
#[path = "../tests/bodies/mod.rs"]
mod bodies;
pub mod configs;
pub mod counters;
pub mod crash_record;
pub mod driver;
pub mod gpu;
pub mod kernel;
pub mod limits;
#[cfg(all(feature = "defmt", target_os = "none"))]
pub mod log;
pub mod metric;
pub mod policy;
#[cfg(any(test, kani))]
mod proofs;
pub mod quantity;
pub mod resources;
pub mod scheduler;
pub mod service;
pub mod sm_set;

pub use driver::Firmware;
