//! A launch of a kernel list within a memory limit: whole if it fits, and otherwise in parts on
//! disk.

use super::Cache;
use super::listed::{Listed, content_key};
use crate::parts::Parts;
use mias_trace::accelsim::{self, LastPart, MemoryBudget, Problem, ReadError, StreamId, Warnings};
use mias_trace::fingerprint;
use mias_warp_trace::{KernelInfo, KernelTrace, TraceBuilder, TracePart};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Shares of a launch's memory: one each for the collection of TBs, the held parts, the last part,
/// and older parts that a run still replays.
const SHARES: u64 = 4;

/// Minimum bytes of a part (assumption: the size that one piece of text adds at a time).
const LEAST_PART_BYTES: u64 = 1 << 20;

/// Maximum bytes of a part except the first (assumption: written or read back in tenths of a
/// second).
const MOST_PART_BYTES: u64 = 64 << 20;

/// A launch of a kernel list, whole or as far as memory permits.
#[derive(Debug)]
pub struct Bounded {
    /// Stream on which it was recorded.
    pub stream: StreamId,
    /// Warnings of the reader.
    pub warnings: Warnings,
    /// True if the launch is from the cache and no text was read.
    pub is_cached: bool,
    /// Fingerprint of the whole trace, if it was needed.
    hash: OnceLock<String>,
    /// Key under which it may be cached.
    key: Option<String>,
    /// The whole trace, or the trace without TBs.
    announced: Arc<KernelTrace>,
    parts: Option<Mutex<InParts>>,
}

/// All parts of the launch.
#[derive(Debug)]
struct InParts {
    closed: Parts,
    last: Arc<KernelTrace>,
    /// First TB of the last part.
    first_tb: u32,
}

impl Bounded {
    /// Returns the whole trace, or the launch without TBs (geometry and static instructions) if it
    /// exceeds memory.
    pub fn announced(&self) -> Arc<KernelTrace> {
        self.announced.clone()
    }

    /// Returns the part that contains TB `tb`.
    ///
    /// # Errors
    /// Errors of reading the part back.
    pub fn part_with(&self, tb: u32) -> io::Result<TracePart> {
        match &self.parts {
            None => Ok(TracePart { number: 0, first_tb: 0, trace: self.announced() }),
            Some(parts) => lock(parts).with(tb),
        }
    }

    /// Returns whether the launch is in parts.
    pub fn is_in_parts(&self) -> bool {
        self.parts.is_some()
    }

    fn whole(trace: Arc<KernelTrace>, stream: StreamId, warnings: Warnings) -> Self {
        Bounded { stream, warnings, is_cached: false, hash: OnceLock::new(), key: None, announced: trace, parts: None }
    }

    fn cached(Listed { trace, stream, warnings, hash, is_cached, .. }: Listed) -> Self {
        Bounded { is_cached, hash: hash.into(), ..Bounded::whole(trace, stream, warnings) }
    }
}

impl InParts {
    fn with(&mut self, tb: u32) -> io::Result<TracePart> {
        let closed = self.closed.with(tb, self.first_tb)?;
        let last = || TracePart { number: self.closed.count(), first_tb: self.first_tb, trace: self.last.clone() };
        Ok(closed.unwrap_or_else(last))
    }

    fn each(&mut self, visit: &mut dyn FnMut(&KernelTrace)) -> io::Result<()> {
        let (mut tb, end) = (0, self.first_tb + self.last.recorded_tbs());
        while tb < end {
            let part = self.with(tb)?;
            visit(&part.trace);
            tb = part.first_tb + part.trace.recorded_tbs();
        }
        Ok(())
    }
}

impl Cache {
    /// Reads a launch of a kernel list as [`Cache::listed`] does, within about `most_bytes` of
    /// memory.
    ///
    /// The limit includes the trace and the index of equal sequences. Parts beyond it are in a
    /// temporary file. The launch can run at once; [`Cache::finish`] completes the remaining work.
    ///
    /// # Errors
    /// As [`accelsim::read_kernel`], and errors of the temporary file.
    pub fn listed_within(&self, path: &Path, threads: usize, most_bytes: u64) -> Result<Bounded, ReadError> {
        // The next reader reports a file that cannot be opened.
        let key = self.store.as_ref().and_then(|_| content_key(path).ok());
        if let (Some(store), Some(key)) = (&self.store, &key)
            && let Some(listed) = self.kept((store, key), path, most_bytes)
        {
            return Ok(Bounded::cached(listed));
        }
        let share = most_bytes / SHARES;
        let (mut closed, mut warnings) = (Parts::new(share), Warnings::new());
        let mut put_away = |first_tb, part| {
            if first_tb == 0 {
                closed = Parts::new(share);
            }
            closed.add(first_tb, part)
        };
        let (whole_bytes, part_bytes) = (share.max(LEAST_PART_BYTES), share.clamp(LEAST_PART_BYTES, MOST_PART_BYTES));
        let room = &mut MemoryBudget { whole_bytes, part_bytes, closed: &mut put_away };
        let info = accelsim::read_info(path)?;
        let (last, stream) = accelsim::read_kernel_within(path, threads, &mut warnings, room)?;
        if last.first_tb == 0 {
            return Ok(Bounded { key, ..Bounded::whole(Arc::new(last.trace), stream, warnings) });
        }
        in_parts((info, stream, warnings), closed, last).map_err(|problem| ReadError { path: path.to_owned(), line: None, problem })
    }

    /// Computes the fingerprint of a launch read from `path`, and caches the launch if
    /// [`Cache::listed`] would. The replay need not wait for this.
    pub fn finish(&self, path: &Path, bounded: &Bounded) -> String {
        let read = || {
            let Bounded { stream, warnings, announced, .. } = bounded;
            let listed = Listed::of(announced.clone(), *stream, warnings.clone());
            if let (Some(store), Some(key)) = (&self.store, &bounded.key) {
                self.keep((store, key), path, &listed);
            }
            listed.hash
        };
        bounded.hash.get_or_init(read).clone()
    }
}

/// Creates a launch from its parts.
fn in_parts(
    (info, stream, warnings): (KernelInfo, StreamId, Warnings),
    closed: Parts,
    LastPart { first_tb, trace }: LastPart,
) -> Result<Bounded, Problem> {
    let mut builder = TraceBuilder::new(info.clone())?;
    for &inst in trace.statics() {
        builder.define(inst)?;
    }
    let announced = Arc::new(builder.so_far());
    let parts = Mutex::new(InParts { closed, last: Arc::new(trace), first_tb });
    let hash = fingerprint::kernel_in_parts(&info, announced.statics(), |visit| lock(&parts).each(visit))?;
    Ok(Bounded { hash: hash.into(), parts: Some(parts), ..Bounded::whole(announced, stream, warnings) })
}

fn lock(parts: &Mutex<InParts>) -> MutexGuard<'_, InParts> {
    parts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "bounded_tests.rs"]
mod tests;
