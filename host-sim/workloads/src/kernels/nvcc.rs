//! Compilation of CUDA source to PTX with the installed nvcc, as the user guide describes it for
//! manual use.

use super::code::NVCC_OPTIONS;
use super::place::DescriptionError;
use crate::input::file;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// Name of the compiler.
const NVCC: &str = "nvcc";

/// Maximum size of a compiled file in bytes, and maximum length of displayed output. Assumptions:
/// some megabytes; some pages.
const MOST_BYTES: u64 = 64 << 20;
const LONGEST_OUTPUT: usize = 20_000;

/// Compiles the source to PTX with line information, for an architecture such as `sm_75`.
///
/// # Errors
/// [`DescriptionError`] if nvcc is missing, or with nvcc's message.
pub(super) fn ptx(source: &Path, architecture: &str) -> Result<String, DescriptionError> {
    let folder = folder()?;
    let output = folder.path().join("module.ptx");
    run(source, architecture, &["-ptx".as_ref(), "-lineinfo".as_ref(), "-o".as_ref(), output.as_os_str()])?;
    let bytes = file::beginning(&output, MOST_BYTES);
    let text = bytes.ok().filter(|bytes| bytes.len() as u64 <= MOST_BYTES).and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| DescriptionError(format!("{NVCC} produced no PTX from {}", source.display())))
}

/// Generates the assembler's report on the source.
///
/// # Errors
/// As [`ptx`].
pub(super) fn report(source: &Path, architecture: &str) -> Result<String, DescriptionError> {
    let folder = folder()?;
    let output = folder.path().join("module.cubin");
    run(source, architecture, &["-cubin".as_ref(), "-Xptxas".as_ref(), "-v".as_ref(), "-o".as_ref(), output.as_os_str()])
}

fn folder() -> Result<tempfile::TempDir, DescriptionError> {
    tempfile::tempdir().map_err(|error| DescriptionError(format!("--nvcc: cannot create a temporary folder: {error}")))
}

/// Runs nvcc and returns its output.
fn run(source: &Path, architecture: &str, options: &[&OsStr]) -> Result<String, DescriptionError> {
    // A name with a leading dash must not become an option.
    let source = if source.is_absolute() { source.to_owned() } else { Path::new(".").join(source) };
    let mut command = Command::new(NVCC);
    command.arg(format!("-arch={architecture}")).args(NVCC_OPTIONS.split(' ')).args(options).arg(&source);
    let done = command.output().map_err(|error| {
        DescriptionError(match error.kind() {
            ErrorKind::NotFound => format!(
                "--nvcc: {NVCC} is not on the PATH; install the CUDA toolkit, or compile the PTX on a machine that has it, with \
                 `nvcc -ptx -arch={architecture} {NVCC_OPTIONS} {}`",
                source.display()
            ),
            _ => format!("--nvcc: cannot start {NVCC}: {error}"),
        })
    })?;
    let printed = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    if done.status.success() {
        return Ok(printed);
    }
    let printed: String = printed.trim_end().chars().take(LONGEST_OUTPUT).collect();
    Err(DescriptionError(format!("{NVCC} did not compile {} ({}):\n{printed}", source.display(), done.status)))
}
