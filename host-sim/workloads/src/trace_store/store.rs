//! Store of trace files in a folder, by key. Several processes may use it at a time, and any may be
//! killed at any time.
//!
//! * A file is written under a separate name, made durable, and renamed: under its key it is
//!   complete or absent. Two processes that make the same trace write the same bytes, in either
//!   order.
//! * The modification time of a file is its last use. Files beyond the limit are removed, least
//!   recently used first.
//! * Only names that a store generates are ever removed.

use mias_trace::trace_file::{self, TraceFile, TraceFileError};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Extension of a trace file.
const SUFFIX: &str = ".mtrace";

/// Extension of a file under construction.
const PART: &str = ".part";

/// Digits of a key.
const KEY_DIGITS: usize = 32;

/// Age after which a file under construction is considered abandoned by a killed process
/// (assumption: none takes an hour to write).
const ABANDONED: Duration = Duration::from_secs(3600);

/// Traces in a folder.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    limit_bytes: u64,
}

/// Cause why an existing trace is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// Defect of the file, which is then written again.
    Wrong(String),
    /// The trace exceeds its memory limit.
    Large,
}

/// Usage of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of traces.
    pub traces: u64,
    /// Bytes of traces and of files under construction.
    pub bytes: u64,
}

/// A file of the store.
struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
    whole: bool,
}

impl Store {
    /// Creates a store in `folder`, which need not exist, with at most `limit_bytes`.
    pub fn new(folder: PathBuf, limit_bytes: u64) -> Self {
        Store { folder, limit_bytes }
    }

    /// Returns the folder of the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the maximum size of the store in bytes.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Loads the trace of `key`, or `None` if it is absent.
    ///
    /// `fits` checks that the trace belongs to the key. The trace may take `most_bytes` in memory.
    ///
    /// # Errors
    /// [`Unusable`].
    pub fn load(&self, key: &str, most_bytes: u64, fits: impl FnOnce(&TraceFile) -> bool) -> Result<Option<TraceFile>, Unusable> {
        let path = self.path(key);
        match trace_file::read_within(&path, most_bytes) {
            Ok(file) if fits(&file) => {
                // A failure is ignored: the file then only seems older than it is.
                let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
                Ok(Some(file))
            }
            Ok(_) => Err(Unusable::Wrong(format!("{} belongs to another kernel", path.display()))),
            Err(TraceFileError { problem: trace_file::Problem::MemoryLimit, .. }) => Err(Unusable::Large),
            Err(TraceFileError { problem: trace_file::Problem::Io(error), .. }) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(TraceFileError { problem: trace_file::Problem::Io(error), .. }) => {
                Err(Unusable::Wrong(format!("cannot read {}: {error}", path.display())))
            }
            Err(_) => Err(Unusable::Wrong(format!("{} was damaged", path.display()))),
        }
    }

    /// Stores a trace, unless it exceeds the limit of the store, and removes files beyond the
    /// limit.
    ///
    /// # Errors
    /// Errors of the system; no file is left behind.
    pub fn save(&self, key: &str, file: &TraceFile) -> io::Result<()> {
        let bytes = trace_file::encode(file);
        if bytes.len() as u64 > self.limit_bytes {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        // Created like any new file: a file of `tempfile` is readable only by its owner.
        let new = |path: &Path| File::create_new(path);
        let mut part = tempfile::Builder::new().prefix(&format!("{key}.")).suffix(PART).make_in(&self.folder, new)?;
        part.as_file_mut().write_all(&bytes)?;
        part.as_file().sync_all()?;
        part.persist(self.path(key))?;
        // The name is durable once the folder is. A file system that does not support this keeps
        // the old state, which is harmless.
        let _ = File::open(&self.folder).and_then(|folder| folder.sync_all());
        self.bound(key);
        Ok(())
    }

    /// Computes the usage of the store.
    ///
    /// # Errors
    /// Errors of reading the folder; a missing one is empty.
    pub fn usage(&self) -> io::Result<Usage> {
        Ok(usage(&self.entries()?))
    }

    /// Removes all traces and files under construction, but no other files, and returns their
    /// usage.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn clean(&self) -> io::Result<Usage> {
        let entries = self.entries()?;
        for entry in &entries {
            remove(&entry.path)?;
        }
        Ok(usage(&entries))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}{SUFFIX}"))
    }

    /// Removes abandoned files, and the least recently used traces beyond the limit; `newest`
    /// stays. Another process may do the same concurrently, so a file may already be gone. Files
    /// that cannot be removed stay.
    fn bound(&self, newest: &str) {
        let (Ok(mut entries), newest) = (self.entries(), self.path(newest)) else { return };
        // Abandoned files first, then from the oldest on.
        entries.sort_by(|a, b| (a.whole, a.used, &a.path).cmp(&(b.whole, b.used, &b.path)));
        let now = SystemTime::now();
        let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
        for entry in entries {
            let abandoned = !entry.whole && now.duration_since(entry.used).is_ok_and(|age| age > ABANDONED);
            let surplus = entry.whole && bytes > self.limit_bytes && entry.path != newest;
            if (abandoned || surplus) && remove(&entry.path).is_ok() {
                bytes -= entry.bytes;
            }
        }
    }

    fn entries(&self) -> io::Result<Vec<Entry>> {
        let list = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            list => list?,
        };
        let mut entries = Vec::new();
        for found in list {
            let found = found?;
            let Some(whole) = found.file_name().to_str().and_then(kind) else { continue };
            // Files that have disappeared and other entries are not counted.
            let Ok(about) = found.metadata() else { continue };
            if about.is_file() {
                let used = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                entries.push(Entry { path: found.path(), bytes: about.len(), used, whole });
            }
        }
        Ok(entries)
    }
}

/// Returns the kind of a file name: true for a trace, false for a file under construction; `None`
/// for other names.
fn kind(name: &str) -> Option<bool> {
    let (key, rest) = name.split_once('.')?;
    let is_key = key.len() == KEY_DIGITS && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_part = rest.strip_suffix(PART).is_some_and(|own| own.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'));
    match (is_key, rest == &SUFFIX[1..], is_part) {
        (true, true, _) => Some(true),
        (true, _, true) => Some(false),
        _ => None,
    }
}

fn usage(entries: &[Entry]) -> Usage {
    Usage { traces: entries.iter().filter(|entry| entry.whole).count() as u64, bytes: entries.iter().map(|entry| entry.bytes).sum() }
}

/// Removes a file that may already be gone.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
