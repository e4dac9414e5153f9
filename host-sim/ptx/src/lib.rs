//! The PTX front end: text in, results and a warp trace out.
//!
//! ```text
//! text --lexer, parser--> Module --inline, decode--> Program --launch, warp, exec--> results in DeviceMemory
//!                                                       |                   |
//!                                                       `--lower--> static instructions --record--> TbRecorder
//! ```
//!
//! `docs/ptx.md` says what of PTX is run.
//! [`Program`] is a table of decoded instructions: labels are indices, registers are dense and typed. One file per opcode
//! family (`exec/`) decodes and executes its instructions for the 32 lanes of a warp at once. The lowering makes of each PTX
//! instruction what the machine would execute, for the timing model.

pub mod ast;
pub mod barrier;
mod call;
mod cells;
pub mod cfg;
pub mod decode;
pub mod error;
pub mod exec;
pub mod frames;
pub mod ieee;
pub mod image;
mod image_layout;
mod inline;
mod kept;
pub mod launch;
pub mod lexer;
pub mod limits;
mod loops;
pub mod lower;
pub mod memory;
pub mod names;
mod nearest;
mod operands;
pub mod parser;
mod places;
mod pointer;
mod print;
pub mod program;
mod recursion;
pub mod registers;
mod runtime;
mod scope;
pub mod source;
mod stack;
mod subroutine;
pub mod texture;
pub mod together;
pub mod trap;
pub mod warp;

pub use error::{ExecError, PtxError};
pub use launch::{Arg, Launch, TbRunner};
pub use limits::Limits;
pub use memory::{Buffer, DeviceMemory};
pub use program::Program;

/// Lanes of a warp.
pub const LANES: usize = mias_warp_trace::WARP_LANES as usize;
