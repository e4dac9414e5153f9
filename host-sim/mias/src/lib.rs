//! Command `mias` as a library.
//!
//! Use this crate to build a `mias` with custom policies (docs/start/own-policy.md): implement
//! [`custom_policy::CustomPolicy`] and pass the policy to [`cli::run_with`]. Programs that only
//! need results use `mias-lab`.
//!
//! ```rust,no_run
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     mias::cli::run_with(&[])
//! }
//! ```

pub mod cli;

pub use mias_lab::experiment::custom_policy;
