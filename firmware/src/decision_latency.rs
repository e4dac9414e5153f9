//! What a decision costs on a microcontroller, in instructions: the counts that `cargo xtask latency` takes in QEMU on the processors
//! of [`crate::boards`].
//!
//! For what simulates the firmware and lets its decisions take time. The firmware itself never reads them; a program that does not
//! either has not a byte of them.

/// The file `decision-latency.toml`, as it is. Its head says what is counted, how it was measured, and what every column means.
pub const MEASURED: &str = include_str!("../decision-latency.toml");
