//! Experiments on the GPU model under the firmware: single runs, comparisons of policies,
//! evaluations from plans, characterization of kernels, co-simulation and validation.
//!
//! Use this crate to run MIAS experiments from a program. The command `mias` is built on it, and
//! `mias-report` formats its results. The model itself is in `mias-hw-model`, the firmware in
//! `mias-firmware`.
//!
//! ```rust
//! use mias_lab::gpus;
//! use mias_lab::metrics::Metrics;
//!
//! let gpu = gpus::load("rtx2060").unwrap();
//! assert_eq!(gpu.sm.count, 30);
//!
//! // IPC of two kernels in a shared run, and in isolated runs.
//! let metrics = Metrics::of(&[400.0, 150.0], &[800.0, 200.0]);
//! assert_eq!(metrics.stp, Some(1.25));
//! ```
//!
//! ```text
//! GPUs, workloads -> experiment -> metrics                       one question
//!                            |  `-- cosim: the firmware's image in QEMU, recordings of its accesses
//!                        evaluate, characterise, validation          many, from plans and references
//! ```

pub mod bandwidth;
pub mod cancel;
pub mod characterise;
pub mod choice;
pub mod cosim;
pub mod csv_table;
pub mod decision_cost;
pub mod evaluate;
pub mod experiment;
pub mod fingerprint;
pub mod gpus;
pub mod intervals;
pub mod kernel_name;
pub mod metrics;
#[cfg(test)]
mod model_sources;
pub mod output;
pub mod table;
pub mod validation;
