//! Metrics beside the four of the firmware: progress as measured, and as the whole GPU would make it.

mod progress;
pub mod roofline;

pub use progress::{Progress, gains};
