//! Why a kernel gives no trace.

use super::Mismatch;
use super::place::DescriptionError;
use super::ptxas::PtxasError;
use crate::input::file::InputFileError;
use mias_ptx::lower::record::RecordError;
use mias_ptx::{ExecError, PtxError};

/// Why a kernel gave no trace.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// The problem size is not one that the kernel can do.
    #[error("kernel `{kernel}`: size {size}: {message}")]
    Size {
        /// Kernel name.
        kernel: String,
        /// As asked for.
        size: u64,
        /// Which sizes are possible.
        message: String,
    },
    /// A setting has a value that the kernel cannot use.
    #[error("kernel `{kernel}`: {setting} `{value}`: {message}")]
    Setting {
        /// Kernel name.
        kernel: String,
        /// The setting.
        setting: String,
        /// As asked for.
        value: String,
        /// What is wrong with it.
        message: String,
    },
    /// A file with input data cannot be used.
    #[error(transparent)]
    InputFile(#[from] InputFileError),
    /// The PTX text cannot be read.
    #[error(transparent)]
    Ptx(#[from] PtxError),
    /// The assembler's report cannot be read.
    #[error(transparent)]
    Ptxas(#[from] PtxasError),
    /// Execution or recording failed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The kernel is not described as it must be.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// The trace of one TB is more than a part of the whole may take.
    #[error(
        "kernel `{kernel}`: the trace of TB {tb} of its {of} TBs takes more than {}, the part for it of the {} that it has (--memory); give a \
         larger --memory",
        bytesize::ByteSize(*room_bytes), bytesize::ByteSize(*budget_bytes)
    )]
    Memory {
        /// Kernel name.
        kernel: String,
        /// Index of the TB in the grid.
        tb: u32,
        /// TBs of the grid.
        of: u64,
        /// Bytes that a TB's trace may take.
        room_bytes: u64,
        /// Bytes that the kernel has in all.
        budget_bytes: u64,
    },
    /// What is too much for memory cannot be kept on disk.
    #[error(
        "kernel `{kernel}`: what its trace takes beyond --memory cannot be kept in {folder}: {error}; another TMPDIR moves it, a larger \
         --memory does without"
    )]
    Spill {
        /// Kernel name.
        kernel: String,
        /// Where temporary files are.
        folder: String,
        /// What the system said.
        error: String,
    },
    /// The results are wrong.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
}

impl From<ExecError> for KernelError {
    fn from(error: ExecError) -> Self {
        KernelError::Record(error.into())
    }
}
