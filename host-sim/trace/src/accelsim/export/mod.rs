//! Writer of Accel-Sim traces, version 5: `kernelslist.g` and `kernel-N.traceg.xz`, for the reference simulator and whoever else
//! reads the format (sources.md D100).
//!
//! ```text
//! executed PTX (ptx/lower/observe) --executed--.
//!                                              |--> text (lines, TBs) --> xz --> folder
//! a kernel list of any version (body) --copy---'     `- address
//! ```
//!
//! What the format leaves free is decided so:
//! * PTX is spelled as Turing code (`host-sim/ptx/src/lower/opcode.rs`), one instruction per lowered one, registers named by the lowering, and
//!   the immediate of a branch is its target, that of a barrier its number. Read back, it is the trace that the model replays.
//! * Copies to the device are those of the list. A kernel executed here has none: its data are in place and the L2 is cold.
//! * A list's lines keep their words: opcode, registers, immediate. Addresses take their shortest form, an immediate that older
//!   versions lack is 0, and launches are numbered from 1.

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

/// Why a trace was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The folder exists and is not empty.
    #[error("{} exists and is not empty: give another name, or --force to replace the trace in it", .0.display())]
    Taken(PathBuf),
    /// The folder is to be replaced and holds something else.
    #[error("{} holds `{found}`, which is no part of a trace: it is not replaced; give another name", .path.display())]
    NoTrace {
        /// The folder.
        path: PathBuf,
        /// A name in it.
        found: String,
    },
    /// The folder or a file in it cannot be written.
    #[error("cannot write {}: {error}", .path.display())]
    Write {
        /// The folder.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The list to copy cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The kernel cannot be executed.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// Somebody asked to stop.
    #[error("nothing is written")]
    Interrupted,
}

/// A trace under construction. Dropped before it is finished, it leaves nothing behind.
#[derive(Debug)]
pub struct Export {
    folder: Folder,
    list: String,
    launches: u64,
    insts: u64,
}

impl Export {
    /// Begins a trace in `folder`, of which nothing is seen until [`Export::finish`]. An existing trace is replaced if `replace`.
    ///
    /// # Errors
    /// [`ExportError::Taken`], [`ExportError::NoTrace`], [`ExportError::Write`].
    pub fn create(folder: &Path, replace: bool) -> Result<Self, ExportError> {
        Ok(Export { folder: Folder::create(folder, replace)?, list: String::new(), launches: 0, insts: 0 })
    }

    /// Kernel launches written so far.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    /// Warp instructions written so far.
    pub fn warp_insts(&self) -> u64 {
        self.insts
    }

    /// Number of the next launch, from 1.
    fn number(&self) -> u64 {
        self.launches + 1
    }

    /// Writes the list, and gives the folder its name.
    ///
    /// # Errors
    /// [`ExportError::Write`]; nothing is then left behind.
    pub fn finish(self) -> Result<(), ExportError> {
        let mut list = self.folder.file(folder::LIST)?;
        let written = list.write_all(self.list.as_bytes()).and_then(|()| list.sync_all());
        written.map_err(|error| self.folder.fail(error))?;
        self.folder.finish()
    }

    /// Notes a copy to the device.
    fn copy_to_device(&mut self, address: u64, bytes: u64) {
        self.list += &format!("MemcpyHtoD,{address:#018x},{bytes}\n");
    }

    /// Begins the next launch.
    fn launch(&mut self, header: &HeaderText<'_>) -> Result<LaunchFile<'_>, ExportError> {
        self.launches += 1;
        let name = format!("kernel-{}.traceg.xz", self.launches);
        self.list += &format!("{name}\n");
        let mut file = XzFile::new(self.folder.file(&name)?);
        file.write(|text| text.extend_from_slice(header.to_string().as_bytes())).map_err(|error| self.folder.fail(error))?;
        Ok(LaunchFile { file, folder: &self.folder, insts: &mut self.insts })
    }
}

/// The file of a launch under construction.
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

    /// Writes what is left.
    fn finish(self) -> Result<(), ExportError> {
        self.file.finish().and_then(|file| file.sync_all()).map_err(|error| self.folder.fail(error))
    }
}
