//! Reader and writer ([`export`]) of Accel-Sim traces: `kernelslist.g` and its
//! `kernel-N.traceg[.xz]` files.
//!
//! The format is described in the reference numbers' notes ("Accel-Sim's trace format"), versions 1
//! to 5. A file is streamed through one reused buffer. An instruction line costs two hexadecimal
//! numbers, one comparison with the last text at its PC (`statics`), and its addresses if it has
//! any.
//!
//! ```text
//! source (lines, .xz) -> header (launch geometry) -> body (TBs, warps) -> statics (text to instruction, by PC)
//!                                                                      `-> addresses (per-lane, modes 0, 1, 2)
//! ```
//!
//! The reader makes these choices where the format is open:
//! * TBs are numbered in file order, regardless of their coordinates. A warp that a TB does not
//!   list has no instructions.
//! * The access width is that of the opcode (`.64`, `.U8`) if present, since tracers report it
//!   wrongly, and otherwise the listed one.
//! * Only an EXIT that ends its warp is [`Class::Exit`](mias_warp_trace::isa::Class::Exit). An EXIT
//!   of some lanes in the middle is timed as an integer instruction, as in Accel-Sim.
//! * A copy to the device (`MemcpyHtoD`) is parsed and checked. The replay decides whether it warms
//!   the L2.
//! * A launch waits for the earlier launches on its stream.

mod addresses;
mod body;
mod error;
pub mod export;
mod fields;
mod gathering;
mod header;
mod list;
pub mod opcodes;
mod parallel;
mod repeats;
mod source;
mod statics;
#[cfg(test)]
mod tests;
mod warnings;

pub use error::{Problem, ReadError};
pub use gathering::{Closed, LastPart, MemoryBudget};
pub use header::StreamId;
pub use list::{Command, List, read_list, read_list_from};
pub use warnings::Warnings;

use mias_warp_trace::{KernelInfo, KernelTrace};
use std::io::Read;
use std::path::Path;

/// Reads one kernel launch, plain or `.xz`, with up to `threads` threads.
///
/// Unknown opcodes are counted in `warnings`. Trace, warnings and error do not depend on the number
/// of threads.
///
/// # Errors
/// [`ReadError`] with the file, and the line if there is one.
pub fn read_kernel(path: &Path, threads: usize, warnings: &mut Warnings) -> Result<(KernelTrace, StreamId), ReadError> {
    let (whole, stream) = read_kernel_within(
        path,
        threads,
        warnings,
        &mut MemoryBudget { whole_bytes: u64::MAX, part_bytes: u64::MAX, closed: &mut |_, _| Ok(()) },
    )?;
    Ok((whole.trace, stream))
}

/// Reads one kernel launch as [`read_kernel`] does, in parts that fit into memory.
///
/// # Errors
/// As [`read_kernel`], and errors of the receiver of parts.
pub fn read_kernel_within(
    path: &Path,
    threads: usize,
    warnings: &mut Warnings,
    room: &mut MemoryBudget<'_>,
) -> Result<(LastPart, StreamId), ReadError> {
    if threads > 1
        && let Some(read) = parallel::read(path, threads, warnings, room)
    {
        return Ok(read);
    }
    read_lines(source::Lines::open(path)?, warnings, room)
}

/// Reads the name, geometry and resources of one kernel launch, without its instructions.
///
/// # Errors
/// As [`read_kernel`], for the header.
pub fn read_info(path: &Path) -> Result<KernelInfo, ReadError> {
    Ok(read_header(path)?.0)
}

/// Reads the header of one kernel launch: the data of [`read_info`] and the stream.
///
/// # Errors
/// As [`read_info`].
pub fn read_header(path: &Path) -> Result<(KernelInfo, StreamId), ReadError> {
    let header = header::read(&mut source::Lines::open(path)?)?;
    Ok((header.info, header.stream))
}

/// Reads one kernel launch from plain bytes; `name` is the file name in messages.
///
/// # Errors
/// As [`read_kernel`].
pub fn read_kernel_from(
    input: impl Read + Send + 'static,
    name: &Path,
    warnings: &mut Warnings,
) -> Result<(KernelTrace, StreamId), ReadError> {
    let lines = source::Lines::over(Box::new(input), name);
    let (whole, stream) =
        read_lines(lines, warnings, &mut MemoryBudget { whole_bytes: u64::MAX, part_bytes: u64::MAX, closed: &mut |_, _| Ok(()) })?;
    Ok((whole.trace, stream))
}

fn read_lines(mut lines: source::Lines, warnings: &mut Warnings, room: &mut MemoryBudget<'_>) -> Result<(LastPart, StreamId), ReadError> {
    let header = header::read(&mut lines)?;
    let last = body::read(&mut lines, &header, warnings, &mut body::NoAudience, room)?;
    Ok((last, header.stream))
}
