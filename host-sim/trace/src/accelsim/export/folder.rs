//! The folder of an exported trace: it appears under its name when it is whole, or not at all.
//!
//! Files are written to a hidden folder beside it, which is then renamed. The hidden folder is removed if anything goes wrong;
//! only a killed process leaves it.

use super::ExportError;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Name of the list in a trace's folder.
pub(super) const LIST: &str = "kernelslist.g";

/// A trace's folder under construction.
#[derive(Debug)]
pub(super) struct Folder {
    /// As the user calls it.
    name: PathBuf,
    target: PathBuf,
    part: TempDir,
    replace: bool,
}

impl Folder {
    /// Begins a folder that will be called `name`. There may be none, an empty one, or, if `replace`, one that holds nothing but a
    /// trace.
    ///
    /// # Errors
    /// [`ExportError::Taken`], [`ExportError::NoTrace`], [`ExportError::Write`]; nothing is left behind.
    pub(super) fn create(name: &Path, replace: bool) -> Result<Self, ExportError> {
        let fail = |error| ExportError::Write { path: name.to_owned(), error };
        check(name, replace)?;
        // A link to a folder stays a link.
        let target = if name.is_dir() { name.canonicalize().map_err(fail)? } else { name.to_owned() };
        let part = hidden(&target).map_err(fail)?;
        Ok(Folder { name: name.to_owned(), target, part, replace })
    }

    /// The error that something could not be written.
    pub(super) fn fail(&self, error: std::io::Error) -> ExportError {
        ExportError::Write { path: self.name.clone(), error }
    }

    /// A new file in it.
    pub(super) fn file(&self, name: &str) -> Result<File, ExportError> {
        File::create(self.part.path().join(name)).map_err(|error| self.fail(error))
    }

    /// Gives the folder its name.
    pub(super) fn finish(self) -> Result<(), ExportError> {
        check(&self.name, self.replace)?;
        let publish = || {
            if !self.target.exists() {
                return fs::rename(&self.part, &self.target);
            }
            // The old trace is put aside first: a folder that is not empty cannot be renamed over.
            let old = self.part.path().with_extension("old");
            fs::rename(&self.target, &old)?;
            fs::rename(&self.part, &self.target).inspect_err(|_| drop(fs::rename(&old, &self.target)))?;
            fs::remove_dir_all(&old)
        };
        publish().map_err(|error| self.fail(error))
    }
}

/// A folder of a hidden name beside `target`, gone when it is dropped.
fn hidden(target: &Path) -> io::Result<TempDir> {
    let name = target.file_name().ok_or(ErrorKind::InvalidFilename)?.to_string_lossy();
    let beside = std::path::absolute(target)?.with_file_name("").canonicalize()?;
    // The path in the error would be one that the user never gave.
    tempfile::Builder::new().prefix(&format!(".{name}.")).suffix(".part").tempdir_in(beside).map_err(|error| error.kind().into())
}

/// Refuses a place that is taken.
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

/// True for the names of files that a trace consists of.
fn of_a_trace(name: &str) -> bool {
    name == LIST || name.starts_with("kernel-") && (name.ends_with(".traceg") || name.ends_with(".traceg.xz"))
}
