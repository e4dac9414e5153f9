//! Errors of the command line and their exit codes.

use mias_lab::cosim::CosimError;
use mias_lab::evaluate::plan::PlanError;
use mias_lab::evaluate::store::StoreError;
use mias_lab::experiment::gpu_runner::RunError;
use mias_lab::experiment::request::RequestError;
use mias_lab::experiment::workload::TraceReadError;
use mias_lab::gpus::GpuFileError;
use mias_lab::output::OutputError;
use mias_trace::accelsim::export::ExportError;
use mias_workloads::input::file::InputFileError;
use mias_workloads::kernels::{KernelError, SpecError};

/// Error of a command.
#[derive(Debug)]
pub enum CliError {
    /// A mistake of the user; the message states the remedy.
    User(String),
    /// A defect of the program.
    Internal(String),
    /// A comparison found a difference; the message locates it. The report is written.
    Differs(String),
    /// Runs of other machines are missing; the message states their number. Their list is written.
    Incomplete(String),
    /// Ctrl-C; the message states what was kept.
    Interrupted(String),
}

impl CliError {
    /// Exit code for the user's mistakes, as for malformed options.
    pub const USER: u8 = 2;

    /// Exit code after Ctrl-C, by the convention of shells: 128 + SIGINT.
    pub const INTERRUPTED: u8 = 130;

    /// Wraps an error that is a defect of the program.
    pub fn internal(error: impl std::fmt::Display) -> Self {
        CliError::Internal(error.to_string())
    }

    /// Returns the exit code of the process.
    pub fn exit_code(&self) -> u8 {
        match self {
            CliError::User(_) => Self::USER,
            CliError::Internal(_) | CliError::Differs(_) | CliError::Incomplete(_) => 1,
            CliError::Interrupted(_) => Self::INTERRUPTED,
        }
    }
}

impl std::fmt::Display for CliError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CliError::User(message) | CliError::Differs(message) | CliError::Incomplete(message) => write!(f, "error: {message}"),
            CliError::Internal(message) => write!(f, "error: {message} (this is a bug in mias)"),
            CliError::Interrupted(message) => write!(f, "interrupted: {message}"),
        }
    }
}

impl From<GpuFileError> for CliError {
    fn from(error: GpuFileError) -> Self {
        CliError::User(error.to_string())
    }
}

impl From<TraceReadError> for CliError {
    fn from(error: TraceReadError) -> Self {
        CliError::User(error.to_string())
    }
}

impl From<RequestError> for CliError {
    fn from(error: RequestError) -> Self {
        CliError::User(error.to_string())
    }
}

impl From<SpecError> for CliError {
    fn from(error: SpecError) -> Self {
        CliError::User(error.to_string())
    }
}

/// The size, the input file, and the user's code and data are the user's responsibility. Only a
/// wrong result of a built-in kernel is a defect of the program.
impl From<KernelError> for CliError {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::Mismatch(_) => CliError::internal(error),
            other => CliError::User(other.to_string()),
        }
    }
}

impl From<PlanError> for CliError {
    fn from(error: PlanError) -> Self {
        CliError::User(error.to_string())
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        CliError::User(error.to_string())
    }
}

impl From<ExportError> for CliError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Interrupted => CliError::Interrupted(error.to_string()),
            other => CliError::User(other.to_string()),
        }
    }
}

impl From<InputFileError> for CliError {
    fn from(error: InputFileError) -> Self {
        CliError::User(error.to_string())
    }
}

impl From<CosimError> for CliError {
    fn from(error: CosimError) -> Self {
        CliError::User(error.to_string())
    }
}

impl From<OutputError> for CliError {
    fn from(error: OutputError) -> Self {
        CliError::User(error.to_string())
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Workload(message) | RunError::Firmware(message) => CliError::User(message),
            RunError::Interrupted => CliError::Interrupted("no complete result; nothing was written".into()),
            RunError::Stuck(_) => CliError::Internal(error.to_string()),
        }
    }
}
