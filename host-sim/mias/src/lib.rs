//! The `mias` command: the command line ([`cli`]), and what it says about results ([`report`]). Programs that bring a policy of their own
//! link it as a library (docs/own-policy.md).

pub mod cli;
pub mod report;

pub use mias_lab::experiment::own;
