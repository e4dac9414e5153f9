//! What an evaluation found: every number of the result documents, in the types that they are written from.
//! docs/results-format.md describes each field.

use super::blocks::Report;
use super::energy::EnergyResult;
use super::half_widths::HalfWidths;
use super::memory::{MemoryAsked, MemoryResult, SeriesResult};
use super::names::{self, Name};
use super::off_sm::OffSm;
use super::queue::QueueResult;
use super::requests::RequestsResult;
use super::used::Used;
use crate::experiment::gpu_runner::{Placement, SearchFound};
use crate::experiment::placement_latency::Latency;
use mias_hw_model::gpu::{OversubscriptionStats, SmStateCycles};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Version of `results.json` and `results.csv`; grows with every change that a reader could trip over.
pub const SCHEMA_VERSION: u32 = 1;

/// A value for each of the two objectives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Objectives<T> {
    /// The thesis' speedup.
    pub s: T,
    /// Weighted speedup.
    pub stp: T,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // What serde calls takes a reference.
pub(super) fn is_zero(cycle: &u64) -> bool {
    *cycle == 0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // What serde calls takes a reference.
fn is_none_of_them(count: &usize) -> bool {
    *count == 0
}

/// The whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of program and model.
    pub model: String,
    /// The plan.
    pub plan: PlanNote,
    /// Every experiment in every setting, in the order of the plan.
    pub studies: Vec<StudyResult>,
}

/// The plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanNote {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Fingerprint of its text.
    pub hash: String,
    /// What its report shows, where it says so.
    #[serde(default, skip_serializing_if = "Report::is_empty")]
    pub report: Report,
}

/// An experiment in one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyResult {
    /// The experiment's name.
    pub experiment: String,
    /// Its title.
    pub title: String,
    /// Key and value of every parameter that the experiment varies.
    pub setting: Vec<(String, String)>,
    /// The machine, with the fields that the plan changes.
    pub gpu: String,
    /// Fingerprint of its values.
    pub gpu_hash: String,
    /// Window in core cycles; none: until all kernels have completed.
    pub cycles: Option<u64>,
    /// Cycles of a profiling window.
    pub profile_cycles: u32,
    /// How SMs change configuration.
    #[serde(deserialize_with = "names::one")]
    pub transition: Name,
    /// The time that decisions take.
    #[serde(deserialize_with = "names::one")]
    pub latency: Name,
    /// The instruction that IPC counts.
    #[serde(deserialize_with = "names::one")]
    pub ipc_unit: Name,
    /// Whether kernels that end start again.
    pub relaunch: bool,
    /// Over what IPC counts, where that is not the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    /// Core cycle at which the last kernel of each group arrives.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub arrive: u64,
    /// Whether traces keep the addresses that they were recorded with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub share_memory: bool,
    /// Whether what the programs of traces had copied to the device is in the L2 at cycle 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_l2: bool,
    /// How well runs were to be known, where they may end before their window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
    /// What requests for room came to, each kernel's first and then those over all; empty where there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestsResult>,
    /// What a queue of launches came to, by group and policy; empty where there was none. Then there are no `groups`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<QueueResult>,
    /// Levels of scheduling that the firmware set beside the policy; none if it set none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<String>,
    /// Kernels alone, in the experiment's order.
    pub kernels: Vec<AloneResult>,
    /// Kernels together.
    pub groups: Vec<GroupResult>,
    /// Means by class of group and policy.
    pub summary: Vec<SummaryRow>,
}

/// A kernel alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AloneResult {
    /// Its name.
    pub name: String,
    /// Fingerprint of its trace.
    pub trace_hash: String,
    /// Core cycle at which it arrives.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub arrival_cycle: u64,
    /// Key of the run.
    pub run: String,
    /// Most TBs per SM.
    pub max_tbs: u32,
    /// Instructions per cycle.
    pub ipc: f64,
    /// Half of the 95 % interval of `ipc`; none if the run was simulated in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipc_half_width: Option<f64>,
    /// Core cycles simulated, where the run ended before its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_cycles: Option<u64>,
    /// Core cycles that the counts are of.
    pub cycles: u64,
    /// Shares of issue slots by class.
    #[serde(deserialize_with = "names::by_name")]
    pub issue_slots: BTreeMap<&'static str, f64>,
    /// Joules; none if the machine has no coefficients.
    pub energy_joules: Option<f64>,
    /// What that says besides its sum; under the same condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyResult>,
    /// Cycle, and IPC from the point before it to there.
    pub curve: Vec<(u64, f64)>,
    /// TBs per SM, and IPC with no more than that; only where the experiment asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalability: Vec<(u32, f64)>,
    /// What it met in the memory pipeline, where the experiment asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryResult>,
    /// What its instructions ask of memory, where the experiment asks for that and runs kernels alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<MemoryAsked>,
    /// What it asks of the chip beyond the SMs, where the experiment asks for that and runs kernels alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_sm: Option<OffSm>,
    /// What it uses of each part of the machine, under the same condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Used>,
    /// Its TBs beyond those that fit, where the machine takes any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<OversubscriptionStats>,
    /// What each kernel did in stretches of it, where the run was sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesResult>,
}

/// Kernels together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupResult {
    /// Names in launch order.
    pub kernels: Vec<String>,
    /// C and M of the kernels, memory intensive first; `other` where one has no type.
    pub class: String,
    /// Instructions per cycle alone, in launch order.
    pub isolated_ipc: Vec<f64>,
    /// What running only the fastest kernel would score in S.
    pub s_null: Option<f64>,
    /// Cycles of running the kernels one after the other, each to its end; none in a window.
    pub sequential_cycles: Option<u64>,
    /// The best configuration for each objective.
    pub oracle: Objectives<Option<OracleResult>>,
    /// Static runs of every maximal configuration.
    pub configurations: Vec<ConfigurationResult>,
    /// In the plan's order.
    pub policies: Vec<PolicyResult>,
}

/// The best configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OracleResult {
    /// TBs of each kernel per SM.
    pub config: Vec<u32>,
    /// The objective.
    pub value: f64,
    /// Half of its 95 % interval; none if all that it is made of was simulated in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
    /// How many other configurations may be as good: intervals do not tell which is better.
    #[serde(default, skip_serializing_if = "is_none_of_them")]
    pub rivals: usize,
}

/// The four metrics of a co-run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricValues {
    /// S, the thesis' speedup.
    #[serde(deserialize_with = "number")]
    pub speedup: Option<f64>,
    /// Weighted speedup.
    #[serde(deserialize_with = "number")]
    pub stp: Option<f64>,
    /// Average normalised turnaround time.
    #[serde(deserialize_with = "number")]
    pub antt: Option<f64>,
    /// Smallest over largest normalised IPC.
    #[serde(deserialize_with = "number")]
    pub fairness: Option<f64>,
}

/// A number of a structure that is flattened into another. Where another crate of the build asks serde_json for its feature
/// `arbitrary_precision`, such numbers come as what only serde_json's own type reads.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Ok(Option::<serde_json::Number>::deserialize(from)?.and_then(|number| number.as_f64()))
}

/// A static run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationResult {
    /// TBs of each kernel per SM.
    pub config: Vec<u32>,
    /// Key of the run.
    pub run: String,
    /// Against the kernels alone.
    #[serde(flatten)]
    pub metrics: MetricValues,
    /// Half-widths of the 95 % intervals of these metrics; none if all that they are made of was simulated in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_widths: Option<MetricValues>,
    /// Core cycles simulated, where the run ended before its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_cycles: Option<u64>,
    /// Instructions per cycle of each kernel.
    pub ipc: Vec<f64>,
    /// Shares of issue slots by class.
    #[serde(deserialize_with = "names::by_name")]
    pub issue_slots: BTreeMap<&'static str, f64>,
    /// Joules; none if the machine has no coefficients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_joules: Option<f64>,
}

/// A policy's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyResult {
    /// The policy.
    #[serde(deserialize_with = "names::one")]
    pub policy: Name,
    /// Key of the run; of several runs, with a plus between them.
    pub run: String,
    /// Nothing was run: it is the run of the first kernel alone, which provably is the same, or follows from all runs alone.
    pub derived: bool,
    /// TBs of each kernel per SM; none where SMs differ.
    pub config: Option<Vec<u32>>,
    /// Quotas where SMs differ.
    pub placement: Vec<Placement>,
    /// Against the kernels alone.
    #[serde(flatten)]
    pub metrics: MetricValues,
    /// Instructions per cycle of each kernel.
    pub ipc: Vec<f64>,
    /// The same over alone.
    pub normalized_ipc: Vec<Option<f64>>,
    /// How long each kernel waited for its room, in kernel order; empty where nobody is preempted and nobody is before others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency: Vec<Latency>,
    /// Half-widths of 95 % intervals; none if all that this is made of was simulated in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_widths: Option<HalfWidths>,
    /// Core cycles simulated, where the run ended before its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_cycles: Option<u64>,
    /// The window ended before what the policy chose was in effect: what ran is not what it chose.
    pub too_late: bool,
    /// What it had chosen by then, where that came too late; `config` and `placement` are empty then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_late_config: Option<Vec<u32>>,
    /// Lost by the choice of configuration, be it in effect or too late.
    pub regret: Objectives<Option<f64>>,
    /// Lost in all.
    pub end_to_end_regret: Objectives<Option<f64>>,
    /// Cycles in transition.
    pub transition_cycles: u64,
    /// Share of the run that SMs spent in the quotas that it ended with, 0 where these came too late; none where it is of several runs.
    pub in_place: Option<f64>,
    /// SMs that held more than their quotas to the end: they never had the configuration.
    pub sms_short_of_it: Option<u32>,
    /// Cycles of profiling.
    pub profile_cycles: u64,
    /// Placing, transition, profiling and decisions, as far as they are in the run, over all cycles simulated.
    pub overhead: Option<f64>,
    /// Warp instructions that flushes threw away, over all that were issued; none where no TB leaves before its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thrown_away: Option<f64>,
    /// Cycles within the run from the launches to the first quotas; none if that took none. New kernels do not run meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement_cycles: Option<u64>,
    /// Cycles that the decisions took; none if they took none.
    pub decision_cycles: Option<u64>,
    /// Of these, the cycles within the run.
    pub decision_cycles_in_run: Option<u64>,
    /// Cycle of the last decision.
    pub decision_cycle: Option<u64>,
    /// What the policy made of each configuration, and what that was worth.
    pub ranking: Option<Ranking>,
    /// Shares of issue slots by class.
    #[serde(deserialize_with = "names::by_name")]
    pub issue_slots: BTreeMap<&'static str, f64>,
    /// Joules; none if the machine has no coefficients.
    pub energy_joules: Option<f64>,
    /// What that says besides its sum; under the same condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyResult>,
    /// Cycles until all kernels had completed; none in a window.
    pub makespan_cycles: Option<u64>,
    /// Makespan of the kernels one after the other over this one.
    pub makespan_speedup_sequential: Option<f64>,
    /// Left-over's makespan over this one, kernels launched in the same order.
    pub makespan_speedup_left_over: Option<f64>,
    /// The same for left-over with the kernels launched the other way round, where the plan has that.
    pub makespan_speedup_left_over_reversed: Option<f64>,
    /// What a search for SMs found, where the policy searches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchFound>,
    /// SM cycles by state, where an SM was not active all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_states: Option<SmStateCycles>,
    /// What it met in the memory pipeline, where the experiment asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryResult>,
    /// What each kernel did in stretches of it, where the run was sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesResult>,
}

/// How a policy's scores order the configurations, against what static runs of them achieve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// Configuration and score, in the order of the decision.
    pub scores: Vec<(Vec<u32>, f64)>,
    /// Kendall's tau-b.
    pub kendall: Objectives<Option<f64>>,
    /// Spearman's rho.
    pub spearman: Objectives<Option<f64>>,
    /// Pairs of configurations that score and outcome order alike.
    pub concordant: Objectives<u64>,
    /// Pairs that they order the other way round.
    pub discordant: Objectives<u64>,
}

/// Both means of a quantity over groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Means {
    /// Groups in which it exists.
    pub count: usize,
    /// Arithmetic.
    pub arithmetic: Option<f64>,
    /// Geometric; none where a value is not positive.
    pub geometric: Option<f64>,
    /// Mean half-width of the 95 % intervals of the values; none where all are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
}

/// Means over the groups of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// The class; `all` for all groups.
    pub class: String,
    /// Number of groups.
    pub groups: usize,
    /// A policy, or `s-null`, `oracle-s`, `oracle-stp`.
    pub policy: String,
    /// By quantity.
    #[serde(deserialize_with = "names::by_name")]
    pub means: BTreeMap<&'static str, Means>,
    /// Largest S.
    pub most_speedup: Option<f64>,
    /// Groups with S below 1.
    pub below_one: usize,
    /// Groups with STP of 1 or less.
    pub not_worth_sharing: usize,
    /// Kernels, over all groups, that executed no instruction; none where all arrive at 0, and for what is no policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernels_without_progress: Option<usize>,
    /// Groups in which the decision came too late; means of decisions leave them out.
    pub too_late: usize,
    /// Groups in which the oracle's configuration for the objective was chosen.
    pub best_chosen: Objectives<usize>,
    /// Goodman and Kruskal's gamma over all pairs of configurations of all groups.
    pub gamma: Objectives<Option<f64>>,
}
