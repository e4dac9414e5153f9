//! Trace files in a folder, by key. Several processes may use one at a time, and any may be killed at any time.
//!
//! * A file is written under a name of its own, made durable, and renamed: under its key it is there whole or not at all. Two
//!   processes that make the same trace write the same bytes, and either may come last.
//! * A file's time of change is when it was last used. Files beyond the bound go, least recently used first.
//! * Only names that a store itself gives are ever removed.

use mias_trace::trace_file::{self, TraceFile, TraceFileError};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What a trace's name ends in.
const SUFFIX: &str = ".mtrace";

/// What the name of a file under construction ends in.
const PART: &str = ".part";

/// Digits of a key.
const KEY_DIGITS: usize = 32;

/// After this time a file under construction has been left by a killed process (assumption: none takes an hour to write).
const ABANDONED: Duration = Duration::from_secs(3600);

/// The traces in a folder.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    limit_bytes: u64,
}

/// Why a trace that is there is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// What is wrong with the file, which is then to be written again.
    Wrong(String),
    /// It takes more memory than it may.
    Large,
}

/// How much a store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Traces.
    pub traces: u64,
    /// Their bytes, with those of files under construction.
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
    /// The store in `folder`, which need not exist, of at most `limit_bytes`.
    pub fn new(folder: PathBuf, limit_bytes: u64) -> Self {
        Store { folder, limit_bytes }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes that it may hold.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// The trace of `key`, none if it is not there. `fits` says whether it is what the key stands for. It may take `most_bytes` in memory.
    ///
    /// # Errors
    /// [`Unusable`].
    pub fn load(&self, key: &str, most_bytes: u64, fits: impl FnOnce(&TraceFile) -> bool) -> Result<Option<TraceFile>, Unusable> {
        let path = self.path(key);
        match trace_file::read_within(&path, most_bytes) {
            Ok(file) if fits(&file) => {
                // Not worth a word if it fails: the file only seems older than it is.
                let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
                Ok(Some(file))
            }
            Ok(_) => Err(Unusable::Wrong(format!("{} is of another kernel", path.display()))),
            Err(TraceFileError { problem: trace_file::Problem::Room, .. }) => Err(Unusable::Large),
            Err(TraceFileError { problem: trace_file::Problem::Io(error), .. }) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(TraceFileError { problem: trace_file::Problem::Io(error), .. }) => {
                Err(Unusable::Wrong(format!("cannot read {}: {error}", path.display())))
            }
            Err(_) => Err(Unusable::Wrong(format!("{} was damaged", path.display()))),
        }
    }

    /// Keeps a trace, unless it is larger than the whole store may be, and drops what is too much.
    ///
    /// # Errors
    /// Those of the system; nothing is left behind.
    pub fn save(&self, key: &str, file: &TraceFile) -> io::Result<()> {
        let bytes = trace_file::encode(file);
        if bytes.len() as u64 > self.limit_bytes {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        // Made as any new file is: one that `tempfile` makes may be read by its owner alone.
        let new = |path: &Path| File::create_new(path);
        let mut part = tempfile::Builder::new().prefix(&format!("{key}.")).suffix(PART).make_in(&self.folder, new)?;
        part.as_file_mut().write_all(&bytes)?;
        part.as_file().sync_all()?;
        part.persist(self.path(key))?;
        // The name is durable once the folder is; a file system that cannot say so keeps the old state, which is no harm.
        let _ = File::open(&self.folder).and_then(|folder| folder.sync_all());
        self.bound(key);
        Ok(())
    }

    /// How much there is.
    ///
    /// # Errors
    /// Those of reading the folder; one that is not there is empty.
    pub fn usage(&self) -> io::Result<Usage> {
        Ok(usage(&self.entries()?))
    }

    /// Removes all traces, and what was left under construction, but nothing else. Gives what was removed.
    ///
    /// # Errors
    /// Those of the system.
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

    /// Removes what processes have left behind, and the least recently used traces beyond the bound; `newest` stays. Another process
    /// may do the same at the same time, so that a file may be gone already; and what cannot be removed stays.
    fn bound(&self, newest: &str) {
        let (Ok(mut entries), newest) = (self.entries(), self.path(newest)) else { return };
        // What was left first, then from the oldest on.
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
            // Gone since, or no file: not ours to count.
            let Ok(about) = found.metadata() else { continue };
            if about.is_file() {
                let used = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                entries.push(Entry { path: found.path(), bytes: about.len(), used, whole });
            }
        }
        Ok(entries)
    }
}

/// Whether a name is that of a trace (true) or of one under construction; none if it is no name of ours.
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

/// Removes a file that may be gone already.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
