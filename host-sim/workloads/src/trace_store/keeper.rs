//! Keeps a trace that is whole only when a run has ended.

use super::Store;
use mias_trace::accelsim::Warnings;
use mias_trace::trace_file::{Launch, TraceFile};
use mias_warp_trace::KernelTrace;
use std::io;
use std::sync::Arc;

/// A place in a store for one trace.
#[derive(Clone, Debug)]
pub struct Keeper {
    store: Store,
    key: String,
}

impl Keeper {
    /// The place of `key`.
    pub fn new(store: Store, key: String) -> Self {
        Keeper { store, key }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Stores the whole trace of a kernel.
    ///
    /// # Errors
    /// Those of the system.
    pub fn keep(&self, name: &str, trace: &Arc<KernelTrace>) -> io::Result<()> {
        let launches = vec![Launch { stream: 0, trace: trace.clone() }];
        self.store.save(&self.key, &TraceFile { name: name.to_owned(), warnings: Warnings::new(), launches })
    }
}
