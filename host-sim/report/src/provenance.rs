//! Where a result comes from: enough to run it again and to see whether it is the same.

use mias_hw_model::config::GpuConfig;
use mias_lab::experiment::gpu_runner::{End, Options};
use mias_lab::experiment::levels::Levels;
use mias_lab::experiment::policy::{Counted, IpcUnit, Latency, Transition};
use mias_lab::experiment::workload::Workload;
use mias_lab::fingerprint;
use serde::Serialize;

/// Version, fingerprints and effective options. Carries no wall-clock time: equal runs are equal bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Provenance {
    /// Version of this program.
    pub version: &'static str,
    /// Fingerprint of the machine's values.
    pub gpu_hash: String,
    /// Fingerprint of each kernel's trace, in kernel order.
    pub kernel_hashes: Vec<KernelHash>,
    /// Options in effect, defaults included.
    pub options: EffectiveOptions,
}

/// A kernel's fingerprint.
#[derive(Clone, Debug, Serialize)]
pub struct KernelHash {
    /// Kernel.
    pub name: String,
    /// FNV-1a, 64 bits.
    pub hash: String,
}

/// Options as they were used.
#[derive(Clone, Debug, Serialize)]
pub struct EffectiveOptions {
    /// `cycles` or `done`.
    pub until: &'static str,
    /// Cycles of a profiling window.
    pub profile_cycles: u32,
    /// How SMs change configuration.
    pub transition: Transition,
    /// The time that decisions take, if they take any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// The instruction counted.
    pub ipc: IpcUnit,
    /// Most TBs of a kernel on an SM, if capped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tbs_per_sm: Option<u32>,
    /// SMs that are given TBs, where not all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sms: Option<u32>,
    /// In a window: whether kernels that end start again in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relaunch: Option<bool>,
    /// Where a kernel is a trace: whether traces keep the addresses that they were recorded with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_memory: Option<bool>,
    /// What was copied to the device is in the L2 at cycle 0.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub warm_l2: bool,
    /// Over what IPC counts, where that is not the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    /// How well runs were to be known, where they may end before their window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
    /// Levels of scheduling that the firmware set beside the policy, if it set any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Levels>,
    /// The queue that the kernels were launched in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Arrival cycle of each kernel, in kernel order.
    pub arrivals: Vec<u64>,
    /// Priority of each kernel, if one has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priorities: Option<Vec<u8>>,
    /// Core cycles in which each kernel is to have its room, 0 for no limit, if one has a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_limits: Option<Vec<u32>>,
}

impl Provenance {
    /// Of these workloads on this machine.
    pub fn new(gpu: &GpuConfig, workloads: &[Workload], options: Options) -> Self {
        Provenance {
            version: env!("CARGO_PKG_VERSION"),
            gpu_hash: fingerprint::gpu(gpu),
            kernel_hashes: workloads.iter().map(|w| KernelHash { name: w.name.clone(), hash: w.hash.clone() }).collect(),
            options: EffectiveOptions {
                until: if options.end == End::Done { "done" } else { "cycles" },
                profile_cycles: options.profile_cycles,
                transition: options.transition,
                latency: (options.latency != Latency::Off).then_some(options.latency),
                ipc: options.ipc,
                tbs_per_sm: options.tbs_per_sm,
                sms: options.open_sms,
                relaunch: if options.end == End::Done { None } else { Some(options.relaunch) },
                share_memory: workloads.iter().any(|w| w.is_trace).then_some(options.share_memory),
                warm_l2: options.warm_l2,
                counted: (options.counted != Counted::Window).then_some(options.counted),
                precision: options.precision.map(|precision| precision.to_string()),
                levels: (options.levels != Levels::None).then_some(options.levels),
                queue: options.queue.map(|queue| queue.describe()),
                arrivals: workloads.iter().map(|w| w.arrival_cycle).collect(),
                priorities: workloads.iter().any(|w| w.priority != 0).then(|| workloads.iter().map(|w| w.priority).collect()),
                latency_limits: workloads.iter().any(|w| w.latency_limit != 0).then(|| workloads.iter().map(|w| w.latency_limit).collect()),
            },
        }
    }
}
