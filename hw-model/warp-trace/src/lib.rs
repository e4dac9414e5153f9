//! What the warps of a kernel execute, as the front ends record it and the timing model replays it: instruction classes
//! ([`isa`]) and the warp trace ([`KernelTrace`]).
//!
//! A trace holds nothing that depends on timing. Most warps of a kernel run the same instructions in the same order, so
//! that order is stored once, as a *shape*; a warp is a shape and a list of memory references. Addresses are coalesced
//! to 32-byte sectors when the trace is made (they depend on nothing the timing model may change), and equal sector
//! patterns are stored once.
//!
//! ```text
//! TB -> warps -> (shape, first memory reference)
//!                  |            `-> MemRef { base sector, pattern } ...   one per off-chip access, in program order
//!                  `-> ShapeInst { static instruction, lanes, passes } ...
//! ```
//!
//! A front end records TBs with a [`TbRecorder`] each and folds them into a trace with a [`TraceBuilder`]. A kernel that
//! is executed while it runs is a [`TraceSource`].
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
