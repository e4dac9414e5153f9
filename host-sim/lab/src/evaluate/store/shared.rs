//! A folder that several programs work in at once, on machines of which none may claim it for itself.

use super::{ANOTHER_FOLDER, NOTE, Note, RUNS, Store, StoreError, of_another_plan};
use crate::output::{create, replace};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How often a note that another program is about to write is looked for, and how long between two looks. A network file system may show a
/// new file late (assumption: seconds at most).
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

impl Store {
    /// The folder for results of `note`'s plan, for one of several programs; the first of them makes it. Nothing is ever taken from another:
    /// a folder of another plan, another text of it or another version is refused, even if it holds no run yet.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn join(folder: &Path, note: &Note) -> Result<Self, StoreError> {
        let store = Store { folder: folder.to_owned(), write: Arc::new(replace), is_new: false, is_of_earlier_text: false };
        let at = folder.display();
        let fail = |error: std::io::Error| StoreError(format!("cannot make the folder {at}: {error}"));
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
                // Files and no note: another program's note is on its way, or there is none.
                continue;
            }
            fs::create_dir_all(folder).map_err(fail)?;
            match create(&folder.join(NOTE), super::json_line(note)?.as_bytes()) {
                // Another program was first; its note says whose the folder is.
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(StoreError(format!("cannot write {}: {error}", folder.join(NOTE).display())));
                }
                _ => {}
            }
        }
        Err(StoreError(format!("{at} is not empty and holds no evaluation; give another folder with --out")))
    }

    /// Whether the folder is still that of `note`'s plan, text and version.
    ///
    /// # Errors
    /// [`StoreError`] which says of what it is, and what to do.
    pub fn check_shared(&self, note: &Note) -> Result<(), StoreError> {
        let at = self.folder.display();
        let Some(there) = self.note()? else { return Err(StoreError(format!("{at} holds no evaluation: there is no {NOTE} in it"))) };
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
            let remedy = "`mias evaluate` alone or with --emit makes it one of the new text and keeps its runs";
            StoreError(format!("{at} holds results of another text of the plan `{}`, or of another --set; {remedy}", note.plan))
        })
    }

    /// Refuses a folder with runs of another build of this program under policies of its own: they are another's, who may be at work.
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
            "{} holds {others} runs of another build of this program under its own policies; run all shards with one build, or give \
             another folder with --out",
            self.folder.display()
        )))
    }
}
