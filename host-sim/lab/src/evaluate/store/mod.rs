//! Folder of an evaluation: a note about its plan, and a file per finished run.
//!
//! A file appears whole or not at all, as soon as its run has ended. So the content is valid
//! whenever the program ends, and the same command resumes. A changed plan of the same name
//! resumes, too: runs are found by identity, so that those of the new text are reused.

mod shared;

use super::plan::Plan;
use super::record::{FORMAT, Identity, Kept, MODEL};
use super::results::{Evaluation, SCHEMA_VERSION};
use crate::output::{is_part, replace};
use liblzma::read::XzDecoder;
use liblzma::stream::Stream;
use mias_trace::fingerprint::Fnv;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::hash::Hasher;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// File name of the results.
pub const RESULTS: &str = "results.json";

/// File name of the note.
const NOTE: &str = "evaluation.json";

/// Folder of the runs.
const RUNS: &str = "runs";

/// Folder of the shards' logs.
pub(super) const LOGS: &str = "logs";

/// Folders of the scripts with which engines run shards.
pub const SCRIPTS: [&str; 2] = ["slurm", "hyperqueue"];

/// Memory of a decompressor: that of `xz -9`, and some.
const XZ_MEMORY_BYTES: u64 = 128 << 20;

/// Note about the plan and the versions of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Version of the folder's files.
    pub format: u32,
    /// Version of program and model.
    pub model: String,
    /// Name of the plan.
    pub plan: String,
    /// Fingerprint of the plan's text.
    pub plan_hash: String,
}

impl Note {
    /// Creates the note for an evaluation of `plan` by this program.
    pub fn of(plan: &Plan) -> Self {
        let mut hasher = Fnv::default();
        hasher.write(plan.text.as_bytes());
        Note { format: FORMAT, model: MODEL.into(), plan: plan.name.clone(), plan_hash: format!("{:016x}", hasher.finish()) }
    }
}

/// A run on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Record {
    /// Identity of the run.
    pub run: Identity,
    /// Results of the run.
    pub outcome: Kept,
}

/// Runs of a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// Valid runs.
    pub whole: Vec<Record>,
    /// One line for each unreadable file, with its name and the reason.
    pub unreadable: Vec<String>,
}

/// Reason why a folder cannot be used. The message names it and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

/// Exclusive right to execute the missing runs of a folder. It ends when dropped, or with the
/// program.
#[derive(Debug)]
pub struct Claim {
    _runs: Option<File>,
}

/// Function that writes a file, whole or not at all.
type Write = Arc<dyn Fn(&Path, &[u8]) -> io::Result<()> + Send + Sync>;

/// Open folder of an evaluation.
#[derive(Clone)]
pub struct Store {
    folder: PathBuf,
    write: Write,
    /// Whether the folder did not exist before.
    is_new: bool,
    /// Whether the folder has results of an earlier text of the plan, until [`Store::renew`].
    is_of_earlier_text: bool,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// Remedy for a folder of another plan.
const ANOTHER_FOLDER: &str = "set another folder with --out, or remove this one";

/// Returns the error for a folder with results of the plan `theirs` instead of `ours`.
fn of_another_plan(folder: &Path, theirs: &str, ours: &str) -> StoreError {
    let form = match (theirs.strip_suffix("-quick"), ours.strip_suffix("-quick")) {
        (Some(plan), None) if plan == ours => "pass --quick to continue it, or ",
        (None, Some(plan)) if plan == theirs => "leave --quick out, or ",
        _ => "",
    };
    StoreError(format!("{} holds results of plan `{theirs}`, not of `{ours}`; {form}{ANOTHER_FOLDER}", folder.display()))
}

/// Reads results from a file: `results.json`, or the same compressed (`.json.xz`).
///
/// # Errors
/// [`StoreError`] if the file cannot be read, is damaged, or is of another schema.
pub fn results_in(path: &Path) -> Result<Evaluation, StoreError> {
    let fail = |error: std::io::Error| StoreError(format!("cannot read {}: {error}", path.display()));
    let file = File::open(path).map_err(fail)?;
    let mut text = String::new();
    if path.extension().is_some_and(|end| end == "xz") {
        let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES, 0).map_err(|error| fail(error.into()))?;
        XzDecoder::new_stream(file, stream).read_to_string(&mut text).map_err(fail)?;
    } else {
        { file }.read_to_string(&mut text).map_err(fail)?;
    }
    results_of(path, &text)
}

/// Parses results from the text of a file.
fn results_of(path: &Path, text: &str) -> Result<Evaluation, StoreError> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u32,
    }
    let at = path.display();
    let damaged = |error: serde_json::Error| StoreError(format!("{at} is damaged ({error}); repeat its `mias evaluate`"));
    // Of all that a file of another version may hold, only this is known to be there.
    let Version { schema_version } = serde_json::from_str(text).map_err(damaged)?;
    if schema_version != SCHEMA_VERSION {
        return Err(StoreError(format!(
            "{at} has schema version {schema_version}, this program reads {SCHEMA_VERSION}; use the program that wrote it"
        )));
    }
    serde_json::from_str(text).map_err(damaged)
}

impl Store {
    /// Opens the folder for results of `note`'s plan, created if necessary. A folder of another
    /// plan is refused; one of an earlier text of the plan is unchanged until [`Store::renew`].
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(folder: &Path, note: &Note) -> Result<Self, StoreError> {
        Store::with(folder, note, Arc::new(replace))
    }

    fn with(folder: &Path, note: &Note, write: Write) -> Result<Self, StoreError> {
        let at = folder.display();
        let mut store = Store { folder: folder.to_owned(), write, is_new: !folder.exists(), is_of_earlier_text: false };
        let fail = |error: io::Error| StoreError(format!("cannot create the folder {at}: {error}"));
        let there = store.note().map_err(|error| StoreError(format!("{error}; set another folder with --out")))?;
        match there {
            Some(there) if there == *note => {}
            // A start that ended before its first run had ended: nothing is lost.
            _ if store.is_unused() => {
                fs::create_dir_all(folder).map_err(fail)?;
                // The note is written first, so that the same command resumes after any
                // interruption.
                store.put(NOTE, &json_line(note)?)?;
            }
            Some(there) if there.format != note.format || there.model != note.model => {
                let (theirs, ours) = (&there.model, &note.model);
                return Err(StoreError(format!("{at} holds results of version {theirs}, this is {ours}; {ANOTHER_FOLDER}")));
            }
            Some(there) => {
                if there.plan != note.plan {
                    return Err(of_another_plan(folder, &there.plan, &note.plan));
                }
                store.is_of_earlier_text = true;
            }
            None => return Err(StoreError(format!("{at} is not empty and holds no evaluation; set another folder with --out"))),
        }
        fs::create_dir_all(folder.join(RUNS)).map_err(fail)?;
        Ok(store)
    }

    /// Returns whether the folder has results of an earlier text of the plan.
    pub fn is_of_earlier_text(&self) -> bool {
        self.is_of_earlier_text
    }

    /// Changes the folder to `note`'s text: `documents` of the earlier text are removed, and runs
    /// stay. Call it once the new text is fully checked.
    ///
    /// # Errors
    /// [`StoreError`] if a file cannot be removed or written; the same command then tries again.
    pub fn renew(&self, note: &Note, documents: &[&str]) -> Result<(), StoreError> {
        for path in documents.iter().map(|name| self.folder.join(name)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(StoreError(format!("cannot remove {}: {error}", path.display())));
                }
                _ => {}
            }
        }
        self.put(NOTE, &json_line(note)?)
    }

    /// Claims the folder, so that no two programs execute the same runs concurrently. On systems
    /// that cannot lock a folder, it claims nothing.
    ///
    /// # Errors
    /// [`StoreError`] if another program holds the claim.
    pub fn claim(&self) -> Result<Claim, StoreError> {
        let runs = File::open(self.folder.join(RUNS)).ok();
        match runs.as_ref().map(File::try_lock) {
            Some(Err(TryLockError::WouldBlock)) => Err(StoreError(format!(
                "another `mias evaluate` is running in {}; wait for it, or set another folder with --out",
                self.folder.display()
            ))),
            _ => Ok(Claim { _runs: runs }),
        }
    }

    /// Returns whether the folder does not exist, or contains only files of a start without runs.
    fn is_unused(&self) -> bool {
        let runs = self.folder.join(RUNS);
        let only = |folder: &Path, known: &dyn Fn(&str) -> bool| match fs::read_dir(folder) {
            Ok(mut entries) => entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(known))),
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        let known = |name: &str| [NOTE, RUNS, LOGS].contains(&name) || SCRIPTS.contains(&name) || is_part(name);
        only(&self.folder, &known) && only(&runs, &is_part)
    }

    /// Removes files that [`Store::open`] created, if no run was stored since.
    pub fn leave_unused(&self) {
        if self.is_unused() {
            // Leftover files are harmless: the next start finds the folder unused.
            let _ = fs::remove_file(self.folder.join(NOTE)).and_then(|()| fs::remove_dir(self.folder.join(RUNS)));
            if self.is_new {
                let _ = fs::remove_dir(&self.folder);
            }
        }
    }

    /// Opens the existing folder of an evaluation, of any version with readable files.
    ///
    /// # Errors
    /// [`StoreError`] if it is none.
    pub fn existing(folder: &Path) -> Result<(Self, Note), StoreError> {
        let store = Store { folder: folder.to_owned(), write: Arc::new(replace), is_new: false, is_of_earlier_text: false };
        match store.note()? {
            Some(note) if note.format != FORMAT => Err(StoreError(format!(
                "{} has files of format {}, this program reads format {FORMAT}; compare folders with the program that wrote them, {}",
                folder.display(),
                note.format,
                note.model
            ))),
            Some(note) => Ok((store, note)),
            None => Err(StoreError(format!(
                "{} holds no evaluation: {NOTE} is missing; give the folder that `mias evaluate` wrote",
                folder.display()
            ))),
        }
    }

    fn note(&self) -> Result<Option<Note>, StoreError> {
        let path = self.folder.join(NOTE);
        let text = match fs::read_to_string(&path) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound) => return Ok(None),
            text => text.map_err(|error| StoreError(format!("cannot read {}: {error}", path.display())))?,
        };
        let damaged = |error| StoreError(format!("{} is damaged ({error})", path.display()));
        serde_json::from_str(&text).map(Some).map_err(damaged)
    }

    /// Returns the path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads the results of a finished evaluation.
    ///
    /// # Errors
    /// [`StoreError`] if there are none, or they have another schema version.
    pub fn results(&self) -> Result<Evaluation, StoreError> {
        let path = self.folder.join(RESULTS);
        let at = path.display();
        let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => StoreError(format!("{at} is missing: the evaluation is incomplete; repeat its `mias evaluate`")),
            _ => StoreError(format!("cannot read {at}: {error}")),
        })?;
        results_of(&path, &text)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(RUNS).join(format!("{key}.json"))
    }

    /// Loads the results of a run; `None` if its file is missing, damaged or of another run, so
    /// that it is executed again.
    pub fn load(&self, run: &Identity) -> Option<Kept> {
        let text = fs::read_to_string(self.path(&run.key())).ok()?;
        let record: Record = serde_json::from_str(&text).ok()?;
        (record.run == *run).then_some(record.outcome)
    }

    /// Stores the results of a run.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be written; no partial file is left.
    pub fn save(&self, run: &Identity, outcome: &Kept) -> Result<(), StoreError> {
        let record = Record { run: run.clone(), outcome: outcome.clone() };
        let name = format!("{RUNS}/{}.json", run.key());
        self.put(&name, &json_line(&record)?)
    }

    /// Writes a file of the folder.
    ///
    /// # Errors
    /// [`StoreError`]; the file is then unchanged.
    pub fn put(&self, name: &str, content: &str) -> Result<(), StoreError> {
        let path = self.folder.join(name);
        let fail = |error: io::Error| StoreError(format!("cannot write {}: {error}", path.display()));
        (self.write)(&path, content.as_bytes()).map_err(fail)
    }

    /// Writes a file in one of [`SCRIPTS`], a subfolder created if necessary.
    ///
    /// # Errors
    /// [`StoreError`]; the file is then unchanged.
    pub fn put_in(&self, folder: &str, name: &str, content: &str) -> Result<(), StoreError> {
        let path = self.folder.join(folder);
        fs::create_dir_all(&path).map_err(|error| StoreError(format!("cannot create the folder {}: {error}", path.display())))?;
        self.put(&format!("{folder}/{name}"), content)
    }

    /// Removes the runs of other builds of this program under custom policies, since no later
    /// command can use them. Returns their number.
    ///
    /// # Errors
    /// [`StoreError`] if the folder cannot be read, or a file of it not be removed.
    pub fn drop_other_builds(&self, program: u64) -> Result<usize, StoreError> {
        let ours = format!("{program:016x}");
        let mut dropped = 0;
        for Record { run, .. } in self.records()?.whole {
            if !run.program.is_empty() && run.program != ours {
                let path = self.path(&run.key());
                fs::remove_file(&path).map_err(|error| StoreError(format!("cannot remove {}: {error}", path.display())))?;
                dropped += 1;
            }
        }
        Ok(dropped)
    }

    /// Reads all runs, in the order of their names.
    ///
    /// # Errors
    /// [`StoreError`] if the folder cannot be read.
    pub fn records(&self) -> Result<Records, StoreError> {
        let folder = self.folder.join(RUNS);
        let fail = |error: io::Error| StoreError(format!("cannot read {}: {error}", folder.display()));
        let mut paths = Vec::new();
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                paths.push(path);
            }
        }
        paths.sort();
        let mut records = Records::default();
        for path in paths {
            let text = fs::read_to_string(&path).map_err(|error| error.to_string());
            match text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string())) {
                Ok(record) => records.whole.push(record),
                Err(error) => records.unreadable.push(format!("cannot read {}: {error}", path.display())),
            }
        }
        Ok(records)
    }
}

/// Formats a value as JSON on one line, with a line end.
fn json_line(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map(|text| text + "\n").map_err(|error| StoreError(error.to_string()))
}

#[cfg(test)]
mod tests;
