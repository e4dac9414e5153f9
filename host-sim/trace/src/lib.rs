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
//!
//! ```rust
//! use mias_trace::accelsim::read_list_from;
//!
//! let list = &b"MemcpyHtoD,0x00007f5f2c000000,4096\nkernel-1.traceg\nkernel-2.traceg\n"[..];
//! let list = read_list_from(list, "kernelslist.g".as_ref(), &|name| Some(name.into())).unwrap();
//! assert_eq!(list.kernels().count(), 2);
//! ```

pub mod accelsim;
pub mod fingerprint;
pub mod trace_file;
