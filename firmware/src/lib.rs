#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
//! MIAS (Memory Interference Aware Scheduler) as firmware: the thread-block scheduler of a GPU, for the microcontroller
//! beside it.
//!
//! No standard library, no allocation, no floating point, no recursion, no reachable panic. The firmware sees its GPU through
//! a register block on a two-function [bus](mias_registers::bus); it hears of launches, completions and finished profiling windows,
//! and answers with TB quotas per SM.
//!
//! | module | what it is |
//! |---|---|
//! | [`mias_registers`] | the contract with the hardware |
//! | [`driver`] | registers to events, commands to registers: [`driver::Firmware`] |
//! | [`service`], [`epitaph`] | around the driver in an image: watchdog, waiting; what is left after a fault |
//! | [`scheduler`] | the state machine, free of hardware |
//! | [`policy`] | Left-over, Spatial, MIAS, a fixed configuration; all others are in the crate `mias-policies` |
//! | [`sm_set`] | sets of SMs |
//! | [`configs`] | all maximal ways of filling an SM, and the table of those being tried |
//! | [`metric`] | IPC, IPM*IPC, Factor, Linear, as exact rationals |
//! | [`limits`] | what the images are built for |
//! | `log` | with the feature `defmt`, on targets: phases, decisions and faults as defmt logs |
//! | [`resources`], [`kernel`], [`gpu`], [`counters`] | TB demands, launched kernels, parameters, which counters a decision needs |
//! | [`quantity`] | the numbers with a fraction: how many bits behind the point, how large |
//!
//! Integrating it takes a [`Bus`](mias_registers::bus::Bus), or a [`TryBus`](mias_registers::bus::TryBus) where an access can fail, and one call per interrupt; `examples/own_bus.rs`
//! does it in one page.
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
pub mod driver;
pub mod epitaph;
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
