//! PTX front end: parses a kernel, executes it on the host, and records its warp trace.
//!
//! ```text
//! text --lexer, parser--> Module --inline, decode--> Program --launch, warp, exec--> results in DeviceMemory
//!                                                       |                   |
//!                                                       `--lower--> static instructions --record--> TbRecorder
//! ```
//!
//! `docs/reference/ptx.md` lists the supported PTX. [`Program`] is a table of decoded instructions:
//! labels are indices, registers are dense and typed. One file per opcode family (`exec/`) decodes
//! and executes its instructions for the 32 lanes of a warp at once. The lowering converts each PTX
//! instruction to the machine instruction for the timing model.
//!
//! Use this crate to run PTX without a GPU, or to record traces for a timing model:
//!
//! ```rust
//! use mias_ptx::{Arg, DeviceMemory, Launch, Program, lower::record};
//!
//! let text = ".version 7.8\n.target sm_75\n.address_size 64\n\
//!     .visible .entry number(.param .u64 out)\n{\n\
//!     .reg .b32 %r<2>;\n.reg .b64 %rd<4>;\n\
//!     ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n\
//!     mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n\
//!     st.global.u32 [%rd3], %r1;\nret;\n}\n";
//! let program = Program::parse("number.ptx", text, "number").unwrap();
//! let mut device = DeviceMemory::new();
//! let out = device.allocate(vec![0; 32]);
//! let args = vec![Arg::U64(out.address)];
//! let launch = Launch { grid: [1, 1, 1], block: [32, 1, 1], args, ..Launch::default() };
//! record::execute(&program, &launch, &device).unwrap();
//! assert!(device.words(out).eq(0..32));
//! ```

pub mod ast;
pub mod barrier;
mod call;
mod cells;
pub mod cfg;
pub mod cooperative;
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
pub mod trap;
pub mod warp;

pub use error::{ExecError, PtxError};
pub use launch::{Arg, Launch, TbRunner};
pub use limits::Limits;
pub use memory::{Buffer, DeviceMemory};
pub use program::Program;

/// Number of lanes of a warp.
pub const LANES: usize = mias_warp_trace::WARP_LANES as usize;
