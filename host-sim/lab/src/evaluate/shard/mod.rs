//! One evaluation on many machines: its runs are dealt to shards, and each shard keeps what it runs in the one folder that all share.
//!
//! ```text
//! plan -> studies -> units, by estimated cost -> N shards -> the folder's runs -> merge
//! ```
//!
//! What a shard does is a function of the plan and of its number alone. Runs are found by what they are and their files appear whole or not
//! at all, so a shard needs no lock: it may be repeated, overlap with another, or die, on any folder that all machines see.

pub mod cost;
pub mod deal;
pub mod log;
mod number;
#[cfg(test)]
mod tests;
pub mod work;

pub use number::{MOST_SHARDS, Shard};
