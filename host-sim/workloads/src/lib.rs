//! Workloads of the `mias` GPU model: kernels, their input data, and their warp traces.
//!
//! * [`kernels`] describes built-in and user kernels, and checks their results against the host's.
//! * [`graph`] and [`picture`] read or generate input data.
//! * [`ahead`] executes a kernel while it is simulated.
//! * [`launches`] reads recorded launches while they are replayed.
//! * [`span`] has the ranges of device memory that they access.
//! * [`trace_store`] caches traces on disk between runs.
//!
//! Use this crate to turn the name of a kernel, or a user's PTX, into a trace for a timing model:
//!
//! ```rust
//! use mias_workloads::kernels;
//!
//! let kernel = kernels::find("fwt").unwrap();
//! let trace = kernels::trace(kernel, 1024, 1).unwrap();
//! assert_eq!(trace.tbs(), 1);
//! ```

pub mod ahead;
pub mod budget;
pub mod graph;
pub mod input;
pub mod kernels;
pub mod launches;
pub mod liveness;
mod parts;
pub mod picture;
pub mod random;
pub mod span;
pub mod trace_store;
