//! Reader and writer ([`export`]) of Accel-Sim traces: `kernelslist.g` and the `kernel-N.traceg[.xz]` files that it names.
//!
//! The format is the one in the reference numbers' notes ("Accel-Sim's trace format"), versions 1 to 5. A file is streamed
//! through one reused buffer; each instruction line costs two hexadecimal numbers and one comparison against the text last
//! seen at its PC (`statics`), and its addresses where it has any.
//!
//! ```text
//! source (lines, .xz) -> header (launch geometry) -> body (TBs, warps) -> statics (text to instruction, by PC)
//!                                                                      `-> addresses (per-lane, modes 0, 1, 2)
//! ```
//!
//! What the format leaves open is decided so:
//! * TBs count in file order, whatever their coordinates; a warp that a TB does not list has no instruction.
//! * The access width is the opcode's (`.64`, `.U8`) where it has one, since tracers report it wrongly, else the listed one.
//! * Only an EXIT that ends its warp is [`Class::Exit`](mias_warp_trace::isa::Class::Exit); one of some lanes in the middle is
//!   timed as integer, as the peer does.
//! * A copy to the device (`MemcpyHtoD`) is read and checked; it is the replay's affair whether it warms the L2.
//! * A launch waits for the launches before it on the same stream.

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
pub use gathering::{Closed, LastPart, Room};
pub use header::StreamId;
pub use list::{Command, List, read_list, read_list_from};
pub use warnings::Warnings;

use mias_warp_trace::{KernelInfo, KernelTrace};
use std::io::Read;
use std::path::Path;

/// Reads one kernel launch, plain or `.xz`, with up to `threads` threads. What could be read but not understood is counted in `warnings`.
/// Neither trace nor warnings nor error depend on the number of threads.
///
/// # Errors
/// [`ReadError`] with the file, and the line where there is one.
pub fn read_kernel(path: &Path, threads: usize, warnings: &mut Warnings) -> Result<(KernelTrace, StreamId), ReadError> {
    let (whole, stream) =
        read_kernel_within(path, threads, warnings, &mut Room { whole_bytes: u64::MAX, part_bytes: u64::MAX, closed: &mut |_, _| Ok(()) })?;
    Ok((whole.trace, stream))
}

/// The same, part by part.
///
/// # Errors
/// As [`read_kernel`], and those of handing a part on.
pub fn read_kernel_within(
    path: &Path,
    threads: usize,
    warnings: &mut Warnings,
    room: &mut Room<'_>,
) -> Result<(LastPart, StreamId), ReadError> {
    if threads > 1
        && let Some(read) = parallel::read(path, threads, warnings, room)
    {
        return Ok(read);
    }
    read_lines(source::Lines::open(path)?, warnings, room)
}

/// Reads the name, the geometry and the resources of one kernel launch, and nothing of what it executes.
///
/// # Errors
/// As [`read_kernel`], as far as the header goes.
pub fn read_info(path: &Path) -> Result<KernelInfo, ReadError> {
    Ok(read_header(path)?.0)
}

/// The same, and the stream.
///
/// # Errors
/// As [`read_info`].
pub fn read_header(path: &Path) -> Result<(KernelInfo, StreamId), ReadError> {
    let header = header::read(&mut source::Lines::open(path)?)?;
    Ok((header.info, header.stream))
}

/// Reads one kernel launch from plain bytes; `name` is what messages call them.
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
        read_lines(lines, warnings, &mut Room { whole_bytes: u64::MAX, part_bytes: u64::MAX, closed: &mut |_, _| Ok(()) })?;
    Ok((whole.trace, stream))
}

fn read_lines(mut lines: source::Lines, warnings: &mut Warnings, room: &mut Room<'_>) -> Result<(LastPart, StreamId), ReadError> {
    let header = header::read(&mut lines)?;
    let last = body::read(&mut lines, &header, warnings, &mut body::NoAudience, room)?;
    Ok((last, header.stream))
}
