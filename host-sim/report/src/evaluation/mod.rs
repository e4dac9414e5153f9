//! The documents of an evaluation: CSV, HTML, single figures, and what is said at the terminal. JSON is the results' own form.

mod alternatives;
pub mod csv;
mod decisions;
pub mod diff;
mod factorial;
pub mod figure;
pub mod html;
#[cfg(any(feature = "parquet", test))]
pub mod parquet;
pub mod text;

/// A table: headings and lines.
type Table = (Vec<String>, Vec<Vec<String>>);
