//! Evaluations: many experiments from one plan, each run once and kept on disk, and what they say together.
//!
//! ```text
//! plan (TOML) -> studies -> jobs, each once -> folder, a file per run -> results -> JSON, CSV, HTML
//! ```
//!
//! What is computed is a function of the folder's files alone, so that a run's bytes do not depend on when or by how many workers it was
//! done.

pub mod blocks;
#[cfg(test)]
mod closed_form_gpu;
pub mod decisions;
pub mod diff;
pub mod energy;
pub mod execute;
pub mod findings;
pub mod half_widths;
pub mod memory;
pub mod names;
pub mod off_sm;
pub mod paired;
pub mod plan;
mod preemption_storage;
pub mod queue;
pub mod record;
pub mod requests;
pub mod results;
pub mod shard;
pub mod statistics;
mod storage;
pub mod store;
pub mod study;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod used;

use crate::experiment::gpu_runner::Sampling;

/// Time series of kernels alone in a window (thesis figure 3.4): 60 points over thrice the time in which IPC settles there.
pub const SAMPLING: Sampling = Sampling { every_cycles: 2_500, until_cycle: 150_000 };
