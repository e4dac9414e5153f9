//! Evaluations: many experiments from one plan, each run once and stored on disk, with their
//! combined results.
//!
//! ```text
//! plan (TOML) -> studies -> jobs, each once -> folder, a file per run -> results -> JSON, CSV, HTML
//! ```
//!
//! Results are a function of the folder's files alone. So a run's bytes do not depend on its time
//! of
//! execution or on the number of workers.

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
pub mod storage;
pub mod store;
pub mod study;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod used;

use crate::experiment::gpu_runner::Sampling;

/// Time series of isolated kernels in a window (thesis figure 3.4): 60 points over three times the
/// settling time of IPC there.
pub const SAMPLING: Sampling = Sampling { every_cycles: 2_500, until_cycle: 150_000 };
