//! Evaluation on many machines: its runs are dealt to shards, and each shard stores its runs in one
//! shared folder.
//!
//! ```text
//! plan -> studies -> units, by estimated cost -> N shards -> the folder's runs -> merge
//! ```
//!
//! The work of a shard is a function of the plan and the shard's number alone. Runs are found by
//! identity, and files appear whole or not at all, so shards need no lock. A shard may be repeated,
//! overlap with another, or fail, on any folder that all machines see.

pub mod cost;
pub mod deal;
pub mod log;
mod number;
#[cfg(test)]
mod tests;
pub mod work;

pub use number::{MOST_SHARDS, Shard};
