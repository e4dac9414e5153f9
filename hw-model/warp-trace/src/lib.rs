//! Traces of the warps of a GPU kernel: instruction classes ([`isa`]) and the warp trace
//! ([`KernelTrace`]).
//!
//! Front ends record a trace, and the timing model replays it. Use this crate to write a front end
//! or to build a synthetic kernel for the model.
//!
//! ```rust
//! use mias_warp_trace::isa::{Class, Space, StaticInst};
//! use mias_warp_trace::{KernelInfo, kernel};
//!
//! // 16 TBs of two warps. Each warp loads 128 bytes and adds to the loaded values.
//! let info = KernelInfo {
//!     name: "sum".into(),
//!     grid: [16, 1, 1],
//!     block: [64, 1, 1],
//!     registers_per_thread: 8,
//!     shared_bytes: 0,
//! };
//! let load = StaticInst::new(0, Class::Load(Space::Global)).writes(1).width(4);
//! let add = StaticInst::new(16, Class::Int).writes(2).reads(&[1, 2]);
//! let trace = kernel(info, |tb, warp| vec![(load, 128 * u64::from(2 * tb + warp)), (add, 0)])?;
//! assert_eq!(trace.warp_insts(), 16 * 2 * 3);
//! # Ok::<(), mias_warp_trace::TraceError>(())
//! ```
//!
//! A trace contains nothing that depends on timing. Most warps of a kernel run the same
//! instructions in the same order, so each order is stored once, as a *shape*. A warp is a shape
//! and a list of memory references. Addresses are coalesced to 32-byte sectors when the trace is
//! made, since coalescing does not depend on timing. Equal sector patterns are stored once.
//!
//! ```text
//! TB -> warps -> (shape, first memory reference)
//!                  |            `-> MemRef { base sector, pattern } ...   one per off-chip access, in program order
//!                  `-> ShapeInst { static instruction, lanes, passes } ...
//! ```
//!
//! A front end records each TB with a [`TbRecorder`] and adds it to a trace with a
//! [`TraceBuilder`]. A kernel that is executed during the simulation is a [`TraceSource`].
#![forbid(unsafe_code)]

mod builder;
mod coalesce;
pub mod cores;
mod idempotence;
pub mod isa;
mod kernel_info;
mod kernel_trace;
mod parts;
mod program;
mod recorder;
mod shape_inst;
mod source;

pub use builder::{TraceBuilder, TraceError};
pub use coalesce::{SECTOR_BYTES, constant_words, shared_passes};
pub use kernel_info::{KernelInfo, WARP_LANES};
pub use kernel_trace::{KernelTrace, MemRef, SectorRef, WarpRef};
pub use parts::{PartsError, TraceParts};
pub use program::{Step, kernel};
pub use recorder::TbRecorder;
pub use shape_inst::ShapeInst;
pub use source::{TracePart, TraceSource};
