//! A user's own kernel: PTX that nvcc made, geometry, resources and arguments, from the command line (`mias run --ptx`) or from a
//! TOML file that every command takes for a kernel's name.

pub mod argument;
pub mod element;
mod file;

pub use file::axes;

use super::ptxas;
use super::{Instance, Prepared};
use argument::Argument;
use mias_hw_model::trace::KernelInfo;
use mias_ptx::{DeviceMemory, Launch, Program, PtxError};
use std::path::{Path, PathBuf};

/// Seed of the first random buffer; the others count up (assumption: any will do).
const SEED: u64 = 1;

/// Registers per thread: CUDA C programming guide, table "Technical specifications per compute capability".
const MAX_REGISTERS: u32 = 255;

/// A kernel as its user describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct UserKernel {
    /// What reports call it.
    pub name: String,
    /// The PTX file.
    pub ptx: PathBuf,
    /// Entry of the module; none: the only one.
    pub entry: Option<String>,
    /// TBs in x, y, z.
    pub grid: [u32; 3],
    /// Threads per TB in x, y, z.
    pub block: [u32; 3],
    /// Registers per thread.
    pub registers: Registers,
    /// Dynamic shared memory per TB in bytes, on top of what the PTX declares.
    pub shared_bytes: u32,
    /// Arguments, each with the place that gives it, for messages: `--arg 3`, `saxpy.toml:7`.
    pub arguments: Vec<(String, Argument)>,
    /// What paths in arguments are relative to.
    pub folder: PathBuf,
    /// The file or the option that describes it, for messages.
    pub origin: String,
}

/// Where the number of registers comes from. PTX does not have it; the assembler decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registers {
    /// The user says.
    Count(u32),
    /// The assembler's report: what `nvcc -cubin -Xptxas -v` prints.
    Report(PathBuf),
}

/// What is wrong with a user's kernel; names the file or option, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UserError(pub String);

impl From<PtxError> for UserError {
    fn from(error: PtxError) -> Self {
        UserError(error.to_string())
    }
}

impl UserKernel {
    /// Reads a TOML file.
    ///
    /// # Errors
    /// [`UserError`] with file and line.
    pub fn read(path: &Path) -> Result<Self, UserError> {
        file::parse(path, &text(path, "kernel file")?)
    }

    /// Reads PTX and report, allocates and fills buffers.
    ///
    /// # Errors
    /// [`UserError`].
    pub fn prepare(&self) -> Result<Prepared, UserError> {
        let file = self.ptx.display().to_string();
        let module = text(&self.ptx, "PTX file")?;
        let entry = match &self.entry {
            Some(entry) => entry.clone(),
            None => only_entry(&file, &module)?,
        };
        let program = Program::parse(&file, &module, &entry)?;
        let registers_per_thread = match &self.registers {
            Registers::Count(count) => *count,
            Registers::Report(path) => {
                let report = ptxas::parse(&path.display().to_string(), &text(path, "ptxas report")?, &entry);
                report.map_err(|error| UserError(error.to_string()))?.registers
            }
        };
        if registers_per_thread > MAX_REGISTERS {
            let message = format!("{registers_per_thread} registers per thread; a thread has at most {MAX_REGISTERS}");
            return Err(UserError(format!("{}: {message}", self.origin)));
        }
        let (memory, args) = self.place(&program)?;
        let Self { grid, block, .. } = *self;
        let launch = Launch { grid, block, args, shared_bytes: self.shared_bytes };
        let shared_bytes = program.shared_with(self.shared_bytes);
        let info = KernelInfo { name: self.name.clone(), grid, block, registers_per_thread, shared_bytes };
        Ok(Prepared { program, instance: Instance { memory, entry, launch, expected: None }, info })
    }

    fn place(&self, program: &Program) -> Result<(DeviceMemory, Vec<mias_ptx::Arg>), UserError> {
        let (given, wanted) = (self.arguments.len(), program.params.len());
        if given != wanted {
            let list: Vec<String> = program.params.iter().map(|p| format!("{} ({} bytes)", p.name, p.bytes)).collect();
            let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
            let message = format!("{given} arguments are given, entry `{}` takes {wanted}: {list}", program.name);
            return Err(UserError(format!("{}: {message}", self.origin)));
        }
        let mut memory = DeviceMemory::new();
        let mut args = Vec::with_capacity(given);
        for (seed, ((place, argument), param)) in (SEED..).zip(self.arguments.iter().zip(&program.params)) {
            let arg = argument.place(param, &mut memory, seed, &self.folder);
            args.push(arg.map_err(|message| UserError(format!("{place}: {message}")))?);
        }
        Ok((memory, args))
    }
}

/// The entry of a module that has only one.
fn only_entry(file: &str, text: &str) -> Result<String, UserError> {
    let module = mias_ptx::parser::parse(file, text)?;
    match module.entries.as_slice() {
        [one] => Ok(one.name.to_owned()),
        [] => Err(UserError(format!("{file}: the module has no entry"))),
        several => {
            let names: Vec<&str> = several.iter().map(|entry| entry.name).collect();
            Err(UserError(format!("{file}: which entry? the module has {}; name one", names.join(", "))))
        }
    }
}

fn text(path: &Path, what: &str) -> Result<String, UserError> {
    std::fs::read_to_string(path).map_err(|error| UserError(format!("cannot read the {what} {}: {error}", path.display())))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
