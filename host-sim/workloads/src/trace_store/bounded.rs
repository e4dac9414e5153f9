//! A launch of a kernel list within a bound of memory: whole if it fits, else in parts that wait on disk.

use super::Cache;
use super::listed::{Listed, content_key};
use crate::parts::Parts;
use mias_trace::accelsim::{self, LastPart, Problem, ReadError, Room, StreamId, Warnings};
use mias_trace::fingerprint;
use mias_warp_trace::{KernelInfo, KernelTrace, TraceBuilder, TracePart};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Of a launch's memory, one part each for what is put together, for the parts that are held, for the last one, and for older ones that
/// a run still replays from.
const SHARES: u64 = 4;

/// Least bytes of a part (assumption: what one piece of the text adds at a time).
const LEAST_PART_BYTES: u64 = 1 << 20;

/// Most bytes of a part but the first (assumption: written or read back in tenths of a second).
const MOST_PART_BYTES: u64 = 64 << 20;

/// A launch of a kernel list, all of it or as much as memory holds.
#[derive(Debug)]
pub struct Bounded {
    /// The stream that it was recorded on.
    pub stream: StreamId,
    /// What could be read but not understood.
    pub warnings: Warnings,
    /// It is from the cache; no text was read.
    pub is_cached: bool,
    /// The fingerprint of the whole trace, if it was needed.
    hash: OnceLock<String>,
    /// Where it may be kept.
    key: Option<String>,
    /// The whole, or no TB of it.
    announced: Arc<KernelTrace>,
    parts: Option<Mutex<InParts>>,
}

/// All parts.
#[derive(Debug)]
struct InParts {
    closed: Parts,
    last: Arc<KernelTrace>,
    /// Of the last.
    first_tb: u32,
}

impl Bounded {
    /// The whole trace, or if that is too much for memory the launch without TBs: geometry and static instructions.
    pub fn announced(&self) -> Arc<KernelTrace> {
        self.announced.clone()
    }

    /// The part that has TB `tb`.
    ///
    /// # Errors
    /// Those of reading it back.
    pub fn part_with(&self, tb: u32) -> io::Result<TracePart> {
        match &self.parts {
            None => Ok(TracePart { number: 0, first_tb: 0, trace: self.announced() }),
            Some(parts) => lock(parts).with(tb),
        }
    }

    /// Whether it is in parts.
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
    /// A launch of a kernel list as [`Cache::listed`] has it, in about `most_bytes` of memory: the trace and what finds equal sequences in it.
    /// What of it is too much waits in a temporary file. It can run at once; [`Cache::finish`] does what is left to do.
    ///
    /// # Errors
    /// As [`accelsim::read_kernel`], and those of the temporary file.
    pub fn listed_within(&self, path: &Path, threads: usize, most_bytes: u64) -> Result<Bounded, ReadError> {
        // A file that cannot be opened is told by who opens it next.
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
        let room = &mut Room { whole_bytes, part_bytes, closed: &mut put_away };
        let info = accelsim::read_info(path)?;
        let (last, stream) = accelsim::read_kernel_within(path, threads, &mut warnings, room)?;
        if last.first_tb == 0 {
            return Ok(Bounded { key, ..Bounded::whole(Arc::new(last.trace), stream, warnings) });
        }
        in_parts((info, stream, warnings), closed, last).map_err(|problem| ReadError { path: path.to_owned(), line: None, problem })
    }

    /// The fingerprint of a launch that was read from `path`, which is kept if [`Cache::listed`] would keep it. Nobody who replays it need wait
    /// for this.
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

/// A launch of these parts.
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
