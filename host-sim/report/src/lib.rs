//! Reports of MIAS results: text tables, JSON and CSV, figures and HTML reports of evaluations.
//!
//! Use this crate to format results of `mias-lab` as the command `mias` does. Input is a run, a
//! comparison or an evaluation; output is a `String`. The crate prints nothing and writes no file.
//!
//! ```rust
//! use mias_lab::gpus;
//! use mias_report::gpu_summary::GpuSummary;
//!
//! let gpu = gpus::load("rtx2060").unwrap();
//! let summary = GpuSummary::of(&gpu, "rtx2060", Vec::new(), &gpus::built_in());
//! println!("{}", summary.text());
//! ```

mod activity;
pub mod characterisation;
pub mod comparison_csv;
pub mod comparison_json;
pub mod comparison_table;
mod energy;
pub mod evaluation;
mod explanation;
pub mod fit_report;
pub mod gpu_list;
pub mod gpu_summary;
pub mod kernel_list;
pub mod kernel_stats;
pub mod kernel_stats_json;
mod latency_rows;
mod mechanisms;
mod memory_issue;
mod oversubscription;
mod power;
pub mod provenance;
mod queue_rows;
pub mod replay_report;
pub mod run_report;
mod search_rows;
pub mod section;
pub mod sweep_report;
pub mod timeline;
pub mod trace_info;
pub mod vcd;
mod ways;

/// Version of the JSON documents; increases with every incompatible change.
pub const SCHEMA_VERSION: u32 = 1;
