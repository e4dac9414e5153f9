//! Limits of a launch on instructions and memory. The defaults detect kernels that never end within
//! seconds. A longer kernel raises them in its file (`docs/reference/kernel-file.md`, "Limits").

use super::frames::DEFAULT_STACK_BYTES;

/// Instructions per warp after which a kernel is considered to loop forever. Assumption: a hundred
/// times those of the longest kernel of the thesis (binomial options, 55,760), and reached in some
/// seconds by all warps of a TB.
pub const WARP_INSTRUCTIONS: u64 = 10_000_000;

/// Instructions of all warps of a TB after which it is considered to loop forever. Assumption: ten
/// times those of the longest TBs of the thesis' kernels (8 warps of n-body with 464,328
/// instructions), and reached in some seconds.
pub const TB_INSTRUCTIONS: u64 = 40_000_000;

/// Maximum bytes of a TB's record. Assumption: far more than finite TBs need (for a million
/// accesses without any order).
pub const TB_RECORD_BYTES: u64 = 256 << 20;

/// Maximum stack per thread in bytes: all local memory of a thread (CUDA C programming guide, table
/// "Technical specifications per compute capability").
pub const MAX_STACK_BYTES: u32 = 512 << 10;

/// Limits of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions of one warp, at least 1.
    pub warp_instructions: u64,
    /// Instructions of all warps of a TB, at least 1.
    pub tb_instructions: u64,
    /// Bytes of a TB's record, at least 1.
    pub record_bytes: u64,
    /// Stack bytes of one thread, for recursive functions; at most [`MAX_STACK_BYTES`].
    pub stack_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            warp_instructions: WARP_INSTRUCTIONS,
            tb_instructions: TB_INSTRUCTIONS,
            record_bytes: TB_RECORD_BYTES,
            stack_bytes: DEFAULT_STACK_BYTES,
        }
    }
}
