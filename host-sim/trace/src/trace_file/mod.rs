//! Compact trace file of `mias`: launches of a kernel list, converted once, then mapped and read in
//! milliseconds.
//!
//! It contains the data that the timing model replays ([`KernelTrace`]) and nothing that depends on
//! time. A run from the file therefore equals a run from the list, byte for byte.
//! `docs/reference/trace-format.md` defines every byte.
//!
//! ```text
//! container: magic, version, directory of lengths and checksums
//!   list                                     name of the list, what its reader warned of
//!   per launch: launch, statics, shapes,     each section its own file here
//!               patterns, warps, memory
//! ```
//!
//! The reader trusts no input: a damaged, truncated, foreign or forged file gives one error with
//! file, section and remedy. Memory grows with the decoded data, not with claimed counts.

pub mod bytes;
mod container;
mod error;
mod launch;
mod map;
mod memory;
mod patterns;
mod shapes;
mod statics;
#[cfg(test)]
mod tests;
mod warps;

pub use container::VERSION;
pub use error::{Fault, Part, Problem, Section, TraceFileError};

use crate::accelsim::Warnings;
use mias_warp_trace::{KernelTrace, PartsError, TraceParts, WarpRef};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Launches of a kernel list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// Name of the trace, which is the name of the list's folder.
    pub name: String,
    /// Warnings of the reader of the list.
    pub warnings: Warnings,
    /// Launches in order; at least one.
    pub launches: Vec<Launch>,
}

/// A launch in a trace file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// CUDA stream, numbered from 0 by first occurrence.
    pub stream: u32,
    /// Trace of the launch.
    pub trace: Arc<KernelTrace>,
}

/// Returns whether the file begins with the magic of the format, regardless of its name. Text never
/// does.
///
/// # Errors
/// Errors of opening and reading the file.
pub fn is_trace_file(path: &Path) -> std::io::Result<bool> {
    if !std::fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut first = [0];
    let read = File::open(path)?.read(&mut first)?;
    Ok(read > 0 && first[0] == container::MAGIC[0])
}

/// Reads a trace file through a memory map.
///
/// # Errors
/// [`TraceFileError`] with the file and the cause.
pub fn read(path: &Path) -> Result<(TraceFile, Sizes), TraceFileError> {
    let read = || {
        let bytes = map::map(&File::open(path)?)?;
        Ok((decode(&bytes)?, Sizes::of(&bytes)?))
    };
    read().map_err(|problem: Problem| TraceFileError::new(path, problem))
}

/// Reads a trace file whose launches take at most `most_bytes` of memory
/// ([`KernelTrace::memory_bytes`]). Decoding never exceeds this limit.
///
/// # Errors
/// As [`read`], and [`Problem::MemoryLimit`] if the limit is exceeded.
pub fn read_within(path: &Path, most_bytes: u64) -> Result<TraceFile, TraceFileError> {
    let read = || decode_within(&map::map(&File::open(path)?)?, most_bytes);
    read().map_err(|problem: Problem| TraceFileError::new(path, problem))
}

/// Encodes a trace file. Equal launches give equal bytes.
pub fn encode(file: &TraceFile) -> Vec<u8> {
    let parts = |launch: &Launch| {
        let trace = &*launch.trace;
        [
            launch::encode(launch.stream, trace.info()),
            statics::encode(trace.statics()),
            shapes::encode(trace),
            patterns::encode(trace),
            warps::encode(trace),
            memory::encode(trace),
        ]
    };
    let launches: Vec<_> = file.launches.iter().map(parts).collect();
    container::pack(&launch::encode_list(&file.name, &file.warnings), &launches)
}

/// Decodes the bytes of a trace file.
///
/// # Errors
/// [`Problem`] if they are not a complete, undamaged and consistent trace file of this version.
pub fn decode(bytes: &[u8]) -> Result<TraceFile, Problem> {
    decode_within(bytes, u64::MAX)
}

fn decode_within(bytes: &[u8], most_bytes: u64) -> Result<TraceFile, Problem> {
    let mut room = MemoryBudget(most_bytes);
    let sections = container::unpack(bytes)?;
    let malformed = |section| move |fault| Problem::Malformed { section, fault };
    let (name, warnings) = launch::decode_list(sections[0]).map_err(malformed(Section::List))?;
    let mut launches: Vec<Launch> = Vec::new();
    let mut streams = 0;
    for (at, parts) in sections[1..].chunks_exact(Part::ALL.len()).enumerate() {
        let launch = decode_launch(parts, &mut room).map_err(|(part, fault)| {
            let number = at + 1;
            if fault == Fault::MemoryLimit {
                return Problem::MemoryLimit;
            }
            Problem::Malformed { section: part.map_or(Section::WholeLaunch(number), |part| Section::Launch(number, part)), fault }
        })?;
        if launch.stream > streams {
            let fault = Fault::Value { what: "the stream", value: launch.stream.into() };
            return Err(malformed(Section::Launch(at + 1, Part::Launch))(fault));
        }
        streams = streams.max(launch.stream + 1);
        launches.push(launch);
    }
    Ok(TraceFile { name, warnings, launches })
}

/// Remaining memory for decoding, in bytes.
struct MemoryBudget(u64);

impl MemoryBudget {
    fn take(&mut self, bytes: u64) -> Result<(), Fault> {
        self.0 = self.0.checked_sub(bytes).ok_or(Fault::MemoryLimit)?;
        Ok(())
    }

    fn take_all<T>(&mut self, items: &[T]) -> Result<(), Fault> {
        self.take(size_of_val(items) as u64)
    }
}

/// Decodes a launch from its six sections. An error without a part concerns several.
fn decode_launch(sections: &[&[u8]], room: &mut MemoryBudget) -> Result<Launch, (Option<Part>, Fault)> {
    let section = |part: Part| sections[part as usize];
    let at = |part| move |fault| (Some(part), fault);
    let (stream, info) = launch::decode(section(Part::Launch)).map_err(at(Part::Launch))?;
    let statics = statics::decode(section(Part::Statics)).map_err(at(Part::Statics))?;
    room.take_all(&statics).map_err(at(Part::Statics))?;
    let (shape_insts, shape_starts) = shapes::decode(section(Part::Shapes), &statics, room.0).map_err(at(Part::Shapes))?;
    room.take_all(&shape_insts).and_then(|()| room.take_all(&shape_starts)).map_err(at(Part::Shapes))?;
    let (sectors, pattern_starts) = patterns::decode(section(Part::Patterns), room.0).map_err(at(Part::Patterns))?;
    room.take_all(&sectors).and_then(|()| room.take_all(&pattern_starts)).map_err(at(Part::Patterns))?;
    let warps_per_tb = info.warps() as usize;
    let warps = info.tbs() * u64::from(info.warps());
    room.take(warps.saturating_mul(size_of::<WarpRef>() as u64)).map_err(at(Part::Warps))?;
    let warp_shapes = warps::decode(section(Part::Warps), warps, warps_per_tb).map_err(at(Part::Warps))?;
    if let Some(&shape) = warp_shapes.iter().find(|&&shape| shape as usize + 1 >= shape_starts.len()) {
        return Err((Some(Part::Warps), Fault::Value { what: "a shape", value: shape.into() }));
    }
    let mems = memory::decode(section(Part::Memory), &statics, (&shape_insts, &shape_starts), (&warp_shapes, warps_per_tb, room.0));
    let mems = mems.map_err(at(Part::Memory))?;
    room.take_all(&mems).map_err(at(Part::Memory))?;
    let parts = TraceParts { info, statics, shape_insts, shape_starts, sectors, pattern_starts, warp_shapes, mems };
    let trace = KernelTrace::from_parts(parts).map_err(|error: PartsError| (None, error.into()))?;
    Ok(Launch { stream, trace: Arc::new(trace) })
}

/// Sizes of a trace file in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Size of the whole file.
    pub total: u64,
    /// Size of each launch's sections, without their directory entries.
    pub launches: Vec<u64>,
}

impl Sizes {
    /// Computes the sizes from the bytes of a trace file.
    ///
    /// # Errors
    /// As [`decode`], for header and checksums.
    pub fn of(bytes: &[u8]) -> Result<Self, Problem> {
        let sections = container::unpack(bytes)?;
        let launches = sections[1..].chunks_exact(Part::ALL.len());
        let launches = launches.map(|parts| parts.iter().map(|part| part.len() as u64).sum()).collect();
        Ok(Sizes { total: bytes.len() as u64, launches })
    }
}
