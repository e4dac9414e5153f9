//! Launches replayed by `mias run --trace`: those of a list, each read when it is due, or those of
//! a trace file.

use super::tracing::Tracing;
use super::{CliError, say, trace};
use mias_lab::experiment::workload::{Workload, folder_name, replay_list};
use mias_trace::accelsim::Warnings;
use mias_trace::trace_file;
use mias_workloads::launches::Launches;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Launches of a trace, and the reader of a list.
pub(super) struct Replay {
    /// Name of the trace.
    pub(super) name: String,
    launches: Option<Arc<Launches>>,
    tracing: Tracing,
}

impl Replay {
    /// Reads the headers of a list, or all of a trace file.
    pub(super) fn open(path: &Path, tracing: Tracing) -> Result<(Self, Vec<Workload>), CliError> {
        // The next reader reports a file that cannot be opened.
        if trace_file::is_trace_file(path).unwrap_or(false) {
            let (recorded, _) = trace::read(path)?;
            return Ok((Replay { name: recorded.name, launches: None, tracing }, recorded.workloads));
        }
        let listed = replay_list(path, &tracing.cache, tracing.budget_bytes());
        let (workloads, launches) = listed.map_err(|error| CliError::User(error.to_string()))?;
        Ok((Replay { name: folder_name(path), launches: Some(launches), tracing }, workloads))
    }

    /// Starts reading the first launch of each stream. A read error is reported when the launch
    /// runs.
    pub(super) fn begin(&self, workloads: &[Workload]) {
        let Some(launches) = &self.launches else { return };
        let mut streams = BTreeSet::new();
        let first = workloads.iter().enumerate().filter(|(_, workload)| streams.insert(workload.stream));
        first.for_each(|(at, _)| launches.read_ahead(at));
    }

    /// Returns the time at which the first launch of a list had been read.
    pub(super) fn began(&self) -> Option<Instant> {
        self.launches.as_ref()?.began()
    }

    /// Adds the data known after the replay, and reports trace content that was not understood.
    pub(super) fn end(&self, workloads: &mut [Workload]) {
        let Some(launches) = &self.launches else { return };
        let mut warnings = Warnings::new();
        for (at, workload) in workloads.iter_mut().enumerate() {
            if let Some(about) = launches.about(at) {
                workload.hash = about.hash;
                warnings.add(&about.warnings);
            }
        }
        if !warnings.is_empty() {
            say::warning(&warnings);
        }
        self.tracing.cache.notes().iter().for_each(say::warning);
    }
}
