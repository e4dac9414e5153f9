//! The launches of a kernel list, read as they come: the next is read while the present one is simulated, and what has been replayed goes.
//! So a list of any length runs in the memory of a few launches, and begins when the first has been read.

use crate::trace_store::{Bounded, Cache};
use mias_hw_model::trace::{KernelTrace, TracePart, TraceSource};
use mias_trace::accelsim::{ReadError, Warnings};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

/// What is known of a launch once it has been read.
#[derive(Clone, Debug)]
pub struct About {
    /// The fingerprint of its trace.
    pub hash: String,
    /// What could be read but not understood.
    pub warnings: Warnings,
}

/// A file, and what was read of it.
#[derive(Debug)]
struct Launch {
    path: PathBuf,
    /// None before it is read, and after it went. A message is what was wrong.
    read: Mutex<Option<Result<Arc<Bounded>, String>>>,
    about: OnceLock<About>,
}

/// All launches of a list.
#[derive(Debug)]
pub struct Launches {
    launches: Vec<Launch>,
    cache: Arc<Cache>,
    threads: usize,
    /// Bytes that one launch may take.
    launch_bytes: u64,
    /// Launches that may be in memory at a time, but for those that a run still replays.
    at_a_time: usize,
    /// Those that are, the one read or asked for last at the end.
    recent: Mutex<Vec<usize>>,
}

impl Launches {
    /// The launches in these files, recorded on `streams` streams, which run side by side. Nothing is read yet. All that is in memory at a
    /// time takes about `budget_bytes`; `threads` threads read.
    pub fn new(paths: Vec<PathBuf>, streams: usize, cache: Arc<Cache>, budget_bytes: u64, threads: usize) -> Arc<Self> {
        // What runs on each stream, and what comes next.
        let at_a_time = streams.max(1) + 1;
        let launch = |path| Launch { path, read: Mutex::default(), about: OnceLock::new() };
        let (launches, recent) = (paths.into_iter().map(launch).collect(), Mutex::default());
        Arc::new(Launches { launches, cache, threads, launch_bytes: budget_bytes / at_a_time as u64, at_a_time, recent })
    }

    /// Where the TBs of launch `at` come from.
    pub fn source(self: &Arc<Self>, at: usize) -> Arc<dyn TraceSource> {
        Arc::new(Source { all: self.clone(), at })
    }

    /// Reads launch `at`, unless it has been.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(&self, at: usize) -> Result<Arc<Bounded>, String> {
        let launch = &self.launches[at];
        let mut read = launch.read.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match &*read {
            Some(found) => found.clone(),
            None => {
                let found = self.cache.listed_within(&launch.path, self.threads, self.launch_bytes);
                let found = found.map(Arc::new).map_err(|error: ReadError| error.to_string());
                if let Ok(found) = &found {
                    launch.about.get_or_init(|| About { hash: found.hash.clone(), warnings: found.warnings.clone() });
                }
                read.insert(found).clone()
            }
        };
        drop(read);
        self.used(at);
        found
    }

    /// What is known of launch `at`; none unless it has been read.
    pub fn about(&self, at: usize) -> Option<&About> {
        self.launches[at].about.get()
    }

    /// Notes that launch `at` was used, and lets those go that were not for the longest, if they are too many.
    fn used(&self, at: usize) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|&other| other != at);
        recent.push(at);
        let surplus = recent.len().saturating_sub(self.at_a_time);
        for gone in recent.drain(..surplus) {
            // One that is just being asked for again stays until the next time.
            if let Ok(mut read) = self.launches[gone].read.try_lock()
                && matches!(*read, Some(Ok(_)))
            {
                *read = None;
            }
        }
    }

    /// Begins to read launch `at`, if there is one that was not read before.
    fn read_ahead(self: &Arc<Self>, at: usize) {
        if self.launches.get(at).is_some_and(|launch| launch.about.get().is_none()) {
            let all = self.clone();
            // What is wrong with it is told when it is asked for.
            thread::spawn(move || drop(all.read(at)));
        }
    }
}

/// One of the launches.
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
