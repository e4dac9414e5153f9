//! What a launch may use of instructions and memory. The defaults find kernels that never end within seconds; a kernel that honestly
//! needs more says so in its file (`docs/guide/kernel-file.md`, "Limits").

use super::frames::DEFAULT_STACK_BYTES;

/// Instructions per warp after which a kernel is taken to loop forever. Assumption: a hundred times what the longest kernel of the
/// thesis needs (binomial options, 55,760), and reached in some seconds by all warps of a TB.
pub const WARP_INSTRUCTIONS: u64 = 10_000_000;

/// Instructions of all warps of a TB after which it is taken to loop forever. Assumption: ten times what the longest TBs of the
/// thesis' kernels need (8 warps of n-body's 464,328 instructions), and reached in some seconds.
pub const TB_INSTRUCTIONS: u64 = 40_000_000;

/// Bytes that the record of one TB may take. Assumption: far more than TBs that end need (of a million accesses without any order).
pub const TB_RECORD_BYTES: u64 = 256 << 20;

/// Bytes of the stack per thread at most: all local memory that a thread can have (CUDA C programming guide, table "Technical
/// specifications per compute capability").
pub const MAX_STACK_BYTES: u32 = 512 << 10;

/// Limits of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions of one warp, 1 or more.
    pub warp_instructions: u64,
    /// Instructions of all warps of a TB, 1 or more.
    pub tb_instructions: u64,
    /// Bytes that the record of one TB takes, 1 or more.
    pub record_bytes: u64,
    /// Bytes of the stack of one thread, for functions that call themselves; [`MAX_STACK_BYTES`] at most.
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
