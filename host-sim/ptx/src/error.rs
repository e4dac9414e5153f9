//! Errors of PTX files and of their execution. Each message states location and cause without
//! further context.

use super::names::{quoted, shown};

/// A position in a source file, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line number.
    pub line: u32,
    /// Column number, in characters.
    pub column: u32,
}

/// Error for PTX text that is invalid or unsupported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PtxError {
    /// The text is not PTX, or names something that is not declared.
    #[error("{file}:{}:{}: {message}, found `{found}`", at.line, at.column)]
    Syntax {
        /// File name as given.
        file: String,
        /// Position of the error.
        at: Position,
        /// Expected text, or the cause.
        message: String,
        /// Offending text.
        found: String,
    },
    /// Possibly valid PTX that this front end does not execute.
    #[error("{file}:{}:{}: unsupported {what}: `{opcode}`", at.line, at.column)]
    Unsupported {
        /// File name as given.
        file: String,
        /// Position of the error.
        at: Position,
        /// Kind of construct: instruction, directive, type.
        what: &'static str,
        /// Complete opcode or directive.
        opcode: String,
    },
    /// The module has no such entry.
    #[error("{file}: no entry `{entry}`; the module has: {}", list(known))]
    NoEntry {
        /// File name as given.
        file: String,
        /// Requested entry.
        entry: String,
        /// Existing entries, in file order.
        known: Vec<String>,
    },
    /// Several entries of the module have this name in C++.
    #[error("{file}: ambiguous `{entry}`: the module has: {}; name one", list(found))]
    ManyEntries {
        /// File name as given.
        file: String,
        /// Requested entry.
        entry: String,
        /// Matching entries, in file order.
        found: Vec<String>,
    },
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ")
}

/// Cause of a failed memory access of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessFault {
    /// The address belongs to no allocation, or the access runs past its end.
    #[error("out of bounds")]
    OutOfBounds,
    /// The address is not a multiple of the access width.
    #[error("misaligned")]
    Misaligned,
    /// The memory at the address is read-only.
    #[error("read-only")]
    ReadOnly,
    /// A generic address that must be in shared memory is elsewhere.
    #[error("the instruction needs shared memory, not a")]
    NotShared,
    /// An `mbarrier` that is not initialized, or at which more threads arrive than its phase
    /// expects.
    #[error("more arrivals than the mbarrier waits for, in a")]
    Arrivals,
    /// An `mbarrier.init` with an invalid count.
    #[error("an mbarrier counts 1 to 1048575 arrivals, not as many as in this")]
    Count,
}

/// Additional data about a bad access; boxed to keep results small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessNotes {
    /// Source line in parentheses, if the PTX has it.
    pub source_line: String,
    /// Distance to the nearest argument, buffer or variable, as the end of a sentence.
    pub nearest: String,
}

/// Error for a launch that cannot be executed to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecError {
    /// The arguments differ from those that the entry declares.
    #[error("kernel {}: {message}", quoted(kernel))]
    Arguments {
        /// Name of the entry.
        kernel: String,
        /// The wrong argument, and its expected form.
        message: String,
    },
    /// The launch has no thread, or more threads per TB than PTX permits.
    #[error("kernel {}: impossible launch of grid {grid:?}, block {block:?}: {message}", quoted(kernel))]
    Geometry {
        /// Name of the entry.
        kernel: String,
        /// TBs in x, y, z.
        grid: [u32; 3],
        /// Threads in x, y, z.
        block: [u32; 3],
        /// Violated limit.
        message: &'static str,
    },
    /// A load or store on which the GPU would fault.
    #[error(
        "{file}:{line}{}: kernel {}, TB {tb:?}, thread {thread:?}: {fault} {space} access of {bytes} bytes at address \
         {address:#x}{}",
        notes.source_line, quoted(kernel), notes.nearest
    )]
    Access {
        /// Name of the entry.
        kernel: String,
        /// Name of the file.
        file: String,
        /// Line in the PTX.
        line: u32,
        /// Block index in x, y, z.
        tb: [u32; 3],
        /// Thread index in x, y, z.
        thread: [u32; 3],
        /// Cause of the fault.
        fault: AccessFault,
        /// Name of the state space: `global`, `shared`.
        space: &'static str,
        /// Width of the access per lane in bytes.
        bytes: u32,
        /// Byte address of the access.
        address: u64,
        /// Additional data about location and address.
        notes: Box<AccessNotes>,
    },
    /// An impossible request of a thread: a texture fetch, a surface access, or a call too deep for
    /// the stack.
    #[error("{file}:{line}{source_line}: kernel {}, TB {tb:?}, thread {thread:?}: {message}", quoted(kernel))]
    Thread {
        /// Name of the entry.
        kernel: String,
        /// Name of the file.
        file: String,
        /// Line in the PTX.
        line: u32,
        /// Source line as in messages; empty if unknown.
        source_line: String,
        /// Block index in x, y, z.
        tb: [u32; 3],
        /// Thread index in x, y, z.
        thread: [u32; 3],
        /// Cause with the texture or function, and the remedy.
        message: Box<str>,
    },
    /// A barrier that cannot be passed.
    #[error("{file}:{line}{source_line}: kernel {}, TB {tb:?}, warp {warp}: {message}", quoted(kernel))]
    Barrier {
        /// Name of the entry.
        kernel: String,
        /// Name of the file.
        file: String,
        /// PTX line of the barrier.
        line: u32,
        /// Source line in parentheses, if the PTX has it.
        source_line: String,
        /// Block index in x, y, z.
        tb: [u32; 3],
        /// Index of the waiting warp.
        warp: u32,
        /// Cause of the hang.
        message: String,
    },
    /// The kernel stopped itself.
    #[error("{file}:{line}{source_line}: kernel {}, TB {tb:?}, thread {thread:?}: stopped by {what}", quoted(kernel))]
    Trap {
        /// Name of the entry.
        kernel: String,
        /// Name of the file.
        file: String,
        /// Line in the PTX.
        line: u32,
        /// Source line in parentheses, if the PTX has it.
        source_line: String,
        /// Block index in x, y, z.
        tb: [u32; 3],
        /// Thread index in x, y, z.
        thread: [u32; 3],
        /// Cause: `trap`, or a failed assertion.
        what: &'static str,
    },
    /// The module's variables cannot be placed in memory.
    #[error("{file}: kernel {}: the device memory holds the variables of another module", quoted(kernel))]
    Module {
        /// Name of the entry.
        kernel: String,
        /// Name of the file.
        file: String,
    },
    /// The kernel reached a limit, probably in an endless loop.
    #[error(
        "{file}:{}{source_line}: kernel {}, TB {tb:?}, warp {warp}: {limit}, {}; if it needs more, {}{}",
        lines.0, quoted(kernel), span(*lines), limit.remedy(), limit.waits()
    )]
    Endless {
        /// Name of the entry.
        kernel: String,
        /// Name of the file.
        file: String,
        /// First and last PTX line executed at the limit: the loop.
        lines: (u32, u32),
        /// Source lines in parentheses, if the PTX has them.
        source_line: String,
        /// Block index in x, y, z.
        tb: [u32; 3],
        /// Index of the warp.
        warp: u32,
        /// Limit that was reached.
        limit: Limit,
    },
}

/// Limit on a TB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Instructions of one warp.
    #[error("still running after {0} instructions")]
    Warp(u64),
    /// Instructions of all warps of a TB.
    #[error("still running after {0} instructions of all its warps")]
    Tb(u64),
    /// Bytes of a TB's record.
    #[error("still running after a record of {0} bytes")]
    Record(u64),
    /// Bytes of a TB's record, by the memory available for records.
    #[error("still running after its record filled its {0} bytes of --memory")]
    Memory(u64),
    /// Bytes of the records of a cooperative grid, by the memory available.
    #[error("still running after the records of its cooperative grid filled their {0} bytes of --memory")]
    Grid(u64),
}

impl Limit {
    /// Returns the waiting patterns that may look like an endless loop because TBs and warps are
    /// executed in order.
    fn waits(self) -> &'static str {
        match self {
            Limit::Warp(_) | Limit::Tb(_) => "; a thread that waits for another of its warp, or for a later TB, waits forever here",
            Limit::Record(_) | Limit::Memory(_) | Limit::Grid(_) => "",
        }
    }

    /// Returns the remedy: a key of the table `[limits]` of a kernel file, or an option.
    fn remedy(self) -> &'static str {
        match self {
            Limit::Warp(_) => "raise `warp_instructions` in the table [limits] of its file",
            Limit::Tb(_) => "raise `tb_instructions` in the table [limits] of its file",
            Limit::Record(_) => "raise `tb_record_bytes` in the table [limits] of its file",
            Limit::Memory(_) | Limit::Grid(_) => "use a larger --memory",
        }
    }
}

fn span((first, last): (u32, u32)) -> String {
    if first == last { format!("in line {first}") } else { format!("in lines {first} to {last}") }
}
