//! Documents of an evaluation: CSV, HTML, single figures, and terminal output. JSON is the results'
//! own form.

mod alternatives;
pub mod csv;
mod decisions;
pub mod diff;
mod factorial;
pub mod figure;
pub mod html;
pub mod markdown;
#[cfg(any(feature = "parquet", test))]
pub mod parquet;
pub mod text;

/// Table: headings and rows.
type Table = (Vec<String>, Vec<Vec<String>>);
