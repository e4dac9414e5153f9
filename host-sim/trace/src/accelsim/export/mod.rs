//! Writer of Accel-Sim traces, version 5: `kernelslist.g` and `kernel-N.traceg.xz`, for the
//! reference simulator and other readers of the format (sources.md D100).
//!
//! ```text
//! executed PTX (ptx/lower/observe) --executed--.
//!                                              |--> text (lines, TBs) --> xz --> folder
//! a kernel list of any version (body) --copy---'     `- address
//! ```
//!
//! The writer makes these choices where the format is open:
//! * PTX is written as Turing opcodes (`host-sim/ptx/src/lower/opcode.rs`), one instruction per
//!   lowered one, with the registers of the lowering. The immediate of a branch is its target, and
//!   that of a barrier its number. When read back, the trace equals the one that the model replays.
//! * Copies to the device are those of the list. A kernel executed here has none: its data are in
//!   place, and the L2 is cold.
//! * Lines of a list keep their words: opcode, registers, immediate. Addresses take their shortest
//!   form, an immediate missing in older versions is 0, and launches are numbered from 1.

mod address;
mod copy;
mod executed;
mod folder;
#[cfg(test)]
mod opcode_tests;
#[cfg(test)]
mod tests;
mod text;
mod xz;

pub use copy::copy;
pub use executed::execute;

use super::error::ReadError;
use folder::Folder;
use mias_ptx::ExecError;
use std::io::Write;
use std::path::{Path, PathBuf};
use text::{HeaderText, TbText};
use xz::XzFile;

/// Error of an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The folder exists and is not empty.
    #[error("{} exists and is not empty: give another name, or --force to replace the trace in it", .0.display())]
    Taken(PathBuf),
    /// The folder to replace contains other files.
    #[error("{} holds `{found}`, which is no part of a trace: it is not replaced; give another name", .path.display())]
    NoTrace {
        /// Path of the folder.
        path: PathBuf,
        /// Name of one such file.
        found: String,
    },
    /// The folder or a file in it cannot be written.
    #[error("cannot write {}: {error}", .path.display())]
    Write {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the system.
        error: std::io::Error,
    },
    /// The list to copy cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The kernel cannot be executed.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The caller stopped the export.
    #[error("nothing is written")]
    Interrupted,
}

/// A trace under construction. If it is dropped before it is finished, it leaves no files.
#[derive(Debug)]
pub struct Export {
    folder: Folder,
    list: String,
    launches: u64,
    insts: u64,
}

impl Export {
    /// Creates an export to `folder`, which appears only at [`Export::finish`]. With `replace`, an
    /// existing trace is replaced.
    ///
    /// # Errors
    /// [`ExportError::Taken`], [`ExportError::NoTrace`], [`ExportError::Write`].
    pub fn create(folder: &Path, replace: bool) -> Result<Self, ExportError> {
        Ok(Export { folder: Folder::create(folder, replace)?, list: String::new(), launches: 0, insts: 0 })
    }

    /// Returns the number of kernel launches written so far.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    /// Returns the number of warp instructions written so far.
    pub fn warp_insts(&self) -> u64 {
        self.insts
    }

    /// Returns the number of the next launch, from 1.
    fn number(&self) -> u64 {
        self.launches + 1
    }

    /// Writes the list, and renames the folder to its final name.
    ///
    /// # Errors
    /// [`ExportError::Write`]; nothing is then left behind.
    pub fn finish(self) -> Result<(), ExportError> {
        let mut list = self.folder.file(folder::LIST)?;
        let written = list.write_all(self.list.as_bytes()).and_then(|()| list.sync_all());
        written.map_err(|error| self.folder.fail(error))?;
        self.folder.finish()
    }

    /// Adds a copy to the device to the list.
    fn copy_to_device(&mut self, address: u64, bytes: u64) {
        self.list += &format!("MemcpyHtoD,{address:#018x},{bytes}\n");
    }

    /// Starts the file of the next launch.
    fn launch(&mut self, header: &HeaderText<'_>) -> Result<LaunchFile<'_>, ExportError> {
        self.launches += 1;
        let name = format!("kernel-{}.traceg.xz", self.launches);
        self.list += &format!("{name}\n");
        let mut file = XzFile::new(self.folder.file(&name)?);
        file.write(|text| text.extend_from_slice(header.to_string().as_bytes())).map_err(|error| self.folder.fail(error))?;
        Ok(LaunchFile { file, folder: &self.folder, insts: &mut self.insts })
    }
}

/// File of a launch under construction.
struct LaunchFile<'a> {
    file: XzFile<std::fs::File>,
    folder: &'a Folder,
    insts: &'a mut u64,
}

impl LaunchFile<'_> {
    /// Appends a TB.
    fn tb(&mut self, tb: &TbText) -> Result<(), ExportError> {
        *self.insts += tb.insts();
        self.file.write(|text| tb.append_to(text)).map_err(|error| self.folder.fail(error))
    }

    /// Writes the remaining text.
    fn finish(self) -> Result<(), ExportError> {
        self.file.finish().and_then(|file| file.sync_all()).map_err(|error| self.folder.fail(error))
    }
}
