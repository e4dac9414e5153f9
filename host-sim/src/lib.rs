//! MIAS on the host: what feeds the GPU model (kernels, traces, machine files), what drives it (experiments) and what is
//! said about the result (metrics, reports, validation, the command line).

pub mod accelsim;
#[cfg(test)]
mod built_in;
pub mod cache;
pub mod characterise;
pub mod cli;
pub mod cosim;
pub mod evaluate;
pub mod experiment;
pub mod gpu_file;
pub mod graph;
pub mod hash;
pub mod image;
pub mod input_file;
pub mod kernels;
pub mod latency;
pub mod metrics;
pub mod ptx;
pub mod recording;
pub mod replay;
pub mod report;
pub mod suggest;
pub mod toml_text;
pub mod trace_file;
pub mod validation;

pub use experiment::own;
