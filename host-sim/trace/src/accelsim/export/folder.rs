//! Folder of an exported trace, which appears complete or not at all.
//!
//! Files are written to a hidden folder next to it, which is then renamed. The hidden folder is
//! removed after an error; only a killed process leaves it behind.

use super::ExportError;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Name of the list in a trace's folder.
pub(super) const LIST: &str = "kernelslist.g";

/// Folder of a trace under construction.
#[derive(Debug)]
pub(super) struct Folder {
    /// Path as the user wrote it.
    name: PathBuf,
    target: PathBuf,
    part: TempDir,
    replace: bool,
}

impl Folder {
    /// Creates a folder that will be called `name`. The path may be free or an empty folder. With
    /// `replace`, it may also be a folder that contains only a trace.
    ///
    /// # Errors
    /// [`ExportError::Taken`], [`ExportError::NoTrace`], [`ExportError::Write`]; nothing is left
    /// behind.
    pub(super) fn create(name: &Path, replace: bool) -> Result<Self, ExportError> {
        let fail = |error| ExportError::Write { path: name.to_owned(), error };
        check(name, replace)?;
        // A symbolic link to a folder stays a link.
        let target = if name.is_dir() { name.canonicalize().map_err(fail)? } else { name.to_owned() };
        let part = hidden(&target).map_err(fail)?;
        Ok(Folder { name: name.to_owned(), target, part, replace })
    }

    /// Creates the error of a failed write.
    pub(super) fn fail(&self, error: std::io::Error) -> ExportError {
        ExportError::Write { path: self.name.clone(), error }
    }

    /// Creates a file in the folder.
    pub(super) fn file(&self, name: &str) -> Result<File, ExportError> {
        File::create(self.part.path().join(name)).map_err(|error| self.fail(error))
    }

    /// Renames the folder to its final name.
    pub(super) fn finish(self) -> Result<(), ExportError> {
        check(&self.name, self.replace)?;
        let publish = || {
            if !self.target.exists() {
                return fs::rename(&self.part, &self.target);
            }
            // Move the old trace aside first: renaming over a folder that is not empty fails.
            let old = self.part.path().with_extension("old");
            fs::rename(&self.target, &old)?;
            fs::rename(&self.part, &self.target).inspect_err(|_| drop(fs::rename(&old, &self.target)))?;
            fs::remove_dir_all(&old)
        };
        publish().map_err(|error| self.fail(error))
    }
}

/// Creates a hidden folder next to `target`, which is removed when dropped.
fn hidden(target: &Path) -> io::Result<TempDir> {
    let name = target.file_name().ok_or(ErrorKind::InvalidFilename)?.to_string_lossy();
    let beside = std::path::absolute(target)?.with_file_name("").canonicalize()?;
    // The path in the error would be unknown to the user.
    tempfile::Builder::new().prefix(&format!(".{name}.")).suffix(".part").tempdir_in(beside).map_err(|error| error.kind().into())
}

/// Refuses a path that is in use.
fn check(target: &Path, replace: bool) -> Result<(), ExportError> {
    let fail = |error| ExportError::Write { path: target.to_owned(), error };
    if !target.exists() {
        return Ok(());
    }
    if !target.is_dir() {
        return Err(fail(std::io::ErrorKind::NotADirectory.into()));
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(target).map_err(fail)? {
        names.push(entry.map_err(fail)?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    if names.is_empty() {
        return Ok(());
    }
    if !replace {
        return Err(ExportError::Taken(target.to_owned()));
    }
    match names.into_iter().find(|name| !of_a_trace(name)) {
        Some(found) => Err(ExportError::NoTrace { path: target.to_owned(), found }),
        None => Ok(()),
    }
}

/// Returns true for the file names of a trace.
fn of_a_trace(name: &str) -> bool {
    name == LIST || name.starts_with("kernel-") && (name.ends_with(".traceg") || name.ends_with(".traceg.xz"))
}
