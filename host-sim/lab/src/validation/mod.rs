//! Validation of the timing model: our numbers against those of an independent simulator on the
//! same traces.
//!
//! ```text
//! traces + reference files -> replay on the reference GPU -> comparisons with their bounds -> Markdown
//! ```
//!
//! `tests/validation.rs` holds the project's own traces to the bounds; `cargo xtask validate`
//! writes `docs/results/validation.md`.

mod bounds;
mod markdown;
pub mod reference;
mod suite;

pub use bounds::{CORUN_PERCENT, MEAN_CYCLES_PERCENT, column_bound_percent};
pub use markdown::{by_path as by_path_markdown, coruns as coruns_markdown, own as own_markdown};
pub use suite::{ByPath, Corun, GPU, Launch, Micro, Suite, coruns, mean_error_percent};
