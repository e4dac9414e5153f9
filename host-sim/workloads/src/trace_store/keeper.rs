//! Cache entry for a trace that is complete only at the end of a run.

use super::Store;
use mias_trace::accelsim::Warnings;
use mias_trace::trace_file::{Launch, TraceFile};
use mias_warp_trace::KernelTrace;
use std::io;
use std::sync::Arc;

/// Reserved entry of a store for one trace.
#[derive(Clone, Debug)]
pub struct Keeper {
    store: Store,
    key: String,
}

impl Keeper {
    /// Creates the entry for `key`.
    pub fn new(store: Store, key: String) -> Self {
        Keeper { store, key }
    }

    /// Returns the store of the entry.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Stores the whole trace of a kernel.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn keep(&self, name: &str, trace: &Arc<KernelTrace>) -> io::Result<()> {
        let launches = vec![Launch { stream: 0, trace: trace.clone() }];
        self.store.save(&self.key, &TraceFile { name: name.to_owned(), warnings: Warnings::new(), launches })
    }
}
