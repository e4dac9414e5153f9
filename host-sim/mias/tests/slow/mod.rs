//! Tests that `cargo xtask ci` runs and `cargo xtask test` leaves out.

mod book;
