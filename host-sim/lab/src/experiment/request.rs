//! What a word stands for where a kernel is named: a kernel that is executed here, as in `mm:256` or `saxpy.toml`, or a trace that was
//! recorded elsewhere, as in `app/kernelslist.g#3`.

use super::recorded::TraceName;
use super::workload::TraceReadError;
use mias_workloads::kernels::{KernelType, Spec, SpecError};
use mias_workloads::trace_store::Cache;

/// A kernel by its word.
#[derive(Clone, Debug)]
pub enum Request {
    /// It is executed here.
    Kernel(Spec),
    /// It was recorded.
    Trace(TraceName),
}

/// What is wrong with a word that should name a kernel, or with what it names.
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
    /// Reads a word. A trace is not opened.
    ///
    /// # Errors
    /// As [`Spec::parse`]; and for a part of a trace that is none by itself.
    pub fn parse(word: &str) -> Result<Self, RequestError> {
        if let Some(trace) = TraceName::parse(word)? {
            return Ok(Request::Trace(trace));
        }
        Ok(Request::Kernel(Spec::parse(word)?))
    }

    /// The kernel that is executed here, if it is one.
    pub fn spec(&self) -> Option<&Spec> {
        match self {
            Request::Kernel(spec) => Some(spec),
            Request::Trace(_) => None,
        }
    }

    /// What it is called in reports, for the word that asked for it: a trace as the user typed it.
    pub fn name(&self, word: &str) -> String {
        match self {
            Request::Kernel(spec) => spec.name(word),
            Request::Trace(trace) => trace.typed().to_owned(),
        }
    }

    /// C or M, for kernels of which that is known.
    pub fn kernel_type(&self) -> Option<KernelType> {
        self.spec()?.kernel.kernel_type()
    }

    /// Which of the built-in kernels it is, if it is one.
    pub fn built_in_name(&self) -> Option<&'static str> {
        self.spec()?.kernel.built_in_name()
    }

    /// What is wrong with its input: what would keep it from running.
    pub fn complaint(&self) -> Option<String> {
        match self {
            Request::Kernel(spec) => spec.prepare().err().map(|error| error.to_string()),
            Request::Trace(trace) => trace.read(&Cache::off(), &mut Default::default()).err().map(|error| error.to_string()),
        }
    }
}
