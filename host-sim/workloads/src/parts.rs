//! Parts of a growing trace. A budget limits the parts in memory; the others are in a temporary
//! file and are read back when a kernel restarts. The file has no name and ends with the process.
//!
//! In the file, a part is a trace file of one launch ([`trace_file`]), including checksums.

use mias_trace::accelsim::Warnings;
use mias_trace::trace_file::{self, Launch, TraceFile};
use mias_warp_trace::{KernelTrace, TracePart};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Arc, Weak};

/// A part that no longer grows.
#[derive(Debug)]
struct Part {
    first_tb: u32,
    bytes: u64,
    /// The part, if it is held within the budget.
    held: Option<Arc<KernelTrace>>,
    /// The part, as long as any reader holds it.
    known: Weak<KernelTrace>,
    /// Range in the temporary file, if written.
    place: Option<Range<u64>>,
    /// Time of the last request.
    asked: u64,
}

/// Parts that no longer grow, in order.
#[derive(Debug)]
pub(crate) struct Parts {
    parts: Vec<Part>,
    /// Memory limit of all held parts in bytes.
    budget_bytes: u64,
    held_bytes: u64,
    file: Option<File>,
    file_bytes: u64,
    /// Number of requests, which serves as time.
    asked: u64,
}

impl Parts {
    /// Creates an empty list. Parts beyond `budget_bytes` are written to disk.
    pub(crate) fn new(budget_bytes: u64) -> Self {
        Parts { parts: Vec::new(), budget_bytes, held_bytes: 0, file: None, file_bytes: 0, asked: 0 }
    }

    /// Returns the number of parts.
    pub(crate) fn count(&self) -> u32 {
        self.parts.len() as u32
    }

    /// Returns the bytes of the held parts.
    #[cfg(test)]
    pub(crate) fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Returns whether a part is on disk.
    pub(crate) fn spilled(&self) -> bool {
        self.file.is_some()
    }

    /// Adds the next part.
    ///
    /// # Errors
    /// Errors of writing the file.
    pub(crate) fn add(&mut self, first_tb: u32, trace: KernelTrace) -> io::Result<()> {
        let (bytes, known, asked) = (trace.memory_bytes() as u64, Weak::new(), self.asked);
        self.parts.push(Part { first_tb, bytes, held: None, known, place: None, asked });
        self.hold(self.parts.len() - 1, Arc::new(trace))
    }

    /// Returns all parts, in order.
    ///
    /// # Errors
    /// Errors of reading the file.
    pub(crate) fn all(&mut self) -> io::Result<Vec<Arc<KernelTrace>>> {
        (0..self.parts.len()).map(|at| self.get(at)).collect()
    }

    /// Returns the part that contains TB `tb`; `None` if the TB is after all parts, which end
    /// before TB `end`.
    ///
    /// # Errors
    /// Errors of reading the file, or of writing another part to it.
    pub(crate) fn with(&mut self, tb: u32, end: u32) -> io::Result<Option<TracePart>> {
        if tb >= end {
            return Ok(None);
        }
        let at = self.parts.partition_point(|part| part.first_tb <= tb).saturating_sub(1);
        let trace = self.get(at)?;
        Ok(Some(TracePart { number: at as u32, first_tb: self.parts[at].first_tb, trace }))
    }

    fn get(&mut self, at: usize) -> io::Result<Arc<KernelTrace>> {
        self.asked += 1;
        self.parts[at].asked = self.asked;
        if let Some(trace) = self.parts[at].held.clone().or_else(|| self.parts[at].known.upgrade()) {
            return Ok(trace);
        }
        let trace = self.read(at)?;
        self.hold(at, trace.clone())?;
        Ok(trace)
    }

    /// Holds a part in memory, and drops the least recently requested ones beyond the limit.
    fn hold(&mut self, at: usize, trace: Arc<KernelTrace>) -> io::Result<()> {
        self.held_bytes += self.parts[at].bytes;
        self.parts[at].known = Arc::downgrade(&trace);
        self.parts[at].held = Some(trace);
        while self.held_bytes > self.budget_bytes {
            let held = self.parts.iter().enumerate().filter(|(_, part)| part.held.is_some());
            let Some((oldest, _)) = held.min_by_key(|(at, part)| (part.asked, *at)) else { break };
            self.drop(oldest)?;
        }
        Ok(())
    }

    /// Drops a part from memory, after writing it if it is not on disk.
    fn drop(&mut self, at: usize) -> io::Result<()> {
        let Some(trace) = self.parts[at].held.take() else { return Ok(()) };
        self.held_bytes -= self.parts[at].bytes;
        if self.parts[at].place.is_none() {
            let launches = vec![Launch { stream: 0, trace }];
            let bytes = trace_file::encode(&TraceFile { name: String::new(), warnings: Warnings::new(), launches });
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile()?),
            };
            file.seek(SeekFrom::Start(self.file_bytes))?;
            file.write_all(&bytes)?;
            let end = self.file_bytes + bytes.len() as u64;
            self.parts[at].place = Some(self.file_bytes..end);
            self.file_bytes = end;
        }
        Ok(())
    }

    fn read(&mut self, at: usize) -> io::Result<Arc<KernelTrace>> {
        let damaged = || io::Error::other("a part of a trace is not what was written");
        let (Some(file), Some(place)) = (&mut self.file, self.parts[at].place.clone()) else { return Err(damaged()) };
        file.seek(SeekFrom::Start(place.start))?;
        let mut bytes = vec![0; (place.end - place.start) as usize];
        file.read_exact(&mut bytes)?;
        let mut launches = trace_file::decode(&bytes).map_err(|_| damaged())?.launches;
        launches.pop().map(|launch| launch.trace).ok_or_else(damaged)
    }
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
