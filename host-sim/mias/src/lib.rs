//! The `mias` command. Programs that bring a policy of their own link it as a library (docs/own-policy.md).

pub mod cli;

pub use mias_lab::experiment::custom_policy;
