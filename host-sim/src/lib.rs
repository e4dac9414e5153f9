//! MIAS on the host.

pub mod kernels;
pub mod ptx;
