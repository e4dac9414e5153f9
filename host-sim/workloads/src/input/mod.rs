//! What is wrong with what a user gave, told with its place and a remedy: lines of input files ([`mod@file`]), TOML ([`toml_text`]), names
//! that are not known ([`suggest`]). And what may be given, for editors ([`schema`]).

pub mod file;
pub mod room;
pub mod schema;
pub mod suggest;
pub mod toml_text;
