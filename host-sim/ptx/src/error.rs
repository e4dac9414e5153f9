//! What can go wrong with a PTX file and its execution. Each message names where and what; the reader needs no other.

use super::names::{quoted, shown};

/// A place in a source file, both counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

/// A PTX text that cannot be read, or that asks for what the front end does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PtxError {
    /// The text is not PTX, or names something that is not declared.
    #[error("{file}:{}:{}: {message}, found `{found}`", at.line, at.column)]
    Syntax {
        /// File name as given.
        file: String,
        /// Where.
        at: Position,
        /// What was expected or is wrong.
        message: String,
        /// The offending text.
        found: String,
    },
    /// Correct PTX, perhaps, that this front end does not execute.
    #[error("{file}:{}:{}: unsupported {what}: `{opcode}`", at.line, at.column)]
    Unsupported {
        /// File name as given.
        file: String,
        /// Where.
        at: Position,
        /// The kind of thing: instruction, directive, type.
        what: &'static str,
        /// The whole opcode or directive.
        opcode: String,
    },
    /// The module has no such entry.
    #[error("{file}: no entry `{entry}`; the module has: {}", list(known))]
    NoEntry {
        /// File name as given.
        file: String,
        /// What was asked for.
        entry: String,
        /// What there is, in file order.
        known: Vec<String>,
    },
    /// The module has several entries that are called so in C++.
    #[error("{file}: which `{entry}`? the module has: {}; name one", list(found))]
    ManyEntries {
        /// File name as given.
        file: String,
        /// What was asked for.
        entry: String,
        /// What it may be, in file order.
        found: Vec<String>,
    },
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ")
}

/// What is wrong with one memory access of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessFault {
    /// The address belongs to no allocation, or the access runs past its end.
    #[error("out of bounds")]
    OutOfBounds,
    /// The address is no multiple of the access' width.
    #[error("misaligned")]
    Misaligned,
    /// The memory at the address can only be read.
    #[error("read-only")]
    ReadOnly,
    /// A generic address that must be in shared memory is elsewhere.
    #[error("the instruction needs shared memory, not a")]
    NotShared,
    /// An `mbarrier` that is not set up, or at which more threads arrive than its phase waits for.
    #[error("more arrivals than the mbarrier waits for, in a")]
    Arrivals,
    /// An `mbarrier.init` with a count that it cannot have.
    #[error("an mbarrier counts 1 to 1048575 arrivals, not as many as in this")]
    Count,
}

/// What is known of a bad access besides its address; boxed, so that a result stays small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessNotes {
    /// Line of the source in parentheses, if the PTX has it.
    pub source_line: String,
    /// How far it is from which argument, buffer or variable, as the end of a sentence.
    pub nearest: String,
}

/// A launch that cannot be executed to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecError {
    /// The arguments are not those that the entry declares.
    #[error("kernel {}: {message}", quoted(kernel))]
    Arguments {
        /// Entry name.
        kernel: String,
        /// Which argument, and what it should be.
        message: String,
    },
    /// The launch has no thread, or more threads per TB than PTX allows.
    #[error("kernel {}: impossible launch of grid {grid:?}, block {block:?}: {message}", quoted(kernel))]
    Geometry {
        /// Entry name.
        kernel: String,
        /// TBs in x, y, z.
        grid: [u32; 3],
        /// Threads in x, y, z.
        block: [u32; 3],
        /// Which limit is broken.
        message: &'static str,
    },
    /// A load or store that the machine would fault on.
    #[error(
        "{file}:{line}{}: kernel {}, TB {tb:?}, thread {thread:?}: {fault} {space} access of {bytes} bytes at address \
         {address:#x}{}",
        notes.source_line, quoted(kernel), notes.nearest
    )]
    Access {
        /// Entry name.
        kernel: String,
        /// File name.
        file: String,
        /// PTX line.
        line: u32,
        /// Block index in x, y, z.
        tb: [u32; 3],
        /// Thread index in x, y, z.
        thread: [u32; 3],
        /// What is wrong.
        fault: AccessFault,
        /// `global`, `shared`.
        space: &'static str,
        /// Width of the access per lane.
        bytes: u32,
        /// The byte address.
        address: u64,
        /// More about both places.
        notes: Box<AccessNotes>,
    },
    /// What a thread asks for cannot be done: a fetch from a texture, an access to a surface, a call too deep for its stack.
    #[error("{file}:{line}{source_line}: kernel {}, TB {tb:?}, thread {thread:?}: {message}", quoted(kernel))]
    Thread {
        /// Entry name.
        kernel: String,
        /// File name.
        file: String,
        /// PTX line.
        line: u32,
        /// Source line, as a message has it; empty if unknown.
        source_line: String,
        /// Block index in x, y, z.
        tb: [u32; 3],
        /// Thread index in x, y, z.
        thread: [u32; 3],
        /// What is wrong with which texture or function, and what to do.
        message: Box<str>,
    },
    /// A barrier that cannot be passed.
    #[error("{file}:{line}{source_line}: kernel {}, TB {tb:?}, warp {warp}: {message}", quoted(kernel))]
    Barrier {
        /// Entry name.
        kernel: String,
        /// File name.
        file: String,
        /// PTX line of the barrier.
        line: u32,
        /// Line of the source in parentheses, if the PTX has it.
        source_line: String,
        /// Block index in x, y, z.
        tb: [u32; 3],
        /// The warp waiting.
        warp: u32,
        /// Why.
        message: String,
    },
    /// The kernel gave up.
    #[error("{file}:{line}{source_line}: kernel {}, TB {tb:?}, thread {thread:?}: stopped by {what}", quoted(kernel))]
    Trap {
        /// Entry name.
        kernel: String,
        /// File name.
        file: String,
        /// PTX line.
        line: u32,
        /// Line of the source in parentheses, if the PTX has it.
        source_line: String,
        /// Block index in x, y, z.
        tb: [u32; 3],
        /// Thread index in x, y, z.
        thread: [u32; 3],
        /// `trap`, or a failed assertion.
        what: &'static str,
    },
    /// The module's variables cannot be put where they belong.
    #[error("{file}: kernel {}: the device memory holds the variables of another module", quoted(kernel))]
    Module {
        /// Entry name.
        kernel: String,
        /// File name.
        file: String,
    },
    /// Still running at a limit: most likely an endless loop.
    #[error(
        "{file}:{}{source_line}: kernel {}, TB {tb:?}, warp {warp}: {limit}, {}; if it needs more, {}{}",
        lines.0, quoted(kernel), span(*lines), limit.remedy(), limit.waits()
    )]
    Endless {
        /// Entry name.
        kernel: String,
        /// File name.
        file: String,
        /// First and last PTX line of what it executes by then: the loop.
        lines: (u32, u32),
        /// Lines of the source in parentheses, if the PTX has them.
        source_line: String,
        /// Block index in x, y, z.
        tb: [u32; 3],
        /// The warp.
        warp: u32,
        /// Which limit.
        limit: Limit,
    },
}

/// What a TB may not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Instructions of one warp.
    #[error("still running after {0} instructions")]
    Warp(u64),
    /// Instructions of all warps.
    #[error("still running after {0} instructions of all its warps")]
    Tb(u64),
    /// Bytes that its record takes.
    #[error("its record takes more than {0} bytes, and it is still running")]
    Record(u64),
    /// Bytes that its record takes, of those that there are for records.
    #[error("its record takes more than the {0} bytes that there are for it, and it is still running")]
    Memory(u64),
    /// Bytes that the records of a cooperative grid take, of those that there are.
    #[error("the records of its cooperative grid take more than the {0} bytes that there are for them, and it is still running")]
    Grid(u64),
}

impl Limit {
    /// What may look like an endless loop because TBs and warps are executed in order.
    fn waits(self) -> &'static str {
        match self {
            Limit::Warp(_) | Limit::Tb(_) => "; a thread that waits for another of its warp, or for a later TB, waits for ever here",
            Limit::Record(_) | Limit::Memory(_) | Limit::Grid(_) => "",
        }
    }

    /// What raises it: a key of the table `[limits]` of a kernel's file, or an option.
    fn remedy(self) -> &'static str {
        match self {
            Limit::Warp(_) => "raise `warp_instructions` in the table [limits] of its file",
            Limit::Tb(_) => "raise `tb_instructions` in the table [limits] of its file",
            Limit::Record(_) => "raise `tb_record_bytes` in the table [limits] of its file",
            Limit::Memory(_) | Limit::Grid(_) => "give a larger --memory",
        }
    }
}

fn span((first, last): (u32, u32)) -> String {
    if first == last { format!("in line {first}") } else { format!("in lines {first} to {last}") }
}
