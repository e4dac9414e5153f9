//! Destination of a report: standard output, or a file that appears whole or not at all.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Suffix of files under construction.
const PART: &str = ".part";

/// Destination of a report.
#[derive(Debug)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// File that is replaced in one step when the report is complete.
    File(PathBuf),
    /// File that does not exist yet, and appears in one step.
    New(PathBuf),
    /// Device or pipe, written directly.
    Device(PathBuf),
}

/// Reason why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {error}")]
pub struct OutputError {
    /// Path of the file.
    pub path: String,
    /// Error of the system.
    pub error: std::io::Error,
}

impl Output {
    /// Opens `path`, or standard output. The path is tested now, before hours of simulation, and no
    /// file is left.
    ///
    /// # Errors
    /// [`OutputError`] if no file can be created there.
    pub fn open(path: Option<&Path>) -> Result<Self, OutputError> {
        let Some(path) = path else { return Ok(Output::Stdout) };
        let fail = |error| OutputError { path: path.display().to_string(), error };
        if path.is_dir() {
            return Err(fail(ErrorKind::IsADirectory.into()));
        }
        // The target of a link is replaced, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Ok(there) = path.metadata() {
            if there.permissions().readonly() {
                return Err(fail(ErrorKind::PermissionDenied.into()));
            }
            if !there.is_file() {
                return Ok(Output::Device(path));
            }
        }
        part(&path).map_err(fail)?;
        Ok(Output::File(path))
    }

    /// Opens a path for a file that does not exist yet. A file that appears there meanwhile is not
    /// replaced either.
    ///
    /// # Errors
    /// [`OutputError`] with [`ErrorKind::AlreadyExists`] if anything except a device or a pipe
    /// exists there, and those of [`Output::open`].
    pub fn open_new(path: &Path) -> Result<Self, OutputError> {
        match Output::open(Some(path))? {
            // A dangling link counts as existing, too.
            Output::File(_) if path.symlink_metadata().is_ok() => {
                Err(OutputError { path: path.display().to_string(), error: ErrorKind::AlreadyExists.into() })
            }
            Output::File(path) => Ok(Output::New(path)),
            other => Ok(other),
        }
    }

    /// Writes the whole report. A reader that closes standard output early is not an error.
    ///
    /// # Errors
    /// [`OutputError`]; the file is then unchanged.
    pub fn write(&self, content: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), OutputError> {
        let bytes = content.as_ref();
        match self {
            Output::Stdout => {
                let mut out = std::io::stdout().lock();
                match out.write_all(bytes).and_then(|()| out.flush()) {
                    Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(OutputError { path: "standard output".into(), error }),
                    _ => Ok(()),
                }
            }
            Output::File(path) => replace(path, bytes).map_err(|error| OutputError { path: path.display().to_string(), error }),
            Output::New(path) => create(path, bytes).map_err(|error| OutputError { path: path.display().to_string(), error }),
            Output::Device(path) => std::fs::OpenOptions::new()
                .write(true)
                .open(path)
                .and_then(|mut device| device.write_all(bytes))
                .map_err(|error| OutputError { path: path.display().to_string(), error }),
        }
    }
}

/// Replaces a file in one step: at any time it has the complete new or the old content.
///
/// # Errors
/// Those of the system; the file is then unchanged.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut part = part(path)?;
    part.as_file_mut().write_all(bytes)?;
    if let Ok(before) = path.metadata() {
        part.as_file().set_permissions(before.permissions())?;
    }
    part.as_file().sync_all()?;
    part.persist(path)?;
    Ok(())
}

/// Creates a file in one step.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if it exists, and those of the system.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut part = part(path)?;
    part.as_file_mut().write_all(bytes)?;
    part.as_file().sync_all()?;
    part.persist_noclobber(path)?;
    Ok(())
}

/// Creates a file under construction: hidden, in the same folder so that the final rename stays
/// within one file system, and removed when dropped.
fn part(path: &Path) -> std::io::Result<NamedTempFile> {
    let (folder, name) = path.parent().zip(path.file_name()).ok_or(ErrorKind::InvalidFilename)?;
    // Created with default permissions; `tempfile`'s own files are readable by their owner only.
    let new = |path: &Path| File::create_new(path);
    tempfile::Builder::new().prefix(&format!(".{}.", name.to_string_lossy())).suffix(PART).make_in(folder, new)
}

/// Returns whether a file name is that of a temporary file of [`replace`], which a killed program
/// may leave.
pub(crate) fn is_part(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(PART)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        std::fs::write(&path, "before").unwrap();
        let output = Output::open(Some(&path)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
        output.write("after").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    #[cfg(unix)]
    fn links_stay_links_and_devices_stay_devices() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "before").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let as_any = mode(&file);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        Output::open(Some(&link)).unwrap().write("after").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "after");
        assert_eq!(mode(&file), 0o640);
        std::fs::remove_file(&file).unwrap();
        replace(&file, b"anew").unwrap();
        assert_eq!(mode(&file), as_any);
        // The null device must never be replaced by a file.
        let null = Path::new("/dev/null");
        if null.metadata().is_ok_and(|there| there.file_type().is_char_device()) {
            assert!(matches!(Output::open(Some(null)).unwrap(), Output::Device(_)));
        }
    }

    #[test]
    fn what_is_there_is_not_overwritten_by_what_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let (first, second) = (Output::open_new(&path).unwrap(), Output::open_new(&path).unwrap());
        first.write("first").unwrap();
        // The file appeared between check and write, or existed before.
        assert_eq!(second.write("second").unwrap_err().error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(Output::open_new(&path).unwrap_err().error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn unwritable_places_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Output::open(Some(folder.path())).is_err());
        assert!(Output::open(Some(&folder.path().join("none/out.json"))).is_err());
        let locked = tempfile::NamedTempFile::new().unwrap();
        let mut permissions = locked.path().metadata().unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(locked.path(), permissions).unwrap();
        assert!(Output::open(Some(locked.path())).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
