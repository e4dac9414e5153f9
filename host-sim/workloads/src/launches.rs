//! The launches of a kernel list, read as they come: the next is read while the present one is simulated, and what has been replayed goes.
//! So a list of any length runs in the memory of a few launches, and begins when the first has been read. Fingerprints are taken, and launches
//! kept, while they are replayed.

use crate::trace_store::{Bounded, Cache};
use mias_trace::accelsim::{ReadError, Warnings};
use mias_warp_trace::{KernelTrace, TracePart, TraceSource};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

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
    /// Who reads it has the lock until this is known, which is later than that it can be replayed.
    about: Mutex<Option<About>>,
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
    /// When the first could be replayed.
    began: OnceLock<Instant>,
    /// Who finishes a launch has it.
    finishing: Mutex<()>,
}

impl Launches {
    /// The launches in these files, recorded on `streams` streams, which run side by side. Nothing is read yet. All that is in memory at a
    /// time takes about `budget_bytes`; `threads` threads read.
    pub fn new(paths: Vec<PathBuf>, streams: usize, cache: Arc<Cache>, budget_bytes: u64, threads: usize) -> Arc<Self> {
        // What runs on each stream, and what comes next.
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

    /// Where the TBs of launch `at` come from.
    pub fn source(self: &Arc<Self>, at: usize) -> Arc<dyn TraceSource> {
        Arc::new(Source { all: self.clone(), at })
    }

    /// Reads launch `at`, unless it has been. Others can replay it before this returns: first it is noted what is known of it.
    ///
    /// # Errors
    /// What is wrong with it.
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
        // What is still to be written to a slow disk is in memory, too: no more of it.
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

    /// What is known of launch `at`, once that is known; none unless it has been read.
    pub fn about(&self, at: usize) -> Option<About> {
        lock(&self.launches[at].about).clone()
    }

    /// When the first launch had been read; none before.
    pub fn began(&self) -> Option<Instant> {
        self.began.get().copied()
    }

    /// Notes that launch `at` was used, and lets those go that were not for the longest, if they are too many.
    fn used(&self, at: usize) {
        let mut recent = lock(&self.recent);
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
    pub fn read_ahead(self: &Arc<Self>, at: usize) {
        let is_new = |launch: &Launch| launch.about.try_lock().is_ok_and(|about| about.is_none());
        if self.launches.get(at).is_some_and(is_new) {
            let all = self.clone();
            // What is wrong with it is told when it is asked for.
            thread::spawn(move || drop(all.read(at)));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
