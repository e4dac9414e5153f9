//! Identity of a run: all its dependencies, and the key derived from them.

use super::MODEL;
use crate::choice::Choice;
use crate::experiment::gpu_runner::{End, Options, SEARCH_CYCLES};
use crate::experiment::levels::Levels;
use crate::experiment::policy::{Control, Counted, Policy};
use crate::experiment::workload::Workload;
use crate::fingerprint;
use mias_hw_model::config::GpuConfig;
use mias_trace::fingerprint::Fnv;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;

/// Everything that a run depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Identity {
    /// GPU, with the fields that the plan changes.
    pub gpu: String,
    /// Fingerprint of the GPU's values.
    pub gpu_hash: String,
    /// Names of the kernels in launch order.
    pub kernels: Vec<String>,
    /// Fingerprints of the kernels' traces.
    pub kernel_hashes: Vec<String>,
    /// Core cycle at which each kernel arrives; empty if all arrive at 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<u64>,
    /// Priority of each kernel; empty if all have the lowest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<u8>,
    /// Latency limit of each kernel in core cycles; empty without limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_limits: Vec<u32>,
    /// Name of a policy, or a configuration such as `1-3`.
    pub control: String,
    /// Window in core cycles; `None` for runs until done.
    pub cycles: Option<u64>,
    /// Length of a profiling window in cycles.
    pub profile_cycles: u32,
    /// Length of each window of a search step in cycles, if the policy searches and it differs from
    /// the paper's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_cycles: Option<u32>,
    /// SMs of each kernel, if Spatial uses given shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<String>,
    /// Transition of SMs between configurations.
    pub transition: String,
    /// Time that decisions take.
    pub latency: String,
    /// Unit of instructions that decisions count.
    pub ipc: String,
    /// Whether kernels are relaunched.
    pub relaunch: bool,
    /// Whether traces keep their recorded addresses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub share_memory: bool,
    /// Fingerprint of the copies to the device for each kernel, with a warm L2.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm_l2: Vec<String>,
    /// Precision at which it may end before its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
    /// Core cycles between two samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_cycles: Option<u64>,
    /// Number of SMs that accept TBs, if not all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_sms: Option<u32>,
    /// Cycles over which IPC counts, if not the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    /// Placement requests by its last kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<String>,
    /// Levels that the firmware sets in addition to the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<String>,
    /// Queue in which its kernels are launched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Version of the model: [`MODEL`].
    pub model: String,
    /// Fingerprint of the program for custom policies ([`crate::fingerprint::program`]); empty
    /// otherwise, since [`Identity::model`] suffices.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
}

impl Identity {
    /// Creates the identity of a run on `gpu`, which is called `name`.
    pub fn new(name: &str, gpu: &GpuConfig, workloads: &[Workload], control: &Control, options: Options) -> Self {
        // Exhaustive, so that a new option must be added to the identity to compile. No run of a
        // plan has a cap.
        let Options {
            end,
            profile_cycles,
            search_cycles,
            shares,
            transition,
            latency,
            ipc,
            tbs_per_sm: _,
            open_sms,
            relaunch,
            share_memory,
            warm_l2,
            sample_cycles,
            counted,
            precision,
            requests,
            levels,
            queue,
        } = options;
        let arrivals: Vec<u64> = workloads.iter().map(|workload| workload.arrival_cycle).collect();
        Identity {
            gpu: name.to_owned(),
            gpu_hash: fingerprint::gpu(gpu),
            kernels: workloads.iter().map(|workload| workload.name.clone()).collect(),
            kernel_hashes: workloads.iter().map(|workload| workload.hash.clone()).collect(),
            priorities: unless_all_zero(workloads.iter().map(|workload| workload.priority).collect()),
            latency_limits: unless_all_zero(workloads.iter().map(|workload| workload.latency_limit).collect()),
            arrivals: if arrivals.iter().all(|&cycle| cycle == 0) { Vec::new() } else { arrivals },
            control: control_name(control),
            cycles: if let End::Cycles(cycles) = end { Some(cycles) } else { None },
            profile_cycles,
            search_cycles: (control.searches() && search_cycles != SEARCH_CYCLES).then_some(search_cycles),
            shares: shares.filter(|_| *control == Control::Policy(Policy::Spatial)).map(|shares| shares.to_string()),
            transition: transition.name().to_owned(),
            latency: latency.name().to_owned(),
            ipc: ipc.name().to_owned(),
            relaunch,
            share_memory,
            warm_l2: if warm_l2 { workloads.iter().map(copies_hash).collect() } else { Vec::new() },
            precision: precision.map(|precision| precision.to_string()),
            sample_cycles,
            open_sms,
            counted: (counted != Counted::Window).then(|| counted.name().to_owned()),
            requests: requests.map(|requests| requests.describe()),
            levels: (levels != Levels::None).then(|| levels.name().to_owned()),
            queue: queue.map(|queue| queue.describe()),
            model: MODEL.to_owned(),
            program: if let Control::Policy(Policy::Custom(own)) = control { format!("{:016x}", own.program()) } else { String::new() },
        }
    }

    /// Returns the run's key in a folder: 16 hexadecimal digits.
    pub fn key(&self) -> String {
        let mut hasher = Fnv::default();
        hasher.write(serde_json::to_string(self).unwrap_or_default().as_bytes());
        format!("{:016x}", hasher.finish())
    }

    /// Returns the identity without fingerprints and version, by which runs of two folders are
    /// matched.
    pub fn question(&self) -> Identity {
        let none = String::new();
        // The question records that the L2 is warm, not its content.
        let warm_l2 = vec![none.clone(); self.warm_l2.len()];
        Identity { gpu_hash: none.clone(), kernel_hashes: Vec::new(), warm_l2, model: none.clone(), program: none, ..self.clone() }
    }

    /// Describes the run in one line.
    pub fn describe(&self) -> String {
        let end = self.cycles.map_or_else(|| "until done".to_owned(), |cycles| format!("{cycles} cycles"));
        let arriving = |(at, name): (usize, &String)| {
            let of = |what: &str, number: Option<u64>| number.filter(|&number| number != 0).map(|number| format!("{what} {number}"));
            let cycle = of("at cycle", self.arrivals.get(at).copied());
            let priority = of("priority", self.priorities.get(at).map(|&priority| priority.into()));
            let limit = of("limit", self.latency_limits.get(at).map(|&limit| limit.into()));
            let about: Vec<String> = [cycle, priority, limit].into_iter().flatten().collect();
            if about.is_empty() { name.clone() } else { format!("{name} ({})", about.join(", ")) }
        };
        let kernels: Vec<String> = self.kernels.iter().enumerate().map(arriving).collect();
        let (kernels, profile) = (kernels.join(" + "), self.profile_cycles);
        let relaunch = if self.relaunch { "" } else { ", no relaunch" };
        let share = if self.share_memory { ", traces share memory" } else { "" };
        let warm = if self.warm_l2.is_empty() { "" } else { ", L2 warm" };
        let precision = self.precision.as_ref().map(|precision| format!(", precision {precision}")).unwrap_or_default();
        let samples = self.sample_cycles.map(|cycles| format!(", sampled every {cycles} cycles")).unwrap_or_default();
        let open = self.open_sms.map(|sms| format!(", TBs on {sms} SMs only")).unwrap_or_default();
        let counted = self.counted.as_ref().map(|counted| format!(", counting the {counted}")).unwrap_or_default();
        let requests = self.requests.as_ref().map(|requests| format!(", {requests}")).unwrap_or_default();
        let levels = self.levels.as_ref().map(|levels| format!(", levels {levels}")).unwrap_or_default();
        let queue = self.queue.as_ref().map(|queue| format!(", {queue}")).unwrap_or_default();
        let shares = self.shares.as_ref().map(|shares| format!(", SMs {shares}")).unwrap_or_default();
        let steps = self.search_cycles.map(|cycles| format!(", steps of {cycles} cycles")).unwrap_or_default();
        format!(
            "{kernels}: {} on {}, {end}, profile {profile}, {}, latency {}, {} IPC{relaunch}{share}{warm}{precision}{samples}{open}{counted}{requests}{levels}{queue}{shares}{steps}",
            self.control, self.gpu, self.transition, self.latency, self.ipc
        )
    }
}

/// Returns the numbers, or an empty list if all are 0.
fn unless_all_zero<T: Default + PartialEq>(numbers: Vec<T>) -> Vec<T> {
    if numbers.iter().all(|number| *number == T::default()) { Vec::new() } else { numbers }
}

/// Returns the fingerprint of the copies to the device for a kernel.
fn copies_hash(workload: &Workload) -> String {
    let mut hasher = Fnv::default();
    for copy in workload.copies.iter().flat_map(|copies| copies.iter()) {
        hasher.write_u64(copy.start);
        hasher.write_u64(copy.end);
    }
    format!("{:016x}", hasher.finish())
}

/// Returns the name of a policy, or a configuration.
fn control_name(control: &Control) -> String {
    match control {
        Control::Policy(policy) => policy.name().to_owned(),
        Control::Fixed(config) => crate::table::config(Some(config)),
    }
}
