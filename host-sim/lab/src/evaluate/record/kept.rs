//! A run as it is kept on disk: what it is, by which it is found, and what it gave.

use crate::choice::Choice;
use crate::experiment::machine::{Decision, DecisionTime, End, InPlace, Options, Outcome, Placement, Sample, SmTotals};
use crate::experiment::policy::{Control, Latency, Policy};
use crate::experiment::precision::{Estimate, HalfWidth};
use crate::experiment::requests::Requested;
use crate::experiment::room::Room;
use crate::experiment::workload::Workload;
use crate::fingerprint;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::{LaunchStats, Preemption};
#[cfg(doc)]
use mias_hw_model::sm::IssueClass;
use mias_hw_model::sm::IssueSlots;
use mias_trace::fingerprint::Fnv;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;

/// Version of the files; grows with every change by which an older program reads them wrongly.
pub const FORMAT: u32 = 1;

/// Version of everything that decides what a run gives: the package's, and a fingerprint of the sources of model, firmware and
/// experiments (`build.rs`).
pub const MODEL: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("MIAS_MODEL"));

/// Everything that a run depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity {
    /// Machine, with the fields that the plan changes.
    pub gpu: String,
    /// Fingerprint of its values.
    pub gpu_hash: String,
    /// Names of the kernels in launch order.
    pub kernels: Vec<String>,
    /// Fingerprints of their traces.
    pub kernel_hashes: Vec<String>,
    /// Core cycle at which each arrives; empty where all arrive at 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<u64>,
    /// Priority of each; empty where all have the lowest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<u8>,
    /// Core cycles in which each is to have its room; empty where none has a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_limits: Vec<u32>,
    /// A policy's name, or a configuration such as `1-3`.
    pub control: String,
    /// Window in core cycles; none: until all kernels have completed.
    pub cycles: Option<u64>,
    /// Cycles of a profiling window.
    pub profile_cycles: u32,
    /// How SMs change configuration.
    pub transition: String,
    /// The time that decisions take.
    pub latency: String,
    /// The instruction that decisions count.
    pub ipc: String,
    /// Whether kernels that end start again.
    pub relaunch: bool,
    /// Whether traces keep the addresses that they were recorded with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub share_memory: bool,
    /// Where the L2 is warm: fingerprint of what was copied to the device for each kernel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm_l2: Vec<String>,
    /// How well it is to be known, where it may end before its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
    /// Core cycles between two samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_cycles: Option<u64>,
    /// Requests for room by its last kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<String>,
    /// [`MODEL`].
    pub model: String,
    /// Fingerprint of the program, where the policy is its own ([`crate::fingerprint::program`]); empty otherwise: [`Identity::model`] says it all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
}

impl Identity {
    /// Of a run on `gpu`, which is called `name`.
    pub fn new(name: &str, gpu: &GpuConfig, workloads: &[Workload], control: &Control, options: Options) -> Self {
        // Exhaustive: an option that is added is part of the identity, or does not compile. No run of a plan has a cap.
        let Options {
            end,
            profile_cycles,
            transition,
            latency,
            ipc,
            tbs_per_sm: _,
            relaunch,
            share_memory,
            warm_l2,
            sample_cycles,
            precision,
            requests,
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
            transition: transition.name().to_owned(),
            latency: latency.name().to_owned(),
            ipc: ipc.name().to_owned(),
            relaunch,
            share_memory,
            warm_l2: if warm_l2 { workloads.iter().map(copies_hash).collect() } else { Vec::new() },
            precision: precision.map(|precision| precision.to_string()),
            sample_cycles,
            requests: requests.map(|requests| requests.describe()),
            model: MODEL.to_owned(),
            program: if let Control::Policy(Policy::Own(own)) = control { format!("{:016x}", own.program()) } else { String::new() },
        }
    }

    /// The run's name in a folder: 16 hexadecimal digits.
    pub fn key(&self) -> String {
        let mut hasher = Fnv::default();
        hasher.write(serde_json::to_string(self).unwrap_or_default().as_bytes());
        format!("{:016x}", hasher.finish())
    }

    /// The same without fingerprints and version: what two folders may have in common.
    pub fn question(&self) -> Identity {
        let none = String::new();
        // That it is, and not with what.
        let warm_l2 = vec![none.clone(); self.warm_l2.len()];
        Identity { gpu_hash: none.clone(), kernel_hashes: Vec::new(), warm_l2, model: none.clone(), program: none, ..self.clone() }
    }

    /// In one line.
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
        let requests = self.requests.as_ref().map(|requests| format!(", {requests}")).unwrap_or_default();
        format!(
            "{kernels}: {} on {}, {end}, profile {profile}, {}, latency {}, {} IPC{relaunch}{share}{warm}{precision}{samples}{requests}",
            self.control, self.gpu, self.transition, self.latency, self.ipc
        )
    }
}

/// What is kept of numbers that mostly are 0.
fn unless_all_zero<T: Default + PartialEq>(numbers: Vec<T>) -> Vec<T> {
    if numbers.iter().all(|number| *number == T::default()) { Vec::new() } else { numbers }
}

/// Fingerprint of what was copied to the device for a kernel.
fn copies_hash(workload: &Workload) -> String {
    let mut hasher = Fnv::default();
    for copy in workload.copies.iter().flat_map(|copies| copies.iter()) {
        hasher.write_u64(copy.start);
        hasher.write_u64(copy.end);
    }
    format!("{:016x}", hasher.finish())
}

/// A policy's name, or a configuration.
fn control_name(control: &Control) -> String {
    match control {
        Control::Policy(policy) => policy.name().to_owned(),
        Control::Fixed(config) => crate::table::config(Some(config)),
    }
}

/// Options without what does not matter to a run, so that equal runs are equal: a policy that does not measure needs no profiling
/// window, counts nothing, and never enters the phase whose time is counted; where it sets its quotas once, because all kernels arrive
/// together and start again for ever or there is only one, there is no transition; until done, nothing starts again. `arrivals` are the
/// cycles at which the kernels arrive.
pub fn canonical(control: &Control, arrivals: &[u64], options: Options) -> Options {
    let (kernels, all_at_once) = (arrivals.len(), arrivals.iter().all(|cycle| Some(cycle) == arrivals.first()));
    let mut same = Options { tbs_per_sm: None, ..options };
    let plain = Options::new(options.end);
    if kernels == 1 {
        (same.share_memory, same.requests) = (plain.share_memory, plain.requests);
    }
    if options.end == End::Done {
        same.relaunch = plain.relaunch;
    }
    // What does not start again is simulated in full, and what is sampled.
    if options.end == End::Done || !options.relaunch || options.sample_cycles.is_some() {
        same.precision = plain.precision;
    }
    // One of the program's own may measure a kernel alone as well; those that are built in have nothing to compare then.
    let measures = match control {
        Control::Policy(Policy::Own(_)) => true,
        Control::Policy(policy) => policy.measures() && kernels > 1,
        Control::Fixed(_) => false,
    };
    if !measures {
        (same.profile_cycles, same.ipc) = (plain.profile_cycles, plain.ipc);
        // Making room takes its time, whoever measures.
        same.latency = if same.requests.is_some() || same.transition.preempts() { options.latency } else { Latency::Off };
        if kernels == 1 || (all_at_once && options.end != End::Done && options.relaunch) {
            same.transition = plain.transition;
        }
    }
    same
}

/// What a run gave, as kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Core cycles that the counts are of.
    pub cycles: u64,
    /// It ended before the window, and its counts are estimates; none if all was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// Per kernel, in launch order.
    pub launches: Vec<LaunchStats>,
    /// SM cycles, all SMs.
    pub sm_cycles: u64,
    /// SM cycles in which the L1 refused a look-up.
    pub lsu_stall_cycles: u64,
    /// MSHR entries in use, summed over SM cycles.
    pub outstanding_cycles: u64,
    /// Quotas at the end; empty if the policy sets none.
    pub placement: Vec<Placement>,
    /// Cycles in which SMs were on their way to new quotas.
    pub transition_cycles: u64,
    /// The run ended before the firmware had placed what it was about to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsettled: bool,
    /// How much of the run was spent in `placement`.
    pub in_place: InPlace,
    /// Cycles in which the firmware profiled.
    pub profile_cycles: u64,
    /// The time of decisions; none if they took none.
    pub decision_time: Option<DecisionTime>,
    /// The last decision, if the policy measures.
    pub decision: Option<Decision>,
    /// Issue slots (scheduler-cycles) of all SMs by class, in the order of [`IssueClass::ALL`].
    #[serde(alias = "schedulers", with = "without_held")]
    pub issue_slots: IssueSlots,
    /// Energy in nanojoules; none if the machine has no coefficients.
    pub energy_nj: Option<u64>,
    /// Instructions over time, of kernels alone in a window.
    pub samples: Vec<Sample>,
    /// When each kernel had its room, where somebody is preempted or before others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub room: Vec<Room>,
    /// TBs that were made to leave, in the order of the commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preemptions: Vec<Preemption>,
    /// What became of requests for room, by scheme and limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requested: Vec<Requested>,
}

/// Issue slots as they are kept: without the class that is last where there is nothing in it, as runs were kept before there was one.
mod without_held {
    use mias_hw_model::sm::{IssueClass, IssueSlots};
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(slots: &IssueSlots, serializer: S) -> Result<S::Ok, S::Error> {
        slots[..IssueClass::of(slots).count()].serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<IssueSlots, D::Error> {
        let kept = Vec::<u64>::deserialize(deserializer)?;
        let mut slots = IssueSlots::default();
        let classes = slots.len();
        if !(classes - 1..=classes).contains(&kept.len()) {
            return Err(D::Error::invalid_length(kept.len(), &"a number for each class of issue slots"));
        }
        slots[..kept.len()].copy_from_slice(&kept);
        Ok(slots)
    }
}

/// Femtojoules per nanojoule.
const FJ_PER_NJ: u128 = 1_000_000;

impl Kept {
    /// Of a run that has ended.
    pub fn of(outcome: &Outcome) -> Self {
        // Exhaustive: what a run gives is kept, or left out here on purpose.
        let Outcome {
            cycles,
            estimate,
            launches,
            sms,
            placement,
            transition_cycles,
            unsettled,
            in_place,
            profile_cycles,
            decision_time,
            decision,
            activity: _,
            recording: _,
            parted: _,
            l1_ways: _,
            memory_choices: _,
            l2_ways: _,
            energy,
            samples,
            room,
            preemptions,
            victims: _,
            requested,
        } = outcome.clone();
        Kept {
            cycles,
            estimate,
            launches,
            sm_cycles: sms.cycles,
            lsu_stall_cycles: sms.lsu_stall_cycles,
            outstanding_cycles: sms.outstanding_cycles,
            placement,
            transition_cycles,
            unsettled,
            in_place,
            profile_cycles,
            decision_time,
            decision,
            issue_slots: sms.issue_slots,
            energy_nj: energy.map(|energy| u64::try_from(energy.total() / FJ_PER_NJ).unwrap_or(u64::MAX)),
            samples,
            room,
            preemptions,
            requested,
        }
    }

    /// As an experiment takes it.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            cycles: self.cycles,
            estimate: self.estimate.clone(),
            launches: self.launches.clone(),
            sms: SmTotals {
                cycles: self.sm_cycles,
                lsu_stall_cycles: self.lsu_stall_cycles,
                outstanding_cycles: self.outstanding_cycles,
                issue_slots: self.issue_slots,
            },
            placement: self.placement.clone(),
            transition_cycles: self.transition_cycles,
            unsettled: self.unsettled,
            in_place: self.in_place,
            profile_cycles: self.profile_cycles,
            decision_time: self.decision_time,
            decision: self.decision.clone(),
            samples: self.samples.clone(),
            room: self.room.clone(),
            preemptions: self.preemptions.clone(),
            requested: self.requested.clone(),
            ..Outcome::default()
        }
    }

    /// A run of `kernels` kernels in which only the first ever has TBs, `tbs` on each of `sms` SMs, from its run alone.
    pub fn with_idle_kernels(&self, kernels: usize, tbs: u32, sms: u32) -> Self {
        let mut same = Kept { samples: Vec::new(), ..self.clone() };
        same.estimate.iter_mut().for_each(|estimate| estimate.half_widths.resize(kernels, HalfWidth::default()));
        same.launches.resize(kernels, LaunchStats { start_cycle: Some(0), ..LaunchStats::default() });
        let mut config = vec![0; kernels];
        config[0] = tbs;
        same.placement = vec![Placement { sms: (0..sms).collect(), config }];
        same
    }
}

/// Whether a control gives TBs to the first of several kernels only, all that fit, for ever. Then the run is the first kernel's run
/// alone: the others' launches touch nothing that it sees.
///
/// Left-over turns to the next kernel when the first has no TB left to issue, and until then the quotas of the others are 0. In a
/// window in which kernels start again that is never. Only where all arrive together: a later arrival makes the firmware place again.
pub fn is_first_alone(control: &Control, max_tbs: &[u32], arrivals: &[u64], options: Options) -> bool {
    let endless = options.end != End::Done && options.relaunch && options.requests.is_none();
    endless
        && arrivals.iter().all(|&cycle| cycle == 0)
        && max_tbs.len() > 1
        && match control {
            Control::Policy(policy) => *policy == Policy::LeftOver,
            Control::Fixed(config) => config.first() == max_tbs.first() && config.iter().skip(1).all(|&tbs| tbs == 0),
        }
}
