//! The documents of an evaluation: CSV, HTML, single figures, and what is said at the terminal. JSON is the results' own form.

pub mod csv;
mod decisions;
pub mod diff;
mod field;
pub mod figure;
pub mod html;
#[cfg(any(feature = "parquet", test))]
pub mod parquet;
mod preemption;
mod sides;
mod stack;
pub mod text;
