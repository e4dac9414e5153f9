//! Cycle-level timing model of a GPU with the register block of a thread-block scheduler.
//!
//! The model replays a [`KernelTrace`](mias_warp_trace::KernelTrace), which a front end produces
//! once. Its counters appear in the register block. The microcontroller reads them and writes TB
//! quotas back. This crate models warps, caches and DRAM and contains no policies
//! (docs/explanation/architecture.md).
//!
//! Use it to simulate kernels on a GPU of a GPU file ([`config`]) under a firmware that
//! accesses the register block.
//!
//! ```rust
//! use mias_hw_model::config::GpuConfig;
//! use mias_hw_model::gpu::{Gpu, Launch, Microcontroller, RunEnd};
//! use mias_hw_model::register_block::{RegisterBlock, Straps};
//! use mias_registers::bus::Bus;
//! use mias_registers::{PolicyCode, global, interrupt, slot, slot_control};
//! use mias_warp_trace::isa::{Class, StaticInst};
//! use mias_warp_trace::{KernelInfo, kernel};
//!
//! /// Firmware that gives every kernel two TBs per SM.
//! struct TwoEach;
//!
//! impl Microcontroller for TwoEach {
//!     fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
//!         let status = registers.read32(global::INT_STATUS);
//!         registers.write32(global::INT_STATUS, status);
//!         while registers.read32(global::LAUNCH_COUNT) > 0 {
//!             let slot = registers.read32(global::LAUNCH_SLOT);
//!             registers.write32(global::LAUNCH_POP, 1);
//!             registers.write32(global::QUOTA_ALL + 4 * slot, 2);
//!         }
//!         let completed = registers.read32(global::COMPLETED);
//!         registers.write32(global::COMPLETED, completed);
//!         for number in (0..8).filter(|n| completed >> n & 1 == 1) {
//!             registers.write32(slot::at(number, slot::CONTROL), slot_control::RELEASE);
//!         }
//!         registers.write32(global::COMMIT, 1);
//!     }
//! }
//!
//! let text = mias_gpus::text("rtx2060-accelsim").expect("a GPU that comes with mias");
//! let config: GpuConfig = toml::from_str(text)?;
//! let info = KernelInfo {
//!     name: "add".into(),
//!     grid: [16, 1, 1],
//!     block: [64, 1, 1],
//!     registers_per_thread: 8,
//!     shared_bytes: 0,
//! };
//! let add = StaticInst::new(0, Class::Int).writes(1).reads(&[1]);
//! let trace = kernel(info, |_, _| vec![(add, 0); 10])?;
//!
//! let mut gpu = Gpu::new(&config, Straps::new(PolicyCode::LeftOver));
//! gpu.registers_mut().write32(global::INT_ENABLE, interrupt::LAUNCH | interrupt::COMPLETED);
//! gpu.launch(Launch::new(trace.into()))?;
//! assert!(gpu.run(&mut TwoEach, 1_000_000) == RunEnd::AllComplete);
//! assert_eq!(gpu.stats().launches[0].tbs_completed, 16);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Time is an integer number of core cycles. There are no floats, no hash maps, and no allocation
//! in the cycle loop: equal inputs give equal bytes.
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
