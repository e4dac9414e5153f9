//! Log of a shard: its executor, and the end of each of its runs. It is for people; nothing is
//! computed from it.

use super::super::store::{LOGS, Store, StoreError};
use super::Shard;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Extension of a log's file name.
const ENDING: &str = "log";

/// Open log. Concurrent programs with the same shard append to one file, a line at a time.
#[derive(Debug)]
pub struct Log {
    file: File,
    who: String,
    begun: Instant,
}

impl Log {
    /// Opens the log of `shard` for appending. Every line names its writer `who`: a machine and a
    /// process.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be created.
    pub fn open(store: &Store, shard: Shard, who: &str) -> Result<Self, StoreError> {
        let path = path(store, shard);
        let fail = |error: std::io::Error| StoreError(format!("cannot write the log {}: {error}", path.display()));
        fs::create_dir_all(store.folder().join(LOGS)).map_err(fail)?;
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(fail)?;
        Ok(Log { file, who: who.to_owned(), begun: Instant::now() })
    }

    /// Adds a line. Write failures are ignored, since a log must not fail a run.
    pub fn line(&self, text: &str) {
        let line = format!("{} {:>6} s  {}\n", self.who, self.begun.elapsed().as_secs(), text.replace('\n', " "));
        // A single write, so that lines of several programs do not mix.
        let _ = (&self.file).write_all(line.as_bytes());
    }
}

fn path(store: &Store, shard: Shard) -> PathBuf {
    store.folder().join(LOGS).join(shard.file_stem()).with_added_extension(ENDING)
}

/// Returns the last line of every shard's log in a folder, in the order of shards; empty without
/// logs.
pub fn last_lines(store: &Store) -> BTreeMap<Shard, String> {
    let entries = fs::read_dir(store.folder().join(LOGS)).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == ENDING));
    let last = |path: PathBuf| {
        let shard = Shard::of_file_stem(path.file_stem()?.to_str()?)?;
        let text = String::from_utf8_lossy(&fs::read(&path).ok()?).into_owned();
        Some((shard, text.lines().last().unwrap_or_default().to_owned()))
    };
    paths.filter_map(last).collect()
}
