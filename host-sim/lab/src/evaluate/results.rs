//! Results of an evaluation: every number of the result documents, in the types that they are
//! written from. docs/reference/results.md describes each field.

use super::blocks::Report;
use super::energy::EnergyResult;
use super::half_widths::HalfWidths;
use super::memory::{MemoryDemand, MemoryResult, SeriesResult};
use super::names::{self, Name};
use super::off_sm::OffSm;
use super::queue::QueueResult;
use super::requests::RequestsResult;
use super::used::Used;
use crate::experiment::gpu_runner::{Placement, SearchFound};
use crate::experiment::placement_latency::Latency;
use mias_hw_model::gpu::{OversubscriptionStats, SmStateCycles};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Version of `results.json` and `results.csv`; increases with every incompatible change.
pub const SCHEMA_VERSION: u32 = 1;

/// Values for the two objectives, S and STP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Objectives<T> {
    /// Speedup S of the thesis.
    pub s: T,
    /// System throughput (weighted speedup).
    pub stp: T,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference.
pub(super) fn is_zero(cycle: &u64) -> bool {
    *cycle == 0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference.
fn is_none_of_them(count: &usize) -> bool {
    *count == 0
}

/// Results of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// Version of the schema: [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of program and model.
    pub model: String,
    /// Description of the plan.
    pub plan: PlanNote,
    /// Every experiment in every setting, in the order of the plan.
    pub studies: Vec<StudyResult>,
}

/// Description of a plan in its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanNote {
    /// Name of the plan.
    pub name: String,
    /// Purpose of the plan.
    pub description: String,
    /// Fingerprint of the plan's text.
    pub hash: String,
    /// Declared content of the report, if any.
    #[serde(default, skip_serializing_if = "Report::is_empty")]
    pub report: Report,
}

/// Results of an experiment in one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyResult {
    /// Name of the experiment.
    pub experiment: String,
    /// Title of the experiment.
    pub title: String,
    /// Key and value of every parameter that the experiment varies.
    pub setting: Vec<(String, String)>,
    /// GPU, with the fields that the plan changes.
    pub gpu: String,
    /// Fingerprint of the GPU's values.
    pub gpu_hash: String,
    /// Window in core cycles; `None` for runs until done.
    pub cycles: Option<u64>,
    /// Length of a profiling window in cycles.
    pub profile_cycles: u32,
    /// Transition of SMs between configurations.
    #[serde(deserialize_with = "names::one")]
    pub transition: Name,
    /// Time that decisions take.
    #[serde(deserialize_with = "names::one")]
    pub latency: Name,
    /// Unit of instructions that IPC counts.
    #[serde(deserialize_with = "names::one")]
    pub ipc_unit: Name,
    /// Whether kernels are relaunched.
    pub relaunch: bool,
    /// Cycles over which IPC counts, if not the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    /// Core cycle at which the last kernel of each group arrives.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub arrive: u64,
    /// Whether traces keep their recorded addresses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub share_memory: bool,
    /// Whether data that the traced programs copied to the device is in the L2 at cycle 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_l2: bool,
    /// Precision at which runs may end before their window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
    /// Results of placement requests, each kernel's first and then those over all; empty without
    /// requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestsResult>,
    /// Results of a queue of launches, by group and policy; empty without a queue. With a queue
    /// there are no `groups`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<QueueResult>,
    /// Levels of scheduling that the firmware set in addition to the policy; `None` if it set none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<String>,
    /// Isolated runs, in the experiment's order.
    pub kernels: Vec<AloneResult>,
    /// Shared runs, by group.
    pub groups: Vec<GroupResult>,
    /// Means by class of group and policy.
    pub summary: Vec<SummaryRow>,
}

/// Results of one isolated kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AloneResult {
    /// Name of the kernel.
    pub name: String,
    /// Fingerprint of the kernel's trace.
    pub trace_hash: String,
    /// Core cycle at which the kernel arrives.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub arrival_cycle: u64,
    /// Key of the run.
    pub run: String,
    /// Maximum number of TBs per SM.
    pub max_tbs: u32,
    /// Instructions per cycle.
    pub ipc: f64,
    /// Half-width of the 95 % interval of `ipc`; `None` if the run was simulated in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipc_half_width: Option<f64>,
    /// Number of core cycles simulated, if the run ended before its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_cycles: Option<u64>,
    /// Number of core cycles that the counts cover.
    pub cycles: u64,
    /// Fractions of issue slots by class.
    #[serde(deserialize_with = "names::by_name")]
    pub issue_slots: BTreeMap<&'static str, f64>,
    /// Energy in joules; `None` if the GPU has no coefficients.
    pub energy_joules: Option<f64>,
    /// Energy results beyond the sum; `None` under the same condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyResult>,
    /// Points of a cycle with the IPC since the point before.
    pub curve: Vec<(u64, f64)>,
    /// Points of TBs per SM with the IPC at that limit; only if the experiment requests them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalability: Vec<(u32, f64)>,
    /// Memory pipeline results, if the experiment requests them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryResult>,
    /// Memory demand of its instructions, if the experiment requests it and runs kernels alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<MemoryDemand>,
    /// Demand on the memory system beyond the SMs, if the experiment requests it and runs kernels
    /// alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_sm: Option<OffSm>,
    /// Utilization of each part of the GPU, under the same condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Used>,
    /// Statistics of its extra TBs, if the GPU takes any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oversubscription: Option<OversubscriptionStats>,
    /// Time series of each kernel, if the run was sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesResult>,
}

/// Results of one group of kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupResult {
    /// Names in launch order.
    pub kernels: Vec<String>,
    /// Types of the kernels, M first; `other` if one has no type.
    pub class: String,
    /// Instructions per cycle in isolated runs, in launch order.
    pub isolated_ipc: Vec<f64>,
    /// Value of S for running only the fastest kernel.
    pub s_null: Option<f64>,
    /// Cycles of sequential execution, each kernel to its end; `None` in a window.
    pub sequential_cycles: Option<u64>,
    /// Best configuration for each objective.
    pub oracle: Objectives<Option<OracleResult>>,
    /// Static runs of every maximal configuration.
    pub configurations: Vec<ConfigurationResult>,
    /// Results of the policies, in the plan's order.
    pub policies: Vec<PolicyResult>,
}

/// Best configuration for an objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OracleResult {
    /// TBs of each kernel per SM.
    pub config: Vec<u32>,
    /// Value of the objective.
    pub value: f64,
    /// Half-width of its 95 % interval; `None` if every run behind it was simulated in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
    /// Number of other configurations that the intervals do not tell from this one.
    #[serde(default, skip_serializing_if = "is_none_of_them")]
    pub rivals: usize,
}

/// Four metrics of a shared run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricValues {
    /// Speedup S of the thesis.
    #[serde(deserialize_with = "number")]
    pub speedup: Option<f64>,
    /// System throughput (weighted speedup).
    #[serde(deserialize_with = "number")]
    pub stp: Option<f64>,
    /// Average normalized turnaround time.
    #[serde(deserialize_with = "number")]
    pub antt: Option<f64>,
    /// Smallest over largest normalized IPC.
    #[serde(deserialize_with = "number")]
    pub fairness: Option<f64>,
}

/// Deserializes a number of a flattened structure. If another crate of the build enables
/// serde_json's feature `arbitrary_precision`, only serde_json's own type can read such numbers.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Ok(Option::<serde_json::Number>::deserialize(from)?.and_then(|number| number.as_f64()))
}

/// Results of one static run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationResult {
    /// TBs of each kernel per SM.
    pub config: Vec<u32>,
    /// Key of the run.
    pub run: String,
    /// Metrics against isolated runs.
    #[serde(flatten)]
    pub metrics: MetricValues,
    /// Half-widths of the 95 % intervals of these metrics; `None` if every run behind them was
    /// simulated in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_widths: Option<MetricValues>,
    /// Number of core cycles simulated, if the run ended before its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_cycles: Option<u64>,
    /// Instructions per cycle of each kernel.
    pub ipc: Vec<f64>,
    /// Fractions of issue slots by class.
    #[serde(deserialize_with = "names::by_name")]
    pub issue_slots: BTreeMap<&'static str, f64>,
    /// Energy in joules; `None` if the GPU has no coefficients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_joules: Option<f64>,
}

/// Results of one policy on one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyResult {
    /// Policy of the run.
    #[serde(deserialize_with = "names::one")]
    pub policy: Name,
    /// Key of the run; several keys are joined by a plus.
    pub run: String,
    /// Whether the result is derived without a run of its own: from the provably equal isolated run
    /// of the first kernel, or from all isolated runs.
    pub derived: bool,
    /// TBs of each kernel per SM; `None` if SMs differ.
    pub config: Option<Vec<u32>>,
    /// Quotas by SM where SMs differ.
    pub placement: Vec<Placement>,
    /// Metrics against isolated runs.
    #[serde(flatten)]
    pub metrics: MetricValues,
    /// Instructions per cycle of each kernel.
    pub ipc: Vec<f64>,
    /// IPC over isolated IPC, of each kernel.
    pub normalized_ipc: Vec<Option<f64>>,
    /// Placement latency of each kernel, in kernel order; empty without preemption and priorities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency: Vec<Latency>,
    /// Half-widths of 95 % intervals; `None` if every run behind them was simulated in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_widths: Option<HalfWidths>,
    /// Number of core cycles simulated, if the run ended before its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_cycles: Option<u64>,
    /// Whether the window ended before the policy's choice was in effect, so that other quotas ran.
    pub too_late: bool,
    /// Configuration chosen by the end of the run, if it came too late; `config` and `placement`
    /// are empty then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_late_config: Option<Vec<u32>>,
    /// Regret of the chosen configuration, in effect or too late.
    pub regret: Objectives<Option<f64>>,
    /// Regret of the whole run, including profiling and transition.
    pub end_to_end_regret: Objectives<Option<f64>>,
    /// Number of cycles in transition.
    pub transition_cycles: u64,
    /// Fraction of the run that SMs spent in their final quotas, 0 if these came too late; `None`
    /// for results of several runs.
    pub in_place: Option<f64>,
    /// Number of SMs that exceeded their quotas until the end and never had the configuration.
    pub sms_short_of_it: Option<u32>,
    /// Number of cycles spent profiling.
    pub profile_cycles: u64,
    /// Fraction of the simulated cycles spent on placement, transition, profiling and decisions.
    pub overhead: Option<f64>,
    /// Warp instructions lost to flushes over all issued; `None` if no TB leaves before its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thrown_away: Option<f64>,
    /// Cycles within the run from the launches to the first quotas; `None` if that took none. New
    /// kernels wait meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement_cycles: Option<u64>,
    /// Number of cycles of all decisions; `None` if they took none.
    pub decision_cycles: Option<u64>,
    /// Part of `decision_cycles` within the run.
    pub decision_cycles_in_run: Option<u64>,
    /// Cycle of the last decision.
    pub decision_cycle: Option<u64>,
    /// Scores of the configurations, compared with their static runs.
    pub ranking: Option<Ranking>,
    /// Fractions of issue slots by class.
    #[serde(deserialize_with = "names::by_name")]
    pub issue_slots: BTreeMap<&'static str, f64>,
    /// Energy in joules; `None` if the GPU has no coefficients.
    pub energy_joules: Option<f64>,
    /// Energy results beyond the sum; `None` under the same condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyResult>,
    /// Cycles until all kernels had completed; `None` in a window.
    pub makespan_cycles: Option<u64>,
    /// Makespan of sequential execution over this one.
    pub makespan_speedup_sequential: Option<f64>,
    /// Left-over's makespan over this one, for the same launch order.
    pub makespan_speedup_left_over: Option<f64>,
    /// Left-over's makespan in reverse launch order over this one, if the plan has that order.
    pub makespan_speedup_left_over_reversed: Option<f64>,
    /// Results of a search for SMs, if the policy searches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchFound>,
    /// SM cycles by power state, if an SM was not active throughout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_states: Option<SmStateCycles>,
    /// Memory pipeline results, if the experiment requests them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryResult>,
    /// Time series of each kernel, if the run was sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesResult>,
}

/// Agreement of a policy's scores with the static runs of the configurations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranking {
    /// Configurations with scores, in the order of the decision.
    pub scores: Vec<(Vec<u32>, f64)>,
    /// Kendall's tau-b.
    pub kendall: Objectives<Option<f64>>,
    /// Spearman's rho.
    pub spearman: Objectives<Option<f64>>,
    /// Number of pairs of configurations that score and outcome order alike.
    pub concordant: Objectives<u64>,
    /// Number of pairs that they order in opposite ways.
    pub discordant: Objectives<u64>,
}

/// Means of a quantity over groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Means {
    /// Number of groups in which it exists.
    pub count: usize,
    /// Arithmetic mean.
    pub arithmetic: Option<f64>,
    /// Geometric mean; `None` if a value is not positive.
    pub geometric: Option<f64>,
    /// Mean half-width of the 95 % intervals of the values; `None` if all are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
}

/// Means over the groups of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryRow {
    /// Class of the groups; `all` for all groups.
    pub class: String,
    /// Number of groups.
    pub groups: usize,
    /// Policy, or `s-null`, `oracle-s`, `oracle-stp`.
    pub policy: String,
    /// Means by quantity.
    #[serde(deserialize_with = "names::by_name")]
    pub means: BTreeMap<&'static str, Means>,
    /// Largest S.
    pub most_speedup: Option<f64>,
    /// Number of groups with S below 1.
    pub below_one: usize,
    /// Number of groups with STP of 1 or less.
    pub not_worth_sharing: usize,
    /// Number of kernels, over all groups, that executed no instruction; `None` if all arrive at 0,
    /// and for references.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernels_without_progress: Option<usize>,
    /// Number of groups in which the decision came too late; means of decisions exclude them.
    pub too_late: usize,
    /// Number of groups in which the oracle's configuration for the objective was chosen.
    pub best_chosen: Objectives<usize>,
    /// Goodman and Kruskal's gamma over all pairs of configurations of all groups.
    pub gamma: Objectives<Option<f64>>,
}
