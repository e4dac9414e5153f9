//! Metrics in addition to the four of the firmware: progress as measured, and as predicted for the
//! whole GPU.

mod progress;
pub mod roofline;

pub use progress::{Progress, gains};
