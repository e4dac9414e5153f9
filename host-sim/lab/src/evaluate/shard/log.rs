//! A shard's log: who ran it and when each of its runs ended. It is for people; nothing is computed from it.

use super::super::store::{LOGS, Store, StoreError};
use super::Shard;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// The ending of a log's name.
const ENDING: &str = "log";

/// A log to write to. Programs that run one shard at once write to one file, a line at a time.
#[derive(Debug)]
pub struct Log {
    file: File,
    who: String,
    begun: Instant,
}

impl Log {
    /// Opens the log of `shard`, behind what is there. Every line names `who` writes it: a machine and a process.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be made.
    pub fn open(store: &Store, shard: Shard, who: &str) -> Result<Self, StoreError> {
        let path = path(store, shard);
        let fail = |error: std::io::Error| StoreError(format!("cannot write the log {}: {error}", path.display()));
        fs::create_dir_all(store.folder().join(LOGS)).map_err(fail)?;
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(fail)?;
        Ok(Log { file, who: who.to_owned(), begun: Instant::now() })
    }

    /// Adds a line. One that cannot be written is left out: a log is worth no run.
    pub fn line(&self, text: &str) {
        let line = format!("{} {:>6} s  {}\n", self.who, self.begun.elapsed().as_secs(), text.replace('\n', " "));
        // In one piece, so that lines of several programs do not mix.
        let _ = (&self.file).write_all(line.as_bytes());
    }
}

fn path(store: &Store, shard: Shard) -> PathBuf {
    store.folder().join(LOGS).join(shard.file_stem()).with_added_extension(ENDING)
}

/// The last line of every shard's log in a folder, in the order of shards; empty where there is none yet.
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
