//! Provenance of a result: enough to reproduce it and to compare the outcome.

use mias_hw_model::config::GpuConfig;
use mias_lab::experiment::gpu_runner::{End, Options};
use mias_lab::experiment::levels::Levels;
use mias_lab::experiment::policy::{Counted, IpcUnit, Latency, Transition};
use mias_lab::experiment::workload::Workload;
use mias_lab::fingerprint;
use serde::Serialize;

/// Version, fingerprints and effective options, without wall-clock time: equal runs give equal
/// bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Provenance {
    /// Version of this program.
    pub version: &'static str,
    /// Fingerprint of the GPU's values.
    pub gpu_hash: String,
    /// Fingerprint of each kernel's trace, in kernel order.
    pub kernel_hashes: Vec<KernelHash>,
    /// Options in effect, defaults included.
    pub options: EffectiveOptions,
}

/// Fingerprint of one kernel.
#[derive(Clone, Debug, Serialize)]
pub struct KernelHash {
    /// Name of the kernel.
    pub name: String,
    /// FNV-1a hash, 64 bits.
    pub hash: String,
}

/// Options in effect.
#[derive(Clone, Debug, Serialize)]
pub struct EffectiveOptions {
    /// End of the run: `cycles` or `done`.
    pub until: &'static str,
    /// Length of a profiling window in cycles.
    pub profile_cycles: u32,
    /// Transition of SMs between configurations.
    pub transition: Transition,
    /// Time that decisions take, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Unit of instructions.
    pub ipc: IpcUnit,
    /// Maximum number of TBs of a kernel on an SM, if capped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tbs_per_sm: Option<u32>,
    /// Number of SMs that accept TBs, if not all do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sms: Option<u32>,
    /// Whether kernels are relaunched in place; only for windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relaunch: Option<bool>,
    /// Whether traces keep their recorded addresses; only with traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_memory: Option<bool>,
    /// Whether data that was copied to the device is in the L2 at cycle 0.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub warm_l2: bool,
    /// Cycles over which IPC counts, if not the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    /// Precision at which runs may end before their window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
    /// Levels that the firmware set in addition to the policy, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Levels>,
    /// Queue in which the kernels were launched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Arrival cycle of each kernel, in kernel order.
    pub arrivals: Vec<u64>,
    /// Priority of each kernel, if any has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priorities: Option<Vec<u8>>,
    /// Latency limit of each kernel in core cycles, 0 for no limit, if any has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_limits: Option<Vec<u32>>,
}

impl Provenance {
    /// Collects the provenance of these workloads on this GPU.
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
