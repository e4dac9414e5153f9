//! Words that name kernels: a kernel executed here, as in `mm:256` or `saxpy.toml`, or a recorded
//! trace, as in `app/kernelslist.g#3`.

use super::recorded::TraceName;
use super::workload::TraceReadError;
use mias_workloads::kernels::{KernelType, Spec, SpecError};
use mias_workloads::trace_store::Cache;

/// Kernel by its word.
#[derive(Clone, Debug)]
pub enum Request {
    /// Kernel that is executed here.
    Kernel(Spec),
    /// Recorded trace.
    Trace(TraceName),
}

/// Error about a word that should name a kernel, or about the named kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequestError(pub String);

impl From<SpecError> for RequestError {
    fn from(error: SpecError) -> Self {
        RequestError(error.0)
    }
}

impl From<TraceReadError> for RequestError {
    fn from(error: TraceReadError) -> Self {
        RequestError(error.to_string())
    }
}

impl Request {
    /// Parses a word. A trace is not opened.
    ///
    /// # Errors
    /// As [`Spec::parse`]; and for a file that is only a part of a trace.
    pub fn parse(word: &str) -> Result<Self, RequestError> {
        if let Some(trace) = TraceName::parse(word)? {
            return Ok(Request::Trace(trace));
        }
        Ok(Request::Kernel(Spec::parse(word)?))
    }

    /// Returns the kernel that is executed here, if it is one.
    pub fn spec(&self) -> Option<&Spec> {
        match self {
            Request::Kernel(spec) => Some(spec),
            Request::Trace(_) => None,
        }
    }

    /// Returns the name in reports for the word that requested it: a trace as the user typed it.
    pub fn name(&self, word: &str) -> String {
        match self {
            Request::Kernel(spec) => spec.name(word),
            Request::Trace(trace) => trace.typed().to_owned(),
        }
    }

    /// Returns C or M, for kernels of known type.
    pub fn kernel_type(&self) -> Option<KernelType> {
        self.spec()?.kernel.kernel_type()
    }

    /// Returns the name of the built-in kernel, if it is one.
    pub fn built_in_name(&self) -> Option<&'static str> {
        self.spec()?.kernel.built_in_name()
    }

    /// Returns the reason why its input cannot run, if any.
    pub fn complaint(&self) -> Option<String> {
        match self {
            Request::Kernel(spec) => spec.prepare().err().map(|error| error.to_string()),
            Request::Trace(trace) => trace.read(&Cache::off(), &mut Default::default()).err().map(|error| error.to_string()),
        }
    }
}
