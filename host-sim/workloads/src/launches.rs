//! Launches of a kernel list, read during the replay. The next launch is read while the present one
//! is simulated, and replayed launches are dropped. A list of any length therefore runs in the
//! memory of a few launches, and starts after the first has been read. Fingerprints and cache
//! entries are made during the replay.

use crate::trace_store::{Bounded, Cache};
use mias_trace::accelsim::{ReadError, Warnings};
use mias_warp_trace::{KernelTrace, TracePart, TraceSource};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

/// Data about a launch that has been read.
#[derive(Clone, Debug)]
pub struct About {
    /// Fingerprint of the trace.
    pub hash: String,
    /// Warnings of the reader.
    pub warnings: Warnings,
}

/// A file and its content.
#[derive(Debug)]
struct Launch {
    path: PathBuf,
    /// Result of reading the launch; `None` before the launch is read and after it is dropped. The
    /// error is a message.
    read: Mutex<Option<Result<Arc<Bounded>, String>>>,
    /// Data about the launch, locked by the reader until they are known, which is later than the
    /// start of the replay.
    about: Mutex<Option<About>>,
}

/// All launches of a list.
#[derive(Debug)]
pub struct Launches {
    launches: Vec<Launch>,
    cache: Arc<Cache>,
    threads: usize,
    /// Memory limit of one launch in bytes.
    launch_bytes: u64,
    /// Maximum number of launches in memory, except those that a run still replays.
    at_a_time: usize,
    /// Launches in memory; the most recently used one is last.
    recent: Mutex<Vec<usize>>,
    /// Time at which the first launch could be replayed.
    began: OnceLock<Instant>,
    /// Held while a launch is finished.
    finishing: Mutex<()>,
}

impl Launches {
    /// Creates the launches of these files, recorded on `streams` concurrent streams, without
    /// reading them.
    ///
    /// All launches in memory together take about `budget_bytes`; `threads` threads read.
    pub fn new(paths: Vec<PathBuf>, streams: usize, cache: Arc<Cache>, budget_bytes: u64, threads: usize) -> Arc<Self> {
        // The current launch of each stream, and the next one.
        let at_a_time = streams.max(1) + 1;
        let launch = |path| Launch { path, read: Mutex::default(), about: Mutex::default() };
        Arc::new(Launches {
            launches: paths.into_iter().map(launch).collect(),
            cache,
            threads,
            launch_bytes: budget_bytes / at_a_time as u64,
            at_a_time,
            recent: Mutex::default(),
            began: OnceLock::new(),
            finishing: Mutex::default(),
        })
    }

    /// Creates the source of the TBs of launch `at`.
    pub fn source(self: &Arc<Self>, at: usize) -> Arc<dyn TraceSource> {
        Arc::new(Source { all: self.clone(), at })
    }

    /// Reads launch `at`, unless it has been read.
    ///
    /// Other threads can replay it before this returns, which happens after the data about it are
    /// known.
    ///
    /// # Errors
    /// The cause of a read error.
    pub fn read(&self, at: usize) -> Result<Arc<Bounded>, String> {
        let launch = &self.launches[at];
        let mut read = lock(&launch.read);
        if let Some(found) = &*read {
            let found = found.clone();
            drop(read);
            self.used(at);
            return found;
        }
        let mut about = lock(&launch.about);
        // Data waiting for a slow disk are in memory too; limit them to one launch.
        drop(lock(&self.finishing));
        let found = self.cache.listed_within(&launch.path, self.threads, self.launch_bytes);
        let found = found.map(Arc::new).map_err(|error: ReadError| error.to_string());
        *read = Some(found.clone());
        drop(read);
        self.used(at);
        if let Ok(found) = &found {
            self.began.get_or_init(Instant::now);
            let _finishing = lock(&self.finishing);
            about.get_or_insert_with(|| About { hash: self.cache.finish(&launch.path, found), warnings: found.warnings.clone() });
        }
        found
    }

    /// Returns the data about launch `at`; `None` until they are known.
    pub fn about(&self, at: usize) -> Option<About> {
        lock(&self.launches[at].about).clone()
    }

    /// Returns the time at which the first launch had been read; `None` before.
    pub fn began(&self) -> Option<Instant> {
        self.began.get().copied()
    }

    /// Marks launch `at` as used, and drops the least recently used launches beyond the maximum.
    fn used(&self, at: usize) {
        let mut recent = lock(&self.recent);
        recent.retain(|&other| other != at);
        recent.push(at);
        let surplus = recent.len().saturating_sub(self.at_a_time);
        for gone in recent.drain(..surplus) {
            // A launch that is being requested stays until the next call.
            if let Ok(mut read) = self.launches[gone].read.try_lock()
                && matches!(*read, Some(Ok(_)))
            {
                *read = None;
            }
        }
    }

    /// Starts reading launch `at` in the background, if it exists and has not been read.
    pub fn read_ahead(self: &Arc<Self>, at: usize) {
        let is_new = |launch: &Launch| launch.about.try_lock().is_ok_and(|about| about.is_none());
        if self.launches.get(at).is_some_and(is_new) {
            let all = self.clone();
            // An error is reported when the launch is requested.
            thread::spawn(move || drop(all.read(at)));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Source of one launch.
#[derive(Debug)]
struct Source {
    all: Arc<Launches>,
    at: usize,
}

impl TraceSource for Source {
    fn announced(&self) -> Option<Arc<KernelTrace>> {
        let read = self.all.read(self.at).ok()?;
        self.all.read_ahead(self.at + 1);
        Some(read.announced())
    }

    fn part_with(&self, tb: u32) -> Result<TracePart, String> {
        let launch = self.all.read(self.at)?;
        launch.part_with(tb).map_err(|error| format!("{}: {error}", self.all.launches[self.at].path.display()))
    }
}

#[cfg(test)]
#[path = "launches_tests.rs"]
mod tests;
