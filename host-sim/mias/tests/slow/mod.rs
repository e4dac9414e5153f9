//! What `cargo xtask ci` runs and `cargo xtask test` leaves out.

mod guide;
