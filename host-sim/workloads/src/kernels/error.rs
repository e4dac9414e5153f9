//! Errors of kernel preparation and execution.

use super::Mismatch;
use super::place::DescriptionError;
use super::ptxas::PtxasError;
use crate::input::file::InputFileError;
use mias_ptx::lower::record::RecordError;
use mias_ptx::{ExecError, PtxError};

/// Cause why a kernel has no trace.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// The kernel does not support the problem size.
    #[error("kernel `{kernel}`: size {size}: {message}")]
    Size {
        /// Name of the kernel.
        kernel: String,
        /// Requested size.
        size: u64,
        /// Permitted sizes.
        message: String,
    },
    /// A setting has a value that the kernel does not support.
    #[error("kernel `{kernel}`: {setting} `{value}`: {message}")]
    Setting {
        /// Name of the kernel.
        kernel: String,
        /// Name of the setting.
        setting: String,
        /// Requested value.
        value: String,
        /// Cause of the error.
        message: String,
    },
    /// A file with input data cannot be used.
    #[error(transparent)]
    InputFile(#[from] InputFileError),
    /// The PTX text is invalid.
    #[error(transparent)]
    Ptx(#[from] PtxError),
    /// The ptxas report is invalid.
    #[error(transparent)]
    Ptxas(#[from] PtxasError),
    /// Execution or recording failed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The kernel description is invalid.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// The trace of one TB exceeds the limit of a part.
    #[error(
        "kernel `{kernel}`: the trace of TB {tb} of its {of} TBs needs more than {}, its part of the {} of --memory; use a \
         larger --memory",
        bytesize::ByteSize(*room_bytes), bytesize::ByteSize(*budget_bytes)
    )]
    Memory {
        /// Name of the kernel.
        kernel: String,
        /// Index of the TB in the grid.
        tb: u32,
        /// Number of TBs of the grid.
        of: u64,
        /// Limit of a TB's trace in bytes.
        room_bytes: u64,
        /// Memory limit of the kernel in bytes.
        budget_bytes: u64,
    },
    /// Trace data beyond the memory limit cannot be written to disk.
    #[error(
        "kernel `{kernel}`: cannot store the trace beyond --memory in {folder}: {error}; set another TMPDIR, or a larger \
         --memory"
    )]
    Spill {
        /// Name of the kernel.
        kernel: String,
        /// Folder of temporary files.
        folder: String,
        /// Error of the system.
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
