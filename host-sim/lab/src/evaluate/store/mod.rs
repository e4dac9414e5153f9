//! The folder of an evaluation: a note of what it is of, and a file per run that has ended.
//!
//! A file appears whole or not at all, as soon as its run has ended. So whatever ends the program, at whatever time, what is there is
//! valid, and the same command goes on from it. So does a changed plan of the same name: a run is found by what it is, so that those which the
//! new text still asks for are there.

mod shared;

use super::plan::Plan;
use super::record::{FORMAT, Identity, Kept, MODEL};
use super::results::{Evaluation, SCHEMA_VERSION};
use crate::output::{is_part, replace};
use mias_trace::fingerprint::Fnv;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::hash::Hasher;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The results' name.
pub const RESULTS: &str = "results.json";

/// The note's name.
const NOTE: &str = "evaluation.json";

/// The runs' folder.
const RUNS: &str = "runs";

/// The folder of shards' logs.
pub(super) const LOGS: &str = "logs";

/// Folders of the scripts with which engines run shards.
pub const SCRIPTS: [&str; 2] = ["slurm", "hyperqueue"];

/// What a folder is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Version of the folder's files.
    pub format: u32,
    /// Version of program and model.
    pub model: String,
    /// The plan's name.
    pub plan: String,
    /// Fingerprint of its text.
    pub plan_hash: String,
}

impl Note {
    /// Of an evaluation of `plan` by this program.
    pub fn of(plan: &Plan) -> Self {
        let mut hasher = Fnv::default();
        hasher.write(plan.text.as_bytes());
        Note { format: FORMAT, model: MODEL.into(), plan: plan.name.clone(), plan_hash: format!("{:016x}", hasher.finish()) }
    }
}

/// A run on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What it is.
    pub run: Identity,
    /// What it gave.
    pub outcome: Kept,
}

/// The runs of a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// Those that are whole.
    pub whole: Vec<Record>,
    /// A line for each file that cannot be read, which names it and says why.
    pub unreadable: Vec<String>,
}

/// Why a folder cannot be used. The message names it and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

/// The right to run what is missing in a folder, as long as it is held; it ends with the program, however that ends.
#[derive(Debug)]
pub struct Claim {
    _runs: Option<File>,
}

/// Writes a file, whole or not at all.
type Write = Arc<dyn Fn(&Path, &[u8]) -> io::Result<()> + Send + Sync>;

/// The folder.
#[derive(Clone)]
pub struct Store {
    folder: PathBuf,
    write: Write,
    /// It was not there before.
    is_new: bool,
    /// It has results of an earlier text of the plan, until [`Store::renew`].
    is_of_earlier_text: bool,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// What can be done about a folder that holds something else.
const ANOTHER_FOLDER: &str = "give another folder with --out, or remove this one";

/// The folder holds results of the plan `theirs`, and `ours` is asked for.
fn of_another_plan(folder: &Path, theirs: &str, ours: &str) -> StoreError {
    let form = match (theirs.strip_suffix("-quick"), ours.strip_suffix("-quick")) {
        (Some(plan), None) if plan == ours => "give --quick, which that is the form of, or ",
        (None, Some(plan)) if plan == theirs => "leave --quick out, or ",
        _ => "",
    };
    StoreError(format!("{} holds results of the plan `{theirs}`, this is `{ours}`; {form}{ANOTHER_FOLDER}", folder.display()))
}

impl Store {
    /// The folder for results of `note`'s plan, made if need be. One that holds something else is refused; one of an earlier text of the plan is
    /// left as it is until [`Store::renew`].
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(folder: &Path, note: &Note) -> Result<Self, StoreError> {
        Store::with(folder, note, Arc::new(replace))
    }

    fn with(folder: &Path, note: &Note, write: Write) -> Result<Self, StoreError> {
        let at = folder.display();
        let mut store = Store { folder: folder.to_owned(), write, is_new: !folder.exists(), is_of_earlier_text: false };
        let fail = |error: io::Error| StoreError(format!("cannot make the folder {at}: {error}"));
        let there = store.note().map_err(|error| StoreError(format!("{error}; give another folder with --out")))?;
        match there {
            Some(there) if there == *note => {}
            // Started and left before the first run had ended: nothing is lost.
            _ if store.is_unused() => {
                fs::create_dir_all(folder).map_err(fail)?;
                // The note before all else: whatever ends the program now, the same command goes on.
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
            None => return Err(StoreError(format!("{at} is not empty and holds no evaluation; give another folder with --out"))),
        }
        fs::create_dir_all(folder.join(RUNS)).map_err(fail)?;
        Ok(store)
    }

    /// Whether it has results of an earlier text of the plan.
    pub fn is_of_earlier_text(&self) -> bool {
        self.is_of_earlier_text
    }

    /// Makes the folder one of `note`'s text: `documents`, which an earlier one has left, go, and the runs stay. For when all that may be wrong
    /// with the new text has been found.
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

    /// Claims the folder, so that no two programs do the same runs at once. Where the system cannot lock a folder nothing is claimed.
    ///
    /// # Errors
    /// [`StoreError`] if another program is at work in it.
    pub fn claim(&self) -> Result<Claim, StoreError> {
        let runs = File::open(self.folder.join(RUNS)).ok();
        match runs.as_ref().map(File::try_lock) {
            Some(Err(TryLockError::WouldBlock)) => Err(StoreError(format!(
                "another `mias evaluate` is at work in {}; wait for it, or give another folder with --out",
                self.folder.display()
            ))),
            _ => Ok(Claim { _runs: runs }),
        }
    }

    /// Whether the folder is not there, or holds nothing but what a start leaves that came to no run.
    fn is_unused(&self) -> bool {
        let runs = self.folder.join(RUNS);
        let only = |folder: &Path, known: &dyn Fn(&str) -> bool| match fs::read_dir(folder) {
            Ok(mut entries) => entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(known))),
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        let known = |name: &str| [NOTE, RUNS, LOGS].contains(&name) || SCRIPTS.contains(&name) || is_part(name);
        only(&self.folder, &known) && only(&runs, &is_part)
    }

    /// Takes back what [`Store::open`] has made, if no run was kept since.
    pub fn leave_unused(&self) {
        if self.is_unused() {
            // What cannot be removed is in nobody's way: the next start finds the folder unused.
            let _ = fs::remove_file(self.folder.join(NOTE)).and_then(|()| fs::remove_dir(self.folder.join(RUNS)));
            if self.is_new {
                let _ = fs::remove_dir(&self.folder);
            }
        }
    }

    /// The folder of an evaluation that is there, of whatever version whose files this one can read.
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
            None => Err(StoreError(format!("{} holds no evaluation: there is no {NOTE} in it", folder.display()))),
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

    /// The folder's place.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The results of a finished evaluation, as they were written.
    ///
    /// # Errors
    /// [`StoreError`] if there are none, or a program of another schema wrote them.
    pub fn results(&self) -> Result<Evaluation, StoreError> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let path = self.folder.join(RESULTS);
        let at = path.display();
        let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => StoreError(format!("{at} is not there: the evaluation has not ended; give its `mias evaluate` again")),
            _ => StoreError(format!("cannot read {at}: {error}")),
        })?;
        let damaged = |error: serde_json::Error| StoreError(format!("{at} is damaged ({error}); give its `mias evaluate` again"));
        // Of all that a file of another version may hold, only this is known to be there.
        let Version { schema_version } = serde_json::from_str(&text).map_err(damaged)?;
        if schema_version != SCHEMA_VERSION {
            return Err(StoreError(format!(
                "{at} has schema version {schema_version}, this program reads {SCHEMA_VERSION}; use the program that wrote it"
            )));
        }
        serde_json::from_str(&text).map_err(damaged)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(RUNS).join(format!("{key}.json"))
    }

    /// What the run gave; none if it is not there, or its file is not whole or of another run: then it is to be done again.
    pub fn load(&self, run: &Identity) -> Option<Kept> {
        let text = fs::read_to_string(self.path(&run.key())).ok()?;
        let record: Record = serde_json::from_str(&text).ok()?;
        (record.run == *run).then_some(record.outcome)
    }

    /// Keeps what a run gave.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written; nothing of it is left then.
    pub fn save(&self, run: &Identity, outcome: &Kept) -> Result<(), StoreError> {
        let record = Record { run: run.clone(), outcome: outcome.clone() };
        let name = format!("{RUNS}/{}.json", run.key());
        self.put(&name, &json_line(&record)?)
    }

    /// Writes a file of the folder.
    ///
    /// # Errors
    /// [`StoreError`]; the file is then as it was before.
    pub fn put(&self, name: &str, content: &str) -> Result<(), StoreError> {
        let path = self.folder.join(name);
        let fail = |error: io::Error| StoreError(format!("cannot write {}: {error}", path.display()));
        (self.write)(&path, content.as_bytes()).map_err(fail)
    }

    /// Writes a file of a folder in the folder, one of [`SCRIPTS`], which is made if need be.
    ///
    /// # Errors
    /// [`StoreError`]; the file is then as it was before.
    pub fn put_in(&self, folder: &str, name: &str, content: &str) -> Result<(), StoreError> {
        let path = self.folder.join(folder);
        fs::create_dir_all(&path).map_err(|error| StoreError(format!("cannot make the folder {}: {error}", path.display())))?;
        self.put(&format!("{folder}/{name}"), content)
    }

    /// Drops the runs of other builds of this program under policies of its own: nobody can ask for them any more. Gives how many.
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

    /// All runs, in the order of their names.
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

/// A value as JSON on one line, with its end.
fn json_line(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map(|text| text + "\n").map_err(|error| StoreError(error.to_string()))
}

#[cfg(test)]
mod tests;
