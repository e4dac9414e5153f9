//! Interface between experiments and the simulated GPU: requests of runs and their results.
//!
//! Experiments handle plain data, so that tests can check them against a GPU with closed-form
//! results.

pub use super::options::{End, Options, SEARCH_CYCLES};

use super::placement_latency::PlacementTimes;
use super::policy::Control;
use super::precision::Estimate;
use super::queue::QueuedLaunch;
use super::requests::Requested;
use super::victims::VictimChoice;
use super::workload::Workload;
use crate::cosim::recording::Recording;
use crate::gpus::fields::Field;
use mias_hw_model::cache::WaysStats;
use mias_hw_model::energy::EnergyReport;
use mias_hw_model::gpu::{ContextLog, LaunchStats, OversubscriptionStats, Preemption, SmStateCycles};
use mias_hw_model::register_block::Activity;
use mias_hw_model::sm::{IssueSlots, MemoryChoices, MemoryLimits, OversubscriptionCounts};

/// Request for one simulation.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// Policy or configuration of the run.
    pub control: Control,
    /// Workloads, in kernel order.
    pub workloads: Vec<&'a Workload>,
    /// Options of the run.
    pub options: Options,
}

/// SMs with the same TB quotas.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Placement {
    /// The SMs, ascending.
    pub sms: Vec<u32>,
    /// TBs of each kernel per SM, in kernel order.
    pub config: Vec<u32>,
}

/// Results of a search for the number of SMs of each kernel ([`mias_policies::search`]).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct SearchFound {
    /// Whether each kernel demands more than the memory system supplies, in kernel order.
    pub memory_intensive: Vec<bool>,
    /// Number of windows measured, including the one that classifies.
    pub windows: u32,
    /// Whether the search finished within the run.
    pub done: bool,
    /// Estimated IPC of each kernel on its share over IPC alone on all SMs, by the firmware; empty
    /// without an estimate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub estimated_progress: Vec<f64>,
    /// Maximum number of active warps of each kernel per warp scheduler, 0 for no limit; empty
    /// under policies that set none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_warps: Vec<u32>,
}

/// Counters of one profiled configuration, summed over its SMs.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct ProfiledConfig {
    /// TBs of each kernel per SM.
    pub config: Vec<u32>,
    /// Number of SMs profiled with it.
    pub sms: u32,
    /// Number of SM cycles.
    pub cycles: u64,
    /// Number of cycles in which the SM issued.
    pub issue_cycles: u64,
    /// Number of cycles in which no warp issued and one waited for memory.
    pub memory_stall_cycles: u64,
    /// Number of instructions, in the unit that IPC counts.
    pub instructions: u64,
    /// Number of load requests that left the SM.
    #[serde(alias = "misses")]
    pub load_requests: u64,
    /// Outstanding misses, summed over memory-stall cycles.
    #[serde(alias = "outstanding")]
    pub outstanding_misses: u64,
    /// Score by the policy's metric, on the metric's own scale; larger is better. `None` if no SM
    /// finished its window.
    pub score: Option<f64>,
    /// Whether its score equals the winner's exactly; true of the winner itself.
    pub tie: bool,
    /// Whether all SMs tried it, so that its score needs no extrapolation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trial: bool,
}

/// Decision of the firmware with the profiles behind it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Decision {
    /// Cycle of the decision.
    pub cycle: u64,
    /// Profiled configurations, in the order of rounds and then lexicographically. Configurations
    /// tried on all SMs follow, and are among them.
    pub profiled: Vec<ProfiledConfig>,
    /// Index into `profiled` of the configuration broadcast; `None` if it was not profiled.
    pub winner: Option<usize>,
    /// Configuration broadcast, if it was not profiled. If `winner` is absent too, each kernel got
    /// its own SMs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Vec<u32>>,
}

impl Decision {
    /// Returns the broadcast TBs of each kernel per SM; `None` if each kernel gets its own SMs.
    pub fn config(&self) -> Option<&[u32]> {
        let winner = self.winner.and_then(|winner| self.profiled.get(winner)).map(|profiled| &profiled.config);
        winner.or(self.chosen.as_ref()).map(Vec::as_slice)
    }
}

/// Time of decisions, summed over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct DecisionTime {
    /// Number of decisions; each round of profiling ends with one.
    pub decisions: u32,
    /// Microcontroller instructions from the interrupt to the commit of the quotas.
    pub instructions: u64,
    /// Number of core cycles for these instructions.
    pub cycles: u64,
    /// Part of `cycles` after the end of the run, if the last decision was not over by then.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beyond_end_cycles: u64,
    /// Instructions from the interrupts that collected launches to the commit of the first quotas,
    /// where that takes time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub placement_instructions: u64,
    /// Core cycles of these instructions within the run. New kernels wait meanwhile.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub placement_cycles: u64,
    /// Number of times the firmware read the counters of memory issue, where that takes time.
    #[serde(default, skip_serializing_if = "is_none")]
    pub memory_limits: u32,
    /// Number of instructions for these reads.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub memory_limit_instructions: u64,
    /// Number of core cycles for these reads.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub memory_limit_cycles: u64,
    /// Number of times the firmware read chip utilization to limit extra TBs, where that takes
    /// time.
    #[serde(default, skip_serializing_if = "is_none")]
    pub context_looks: u32,
    /// Number of instructions for these reads.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub context_instructions: u64,
    /// Number of core cycles for these reads.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub context_cycles: u64,
    /// Number of times the firmware chose preemption victims, where that takes time.
    #[serde(default, skip_serializing_if = "is_none")]
    pub preemptions: u32,
    /// Number of instructions for these choices.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub preemption_instructions: u64,
    /// Number of core cycles for these choices.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub preemption_cycles: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference.
fn is_none(times: &u32) -> bool {
    *times == 0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference.
fn is_zero(cycles: &u64) -> bool {
    *cycles == 0
}

impl DecisionTime {
    /// Returns the decision cycles within the run.
    pub fn in_run_cycles(&self) -> u64 {
        self.cycles.saturating_sub(self.beyond_end_cycles)
    }
}

/// Fraction of a run spent in its final placement.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct InPlace {
    /// Fraction of SM cycles after each SM last held a TB beyond its final quotas, 0..=1.
    pub share: f64,
    /// Number of SMs that still hold such a TB at the end and never had the printed configuration.
    pub sms_short_of_it: u32,
}

/// Counters summed over all SMs and kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmTotals {
    /// Number of SM cycles.
    pub cycles: u64,
    /// Number of SM cycles in which the L1 refused a look-up.
    pub lsu_stall_cycles: u64,
    /// MSHR entries in use, summed over cycles.
    pub outstanding_cycles: u64,
    /// Issue slots (scheduler-cycles) by outcome.
    pub issue_slots: IssueSlots,
}

/// Interval at which instructions are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Core cycles between two samples, at least 1.
    pub every_cycles: u64,
    /// Core cycle after which no sample is taken.
    pub until_cycle: u64,
}

/// Instruction counts up to a cycle.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Sample {
    /// Core cycle.
    pub cycle: u64,
    /// Warp and thread instructions of each workload so far.
    pub insts: Vec<(u64, u64)>,
    /// L1 accesses of each workload so far; empty unless [`Options::sample_cycles`] is set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub l1_accesses: Vec<u64>,
}

/// Energy of a run up to a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnergySample {
    /// Core cycle.
    pub cycle: u64,
    /// Energy from cycle 0 on.
    pub energy: EnergyReport,
}

/// Results of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Number of core cycles that the counts cover.
    pub cycles: u64,
    /// Estimate of a run that ended before its window; `None` if all was simulated.
    pub estimate: Option<Estimate>,
    /// Statistics of each workload.
    pub launches: Vec<LaunchStats>,
    /// Totals over all SMs.
    pub sms: SmTotals,
    /// Quotas at the end; empty if the policy sets none.
    pub placement: Vec<Placement>,
    /// Number of cycles in which SMs were changing to new quotas.
    pub transition_cycles: u64,
    /// Whether the run ended during profiling or a decision, before the chosen quotas were placed.
    pub unsettled: bool,
    /// Fraction of the run spent in `placement`; zero if it is `unsettled`.
    pub in_place: InPlace,
    /// Number of cycles in which the firmware profiled.
    pub profile_cycles: u64,
    /// Time of decisions; `None` if they took none.
    pub decision_time: Option<DecisionTime>,
    /// Last decision, if the policy decides by measuring.
    pub decision: Option<Decision>,
    /// Results of the last search for SMs; `None` if the policy does not search.
    pub search: Option<SearchFound>,
    /// Events at the register block, in order; empty unless recording is enabled.
    pub activity: Vec<Activity>,
    /// Register accesses of the firmware; `None` unless recording is enabled.
    pub recording: Option<Recording>,
    /// Difference between an image in QEMU and the firmware in this process that follows it. Later
    /// decisions of the image are unknown.
    pub parted: Option<String>,
    /// Fault bits that the register block had raised by the end ([`super::faults`]).
    pub faults: u32,
    /// Owners of L1 ways, by SM; `None` if the ways are shared.
    pub l1_ways: Option<WaysStats>,
    /// Counts of arbitration among off-chip memory instructions; `None` if no mechanism restricts
    /// them.
    pub memory_choices: Option<MemoryChoices>,
    /// Limits of memory instructions in flight at the end, by kernel slot; empty without limits.
    pub memory_limits: Vec<MemoryLimits>,
    /// Owners of L2 ways, by slice; `None` if the ways are shared.
    pub l2_ways: Option<WaysStats>,
    /// Statistics of extra TBs, launches in the order of `launches`; empty if the GPU takes
    /// none.
    pub oversubscription: Vec<OversubscriptionStats>,
    /// Statistics of extra TBs by SM, over all launches; empty if the GPU takes none.
    pub sm_oversubscription: Vec<OversubscriptionCounts>,
    /// Context movements on SMs, in order; empty unless logging is enabled and contexts are
    /// switched.
    pub context_log: ContextLog,
    /// SM cycles by power state; `None` if every SM was active throughout.
    pub sm_states: Option<SmStateCycles>,
    /// Energy by launch, in the order of `launches`; `None` if the GPU has no `[energy]`.
    pub energy: Option<EnergyReport>,
    /// Energy over time, in order; empty unless sampling is enabled and the GPU has `[energy]`.
    pub energy_samples: Vec<EnergySample>,
    /// Placement times of each kernel; empty without preemption and priorities.
    pub room: Vec<PlacementTimes>,
    /// Preempted TBs, in the order of the commands.
    pub preemptions: Vec<Preemption>,
    /// Victim choices of the firmware; empty unless they are kept.
    pub victims: Vec<VictimChoice>,
    /// Instructions over time; empty unless sampling is enabled.
    pub samples: Vec<Sample>,
    /// Outcomes of placement requests, by scheme and limit.
    pub requested: Vec<Requested>,
    /// Launches of a queue with their times, in order of arrival; empty without a queue.
    pub queued: Vec<QueuedLaunch>,
}

impl Outcome {
    /// Returns the configuration shared by all SMs; `None` if they differ or the policy sets none.
    pub fn config(&self) -> Option<&[u32]> {
        match self.placement.as_slice() {
            [one] => Some(&one.config),
            _ => None,
        }
    }
}

/// Reasons why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The workload cannot run on this GPU, or a kernel failed during its execution. The
    /// message names kernel and resource.
    #[error("{0}")]
    Workload(String),
    /// The simulation is deadlocked. The message lists the waiting components and their
    /// dependencies.
    #[error("the simulation is stuck: {0}")]
    Stuck(String),
    /// The firmware image could not be run, or stopped. The message states the remedy.
    #[error("{0}")]
    Firmware(String),
    /// The run was canceled; see [`crate::cancel::Cancel`].
    #[error("interrupted")]
    Interrupted,
}

/// Executor of workloads, such as the simulated GPU.
pub trait GpuRunner: Sync {
    /// Returns the same GPU with other values in some fields of its file.
    ///
    /// # Errors
    /// [`RunError::Workload`] if the fields are invalid; the message gives the reason.
    fn changed(&self, fields: &[Field]) -> Result<Box<dyn GpuRunner + '_>, RunError> {
        let names: Vec<String> = fields.iter().map(Field::name).collect();
        Err(RunError::Workload(format!("this GPU has no fields {}", names.join(", "))))
    }

    /// Returns the maximum number of TBs of `workload` that fit one SM together, at least 1.
    ///
    /// # Errors
    /// [`RunError::Workload`] if not even one fits, with the limiting resource.
    fn max_tbs(&self, workload: &Workload) -> Result<u32, RunError>;

    /// Returns every maximal configuration with TBs of at least two of `workloads`, in
    /// lexicographic order.
    ///
    /// # Errors
    /// [`RunError::Workload`] as for [`GpuRunner::max_tbs`].
    fn configurations(&self, workloads: &[&Workload]) -> Result<Vec<Vec<u32>>, RunError>;

    /// Runs one simulation. `progress` is called periodically with the core cycles since its last
    /// call.
    ///
    /// # Errors
    /// [`RunError`].
    fn run(&self, run: &Run<'_>, progress: &(dyn Fn(u64) + Sync)) -> Result<Outcome, RunError>;

    /// Executes runs that differ in control only. Common prefixes may be simulated once; outcomes
    /// equal those of [`GpuRunner::run`]. `done` receives the index of a run and its outcome as
    /// soon as the run ends, from any thread.
    fn run_together(&self, runs: &[Run<'_>], progress: &(dyn Fn(u64) + Sync), done: &(dyn Fn(usize, Result<Outcome, RunError>) + Sync)) {
        runs.iter().enumerate().for_each(|(index, run)| done(index, self.run(run, progress)));
    }
}
