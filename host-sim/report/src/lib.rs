//! What is said about results: tables for people, JSON and CSV for programs, figures and HTML reports of evaluations.

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

/// Version of the JSON documents; grows with every change that a reader could trip over.
pub const SCHEMA_VERSION: u32 = 1;
