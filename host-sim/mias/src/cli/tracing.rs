//! Sources of kernel traces: the cache or execution, within a memory limit.

use super::CliError;
use super::args::TraceArgs;
use bytesize::ByteSize;
use mias_workloads::ahead::Printer;
use mias_workloads::trace_store::{Cache, Needs};
use std::sync::Arc;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Divisor of this computer's memory that gives the default limit for traces.
const PART_OF_MEMORY: u64 = 4;

/// Trace cache, and the part of each kernel that is needed.
#[derive(Debug)]
pub(super) struct Tracing {
    pub(super) cache: Arc<Cache>,
    /// Bytes for the traces of all kernels; `None` if they are needed whole, without a limit.
    budget_bytes: Option<u64>,
    print: bool,
}

impl Tracing {
    /// Creates the tracing for simulations: kernels are executed as far as the runs reach.
    pub(super) fn window(args: &TraceArgs) -> Result<Self, CliError> {
        if args.check {
            return Tracing::grid(args.no_cache);
        }
        let of_this_gpu = || {
            let all = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
            let gpu = System::new_with_specifics(all).total_memory();
            address_space().map_or(gpu, |bytes| bytes.min(gpu)) / PART_OF_MEMORY
        };
        let budget_bytes = args.memory.map_or_else(of_this_gpu, |ByteSize(bytes)| bytes);
        Ok(Tracing { cache: Arc::new(open(args.no_cache)?), budget_bytes: Some(budget_bytes), print: false })
    }

    /// Creates the tracing for commands that need whole grids.
    pub(super) fn grid(no_cache: bool) -> Result<Self, CliError> {
        Ok(Tracing { cache: Arc::new(open(no_cache)?), budget_bytes: None, print: false })
    }

    /// Sets whether device-side printf output goes to standard error.
    pub(super) fn printing(self, print: bool) -> Self {
        Tracing { print, ..self }
    }

    /// Returns the memory limit for all traces in bytes.
    pub(super) fn budget_bytes(&self) -> u64 {
        self.budget_bytes.unwrap_or(u64::MAX)
    }

    /// Returns the part of each of `kernels` kernels that is needed.
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

/// Parses a memory size.
pub(super) fn memory(text: &str) -> Result<ByteSize, String> {
    match text.trim().parse() {
        Ok(ByteSize(0)) => Err("0 bytes hold no trace; use a number of bytes such as 2GiB or 500MB".into()),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err("expected a number of bytes, alone or with a unit as in 2GiB or 500MB".into()),
    }
}

/// Returns the bytes of memory that this process may address, if limited (`ulimit -v`; proc(5),
/// `/proc/self/limits`).
fn address_space() -> Option<u64> {
    most_address_space(&std::fs::read_to_string("/proc/self/limits").ok()?)
}

/// Returns the soft address-space limit in the text of a limits file; `None` if unlimited.
fn most_address_space(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Opens the cache that the environment names, unless `no_cache` is set.
fn open(no_cache: bool) -> Result<Cache, CliError> {
    if no_cache { Ok(Cache::off()) } else { Cache::open().map_err(|error| CliError::User(error.to_string())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines have the form of proc(5).
    #[test]
    fn the_limit_of_the_process_is_read() {
        let limits = |soft: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units\nMax address space         {soft}           unlimited            bytes\n"
            )
        };
        assert_eq!(most_address_space(&limits("4096000")), Some(4_096_000));
        assert_eq!((most_address_space(&limits("unlimited")), most_address_space("")), (None, None));
    }

    #[test]
    fn amounts_of_memory_have_units() {
        assert_eq!((memory("2GiB"), memory("1000")), (Ok(ByteSize(2 << 30)), Ok(ByteSize(1000))));
        for text in ["much", "-1", "", "0", "4X", "0GiB"] {
            assert!(memory(text).unwrap_err().contains("2GiB or 500MB"), "{text}");
        }
    }
}
