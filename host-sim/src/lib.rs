//! MIAS on the host.

pub mod ptx;
