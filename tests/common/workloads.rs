//! Small versions of shipped kernels as workloads at separate addresses, and a GPU with few SMs
//! to run them on.

use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::{Workload, place};
use mias_lab::gpus;
use mias_workloads::ahead::Ahead;
use mias_workloads::budget::Budget;
use mias_workloads::kernels::{self, Spec};
use mias_workloads::trace_store::Traced;
use std::sync::Arc;

/// Returns `rtx2060` with `sms` SMs.
pub(crate) fn runner(sms: u32) -> SimulatedGpu {
    let mut gpu = gpus::load("rtx2060").unwrap();
    gpu.sm.count = sms;
    SimulatedGpu::new(gpu)
}

/// Returns kernels by name and size, executed in advance.
pub(crate) fn executed(sizes: &[(&str, u64)]) -> Vec<Workload> {
    placed(sizes, |name, size| {
        let trace = kernels::trace(kernels::find(name).unwrap(), size, 1).unwrap();
        Workload::new(name, Arc::new(trace), 0)
    })
}

/// Returns kernels by name and size, whose TBs are executed only shortly before their issue.
pub(crate) fn executed_ahead(sizes: &[(&str, u64)]) -> Vec<Workload> {
    placed(sizes, |name, size| {
        let prepared = Spec::sized(kernels::find(name).unwrap(), size, 1).prepare().unwrap();
        let (span, live) = (prepared.sector_span(), prepared.liveness());
        let ahead = Arc::new(Ahead::new(prepared, Budget::ANY, None, None).unwrap());
        assert_eq!(ahead.without_tbs().recorded_tbs(), 0);
        let trace = ahead.without_tbs();
        Workload::executed(name, Traced { trace, source: Some(ahead), key: String::new(), span, is_cached: false, live })
    })
}

/// Places each kernel on its own stream.
fn placed(sizes: &[(&str, u64)], workload: impl Fn(&str, u64) -> Workload) -> Vec<Workload> {
    let streams = 0..;
    let mut workloads: Vec<Workload> =
        streams.zip(sizes).map(|(stream, &(name, size))| Workload { stream, ..workload(name, size) }).collect();
    place(&mut workloads);
    workloads
}
