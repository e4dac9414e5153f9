//! Cached launches of Accel-Sim kernel lists. Reading a trace as text takes as long as simulating
//! it; loading a cached trace takes milliseconds.
//!
//! The cache key is a fingerprint of the whole file ([`content_key`]), not its name or time: a
//! changed byte gives another key. The name within the cached file repeats the key, and contains
//! the data that a [`KernelTrace`] lacks.

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

/// Version of the trace reader. It changes with every change after which the same text gives
/// another trace; a test compares traces with it.
pub const READER_VERSION: u32 = 1;

/// Minimum warp instructions of a cached launch. Assumption: smaller launches are read in the time
/// that it takes to write a file.
const LEAST_WARP_INSTS: u64 = 1 << 14;

/// Bytes hashed at a time (assumption: within the second-level cache).
const CHUNK_BYTES: usize = 256 << 10;

/// A launch of a kernel list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Trace of the launch.
    pub trace: Arc<KernelTrace>,
    /// Stream on which it was recorded.
    pub stream: StreamId,
    /// Warnings of the reader.
    pub warnings: Warnings,
    /// Fingerprint of the trace ([`fingerprint::kernel`]).
    pub hash: String,
    /// Range of device sectors, from the first to one past the last.
    pub span: Range<u64>,
    /// True if the launch is from the cache and no text was read.
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

    /// Creates the launch from the data of the reader.
    pub(super) fn of(trace: Arc<KernelTrace>, stream: StreamId, warnings: Warnings) -> Self {
        let (hash, span) = (fingerprint::kernel(&trace), trace.sector_span());
        Listed { trace, stream, warnings, hash, span, is_cached: false }
    }

    /// Returns the name within the cached file.
    fn about(&self, key: &str) -> String {
        format!("{key} {} {} {} {}", self.stream.0, self.hash, self.span.start, self.span.end)
    }

    /// Returns the content of a cached file, if its key is `key`.
    fn of_file(file: TraceFile, key: &str) -> Option<Self> {
        let TraceFile { name, warnings, launches } = file;
        let [Launch { stream: 0, trace }] = &launches[..] else { return None };
        let [own, stream, hash, start, end] = name.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let (stream, span) = (StreamId(stream.parse().ok()?), start.parse().ok()?..end.parse().ok()?);
        (own == key).then(|| Listed { trace: trace.clone(), stream, warnings, hash: hash.to_owned(), span, is_cached: true })
    }
}

impl Cache {
    /// Loads a launch of a kernel list from the cache, or reads it with up to `threads` threads.
    ///
    /// A launch that was read is cached if the file has not changed meanwhile.
    ///
    /// # Errors
    /// As [`accelsim::read_kernel`].
    pub fn listed(&self, path: &Path, threads: usize) -> Result<Listed, ReadError> {
        let Some(store) = &self.store else { return Listed::read(path, threads) };
        // The next reader reports a file that cannot be opened.
        let Ok(key) = content_key(path) else { return Listed::read(path, threads) };
        if let Some(listed) = self.kept((store, &key), path, u64::MAX) {
            return Ok(listed);
        }
        let listed = Listed::read(path, threads)?;
        self.keep((store, &key), path, &listed);
        Ok(listed)
    }

    /// Loads the cached launch of a file, if it takes at most `most_bytes`.
    pub(super) fn kept(&self, (store, key): (&Store, &str), path: &Path, most_bytes: u64) -> Option<Listed> {
        let fits = |file: &TraceFile| Listed::of_file(file.clone(), key).is_some();
        match store.load(key, most_bytes, fits) {
            Ok(found) => found.and_then(|file| Listed::of_file(file, key)),
            Err(Unusable::Large) => None,
            Err(Unusable::Wrong(damage)) => {
                self.note(format!("{}: rebuilding its cached trace: {damage}", path.display()));
                None
            }
        }
    }

    /// Caches a launch if that is worthwhile and the file has not changed.
    pub(super) fn keep(&self, (store, key): (&Store, &str), path: &Path, listed: &Listed) {
        if listed.trace.warp_insts() < LEAST_WARP_INSTS || content_key(path).ok().as_deref() != Some(key) {
            return;
        }
        let launches = vec![Launch { stream: 0, trace: listed.trace.clone() }];
        let kept = store.save(key, &TraceFile { name: listed.about(key), warnings: listed.warnings.clone(), launches });
        kept.unwrap_or_else(|error| self.note_unwritten(store, &error));
    }
}

/// Returns the fingerprint of a file's contents, its form (`.xz` or plain), and the reader's
/// version: 32 hexadecimal digits.
///
/// # Errors
/// Errors of reading the file.
pub fn content_key(path: &Path) -> io::Result<String> {
    let mut hasher = Hasher::new();
    // The versions come first: the same contents under another version are another trace.
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
