//! The kernels of an experiment, and when they arrive.

use crate::hash;
use mias_hw_model::trace::KernelTrace;
use std::sync::Arc;

/// One kernel of an experiment.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Name as the user typed it.
    pub name: String,
    /// What it executes.
    pub trace: Arc<KernelTrace>,
    /// Core cycle at which it is launched.
    pub arrival_cycle: u64,
    /// CUDA stream; launches on one stream run one after the other.
    pub stream: u32,
    /// Fingerprint of the trace.
    pub hash: String,
}

impl Workload {
    /// A kernel that arrives at cycle 0 on `stream`.
    pub fn new(name: &str, trace: Arc<KernelTrace>, stream: u32) -> Self {
        Workload { name: name.to_owned(), hash: hash::kernel(&trace), trace, arrival_cycle: 0, stream }
    }
}
