//! Launches of Accel-Sim kernel lists, kept as they were read: reading a trace as text takes as long as simulating it, loading what was
//! read milliseconds.
//!
//! What was read is found by the whole contents of its file ([`content_key`]), not by name or time: a file that changes by one byte is
//! another one. The name within the cached file repeats the key, and says what a [`KernelTrace`] does not.

use super::{Cache, Store, Unusable};
use mias_trace::accelsim::{self, ReadError, StreamId, Warnings};
use mias_trace::fingerprint;
use mias_trace::trace_file::{self, Launch, TraceFile};
use mias_warp_trace::KernelTrace;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use twox_hash::xxhash3_128::Hasher;

/// Version of what reading a trace does. It changes with every change by which the same text gives another trace; a test holds traces
/// against it.
pub const READER_VERSION: u32 = 1;

/// Launches of fewer warp instructions are not kept. Assumption: they are read in the time that it takes to write a file.
const LEAST_WARP_INSTS: u64 = 1 << 14;

/// Bytes hashed at a time (assumption: within the second-level cache).
const CHUNK_BYTES: usize = 256 << 10;

/// A launch of a kernel list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What it executes.
    pub trace: Arc<KernelTrace>,
    /// The stream that it was recorded on.
    pub stream: StreamId,
    /// What could be read but not understood.
    pub warnings: Warnings,
    /// The trace's fingerprint ([`fingerprint::kernel`]).
    pub hash: String,
    /// Sectors of device memory from its first to one past its last.
    pub span: Range<u64>,
    /// It is from the cache; no text was read.
    pub is_cached: bool,
}

impl Listed {
    /// Reads the text, with up to `threads` threads.
    ///
    /// # Errors
    /// As [`accelsim::read_kernel`].
    pub fn read(path: &Path, threads: usize) -> Result<Self, ReadError> {
        let mut warnings = Warnings::new();
        let (trace, stream) = accelsim::read_kernel(path, threads, &mut warnings)?;
        Ok(Listed::of(Arc::new(trace), stream, warnings))
    }

    /// What was read.
    pub(super) fn of(trace: Arc<KernelTrace>, stream: StreamId, warnings: Warnings) -> Self {
        let (hash, span) = (fingerprint::kernel(&trace), trace.sector_span());
        Listed { trace, stream, warnings, hash, span, is_cached: false }
    }

    /// The name of the cached file.
    fn about(&self, key: &str) -> String {
        format!("{key} {} {} {} {}", self.stream.0, self.hash, self.span.start, self.span.end)
    }

    /// What a cached file holds, if it is the one of `key`.
    fn of_file(file: TraceFile, key: &str) -> Option<Self> {
        let TraceFile { name, warnings, launches } = file;
        let [Launch { stream: 0, trace }] = &launches[..] else { return None };
        let [own, stream, hash, start, end] = name.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let (stream, span) = (StreamId(stream.parse().ok()?), start.parse().ok()?..end.parse().ok()?);
        (own == key).then(|| Listed { trace: trace.clone(), stream, warnings, hash: hash.to_owned(), span, is_cached: true })
    }
}

impl Cache {
    /// A launch of a kernel list: as it was read before, or else it is read, with up to `threads` threads, and kept if the file is still what
    /// it was.
    ///
    /// # Errors
    /// As [`accelsim::read_kernel`].
    pub fn listed(&self, path: &Path, threads: usize) -> Result<Listed, ReadError> {
        let Some(store) = &self.store else { return Listed::read(path, threads) };
        // A file that cannot be opened is told by who opens it next.
        let Ok(key) = content_key(path) else { return Listed::read(path, threads) };
        if let Some(listed) = self.kept((store, &key), path, u64::MAX) {
            return Ok(listed);
        }
        let listed = Listed::read(path, threads)?;
        self.keep((store, &key), path, &listed);
        Ok(listed)
    }

    /// What is kept of a file, if it takes at most `most_bytes`.
    pub(super) fn kept(&self, (store, key): (&Store, &str), path: &Path, most_bytes: u64) -> Option<Listed> {
        let fits = |file: &TraceFile| Listed::of_file(file.clone(), key).is_some();
        match store.load(key, most_bytes, fits) {
            Ok(found) => found.and_then(|file| Listed::of_file(file, key)),
            Err(Unusable::Large) => None,
            Err(Unusable::Wrong(damage)) => {
                self.note(format!("{}: its cached trace is made again: {damage}", path.display()));
                None
            }
        }
    }

    /// Keeps what was read, if that is worth it and the file is still what it was.
    pub(super) fn keep(&self, (store, key): (&Store, &str), path: &Path, listed: &Listed) {
        if listed.trace.warp_insts() < LEAST_WARP_INSTS || content_key(path).ok().as_deref() != Some(key) {
            return;
        }
        let launches = vec![Launch { stream: 0, trace: listed.trace.clone() }];
        let kept = store.save(key, &TraceFile { name: listed.about(key), warnings: listed.warnings.clone(), launches });
        kept.unwrap_or_else(|error| self.note_unwritten(store, &error));
    }
}

/// The fingerprint of a file's contents, of its form (`.xz` or plain), and of what reading does: 32 hexadecimal digits.
///
/// # Errors
/// Those of reading it.
pub fn content_key(path: &Path) -> io::Result<String> {
    let mut hasher = Hasher::new();
    // The versions first: the same contents under another version are another trace.
    let compressed = path.extension().is_some_and(|extension| extension == "xz");
    [trace_file::VERSION, READER_VERSION, u32::from(compressed)].iter().for_each(|number| hasher.write(&number.to_le_bytes()));
    let (mut file, mut chunk) = (File::open(path)?, vec![0; CHUNK_BYTES]);
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(format!("{:032x}", hasher.finish_128())),
            Ok(count) => hasher.write(&chunk[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
#[path = "listed_tests.rs"]
pub(crate) mod tests;
