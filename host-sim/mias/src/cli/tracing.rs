//! How kernels come to their traces: from the cache, or executed, and in how much memory.

use super::CliError;
use super::args::TraceArgs;
use bytesize::ByteSize;
use mias_workloads::ahead::Printer;
use mias_workloads::trace_store::{Cache, Needs};
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// The part of this machine's memory that traces may take, unless the user says how much.
const PART_OF_MEMORY: u64 = 4;

/// The cache, and how much of each kernel is needed.
#[derive(Debug)]
pub(super) struct Tracing {
    pub(super) cache: Cache,
    /// Bytes for the traces of all kernels; none where they are needed whole, whatever they take.
    budget_bytes: Option<u64>,
    print: bool,
}

impl Tracing {
    /// For simulations: kernels are executed as far as the runs come.
    pub(super) fn window(args: &TraceArgs) -> Result<Self, CliError> {
        if args.check {
            return Tracing::grid(args.no_cache);
        }
        let of_this_machine = || {
            let all = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
            System::new_with_specifics(all).total_memory() / PART_OF_MEMORY
        };
        let budget_bytes = match args.memory {
            Some(ByteSize(0)) => return Err(CliError::User("--memory: 0 bytes hold no trace".into())),
            Some(ByteSize(bytes)) => bytes,
            None => of_this_machine(),
        };
        Ok(Tracing { cache: open(args.no_cache)?, budget_bytes: Some(budget_bytes), print: false })
    }

    /// For what looks at whole grids.
    pub(super) fn grid(no_cache: bool) -> Result<Self, CliError> {
        Ok(Tracing { cache: open(no_cache)?, budget_bytes: None, print: false })
    }

    /// The same; what threads print goes to standard error if `print` says so.
    pub(super) fn printing(self, print: bool) -> Self {
        Tracing { print, ..self }
    }

    /// How much of each of `kernels` kernels is needed.
    pub(super) fn needs(&self, kernels: usize) -> Needs {
        match self.budget_bytes {
            None => Needs::Grid,
            Some(bytes) => {
                let printer: Option<Printer> = if self.print { Some(|text| eprint!("{text}")) } else { None };
                Needs::Window { budget_bytes: bytes / (kernels as u64).max(1), printer }
            }
        }
    }
}

/// The cache that the environment names, unless the user wants none.
fn open(no_cache: bool) -> Result<Cache, CliError> {
    if no_cache { Ok(Cache::off()) } else { Cache::open().map_err(|error| CliError::User(error.to_string())) }
}
