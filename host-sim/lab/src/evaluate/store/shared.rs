//! Folder shared by several programs on machines of which none may claim it.

use super::{ANOTHER_FOLDER, NOTE, Note, RUNS, Store, StoreError, of_another_plan};
use crate::output::{create, replace};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Number of checks for another program's note, and the time between two. A network file system may
/// show a new file late (assumption: seconds at most).
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

impl Store {
    /// Opens the folder for results of `note`'s plan as one of several programs; the first of them
    /// creates it. A folder of another plan, text or version is refused, even if it has no run yet.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn join(folder: &Path, note: &Note) -> Result<Self, StoreError> {
        let store = Store { folder: folder.to_owned(), write: Arc::new(replace), is_new: false, is_of_earlier_text: false };
        let at = folder.display();
        let fail = |error: std::io::Error| StoreError(format!("cannot create the folder {at}: {error}"));
        for look in 0..LOOKS {
            if look > 0 {
                std::thread::sleep(BETWEEN_LOOKS);
            }
            if store.note()?.is_some() {
                store.check_shared(note)?;
                fs::create_dir_all(folder.join(RUNS)).map_err(fail)?;
                return Ok(store);
            }
            if !store.is_unused() {
                // Files without a note: another program is about to write one, or there is none.
                continue;
            }
            fs::create_dir_all(folder).map_err(fail)?;
            match create(&folder.join(NOTE), super::json_line(note)?.as_bytes()) {
                // Another program was first; its note identifies the plan.
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(StoreError(format!("cannot write {}: {error}", folder.join(NOTE).display())));
                }
                _ => {}
            }
        }
        Err(StoreError(format!("{at} is not empty and holds no evaluation; set another folder with --out")))
    }

    /// Checks that the folder still belongs to `note`'s plan, text and version.
    ///
    /// # Errors
    /// [`StoreError`] with the other plan and the remedy.
    pub fn check_shared(&self, note: &Note) -> Result<(), StoreError> {
        let at = self.folder.display();
        let Some(there) = self.note()? else {
            return Err(StoreError(format!("{at} holds no evaluation: {NOTE} is missing; give the folder that `mias evaluate` wrote")));
        };
        if there == *note {
            return Ok(());
        }
        Err(if there.format != note.format || there.model != note.model {
            let (theirs, ours) = (&there.model, &note.model);
            StoreError(format!(
                "{at} holds results of version {theirs}, this is {ours}; run all shards with one program, or {ANOTHER_FOLDER}"
            ))
        } else if there.plan != note.plan {
            of_another_plan(&self.folder, &there.plan, &note.plan)
        } else {
            let remedy = "`mias evaluate` alone or with --emit adopts the new version and keeps its runs";
            StoreError(format!("{at} holds results of another version of plan `{}`, or of another --set; {remedy}", note.plan))
        })
    }

    /// Refuses a folder with runs of another build of this program under custom policies: the other
    /// program may still use them.
    ///
    /// # Errors
    /// [`StoreError`] if there are any, or the folder cannot be read.
    pub fn check_own_build(&self, program: u64) -> Result<(), StoreError> {
        let ours = format!("{program:016x}");
        let others =
            self.records()?.whole.into_iter().filter(|record| !record.run.program.is_empty() && record.run.program != ours).count();
        if others == 0 {
            return Ok(());
        }
        Err(StoreError(format!(
            "{} holds {others} runs of another build of this program under its own policies; run all shards with one build, or set \
             another folder with --out",
            self.folder.display()
        )))
    }
}
