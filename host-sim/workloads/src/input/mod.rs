//! Input errors with location and remedy, for lines of input files ([`mod@file`]), TOML
//! ([`toml_text`]) and unknown names ([`suggest`]). In addition, JSON Schemas of the input for
//! editors ([`schema`]).

pub mod file;
pub mod host_memory;
pub mod schema;
pub mod suggest;
pub mod toml_text;
