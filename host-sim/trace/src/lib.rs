//! Files of warp traces for the `mias` GPU model.
//!
//! * [`accelsim`] reads and writes Accel-Sim traces.
//! * [`trace_file`] reads and writes the compact trace file of `mias`.
//! * [`fingerprint`] computes fingerprints that identify traces.
//!
//! Use this crate to load recorded kernels for replay, or to convert traces between the two
//! formats.
//!
//! [`accelsim::read_list`] reads a kernel list, and [`accelsim::read_kernel`] each launch in it.
//! [`trace_file::read`] loads a converted trace.

pub mod accelsim;
pub mod fingerprint;
pub mod trace_file;
