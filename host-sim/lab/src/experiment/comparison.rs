//! Results of a comparison: isolated runs, policies, the sweep and its best configurations.

use super::gpu_runner::{Decision, InPlace, Placement, SearchFound};
use super::placement_latency::Latency;
use super::policy::Policy;
use crate::metrics::Metrics;
use mias_hw_model::energy::Spent;
use mias_hw_model::gpu::SmStateCycles;

/// Results of one kernel run alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Isolated {
    /// Instructions per cycle.
    pub ipc: f64,
    /// Half-width of the 95 % interval of `ipc`; 0 if the run was simulated in full.
    pub half_width: f64,
    /// Maximum number of TBs per SM.
    pub max_tbs: u32,
}

/// Results of one kernel in a shared run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelResult {
    /// Instructions per cycle.
    pub ipc: f64,
    /// IPC over isolated IPC; `None` if the kernel made no progress alone.
    pub normalized_ipc: Option<f64>,
    /// Time until its TBs were placed; `None` without preemption and priorities.
    pub latency: Option<Latency>,
    /// Fraction of its warp instructions lost with flushed TBs, 0..=1; `None` where none were lost.
    pub thrown_away: Option<f64>,
}

/// Values for the two objectives, S and STP.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerObjective<T> {
    /// Speedup S of the thesis.
    pub s: T,
    /// System throughput (weighted speedup).
    pub stp: T,
}

/// Half-widths of 95 % intervals where runs ended before their window.
#[derive(Clone, Debug, PartialEq)]
pub struct HalfWidths {
    /// Half-width of each kernel's IPC.
    pub ipc: Vec<f64>,
    /// Half-widths of the metrics against isolated runs.
    pub metrics: Metrics,
    /// Half-widths of [`PolicyResult::decision_regret`].
    pub decision_regret: PerObjective<Option<f64>>,
    /// Half-widths of [`PolicyResult::end_to_end_regret`].
    pub end_to_end_regret: PerObjective<Option<f64>>,
}

/// Results of one policy on one set of kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyResult {
    /// Policy of the run.
    pub policy: Policy,
    /// TBs of each kernel per SM, in kernel order; `None` if SMs differ or the policy sets no
    /// quota.
    pub config: Option<Vec<u32>>,
    /// Quotas by SM where SMs differ.
    pub placement: Vec<Placement>,
    /// Metrics against isolated runs.
    pub metrics: Metrics,
    /// Uncertainty of the results; `None` if every run behind them was simulated in full.
    pub half_widths: Option<HalfWidths>,
    /// Number of core cycles simulated, where the run ended before its window.
    pub simulated_cycles: Option<u64>,
    /// Regret of the chosen configuration, in effect or too late; `None` if the sweep lacks it.
    pub decision_regret: PerObjective<Option<f64>>,
    /// Regret of the whole run, including profiling and transition.
    pub end_to_end_regret: PerObjective<Option<f64>>,
    /// Number of cycles spent in transition.
    pub transition_cycles: u64,
    /// Fraction of the run spent in `config` or `placement`; `None` if the result combines several
    /// runs.
    pub in_place: Option<InPlace>,
    /// Number of cycles spent profiling.
    pub profile_cycles: u64,
    /// Cycles from the collected launches to the first quotas, over all batches; `None` if that
    /// takes no time.
    pub placement_cycles: Option<u64>,
    /// Cycles from the interrupts that led to decisions to the decisions' effect; `None` if they
    /// take no time.
    pub decision_cycles: Option<u64>,
    /// Number of cycles until all kernels had completed, for runs until done.
    pub makespan_cycles: Option<u64>,
    /// Results of each kernel, in kernel order.
    pub kernels: Vec<KernelResult>,
    /// Last decision, with the configurations profiled for it.
    pub decision: Option<Decision>,
    /// Whether the window ended before the measured choice took effect, so that other quotas ran.
    pub too_late: bool,
    /// Configuration chosen by the end of the run, where the choice came too late.
    pub late_config: Option<Vec<u32>>,
    /// Difference between a firmware image and the firmware in this process
    /// ([`parted`](super::gpu_runner::Outcome::parted)).
    pub parted: Option<String>,
    /// Fault bits that the register block had raised by the end
    /// ([`faults`](super::gpu_runner::Outcome::faults)).
    pub faults: u32,
    /// Results of a search for SMs; `None` if the policy does not search.
    pub search: Option<SearchFound>,
    /// SM cycles by power state; `None` if every SM was active throughout.
    pub sm_states: Option<SmStateCycles>,
    /// Energy of the run; `None` if the GPU has no coefficients.
    pub energy: Option<Spent>,
    /// Number of core cycles that the energy covers.
    pub cycles: u64,
}

impl PolicyResult {
    /// Creates a result without a run: every quantity is zero or absent.
    pub fn of(policy: Policy) -> Self {
        PolicyResult {
            policy,
            config: None,
            placement: Vec::new(),
            metrics: Metrics::default(),
            half_widths: None,
            simulated_cycles: None,
            decision_regret: PerObjective::default(),
            end_to_end_regret: PerObjective::default(),
            transition_cycles: 0,
            in_place: None,
            profile_cycles: 0,
            placement_cycles: None,
            decision_cycles: None,
            makespan_cycles: None,
            kernels: Vec::new(),
            decision: None,
            too_late: false,
            late_config: None,
            parted: None,
            faults: 0,
            search: None,
            sm_states: None,
            energy: None,
            cycles: 0,
        }
    }
}

/// Configuration of the sweep with the metrics of its static run.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPoint {
    /// TBs of each kernel per SM.
    pub config: Vec<u32>,
    /// Metrics against isolated runs.
    pub metrics: Metrics,
    /// Half-widths of the 95 % intervals of `metrics`; `None` if every run behind them was
    /// simulated in full.
    pub half_widths: Option<Metrics>,
}

/// Best configuration of the sweep for one objective.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// TBs of each kernel per SM.
    pub config: Vec<u32>,
    /// Value of the objective.
    pub value: f64,
    /// Half-width of its 95 % interval; 0 if every run behind it was simulated in full.
    pub half_width: f64,
    /// Number of other configurations that the intervals do not tell from this one.
    pub rivals: usize,
}

/// Results of one comparison: isolated runs, policies and sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Isolated runs, in kernel order.
    pub isolated: Vec<Isolated>,
    /// Results of the policies, in the requested order.
    pub results: Vec<PolicyResult>,
    /// Value of S for running only the fastest kernel.
    pub s_null: Option<f64>,
    /// Static run of each configuration, in lexicographic order.
    pub sweep: Vec<SweepPoint>,
    /// Best configurations of the sweep; `None` if no two kernels fit together or the sweep is
    /// incomplete. Ties go to the first.
    pub oracle: PerObjective<Option<Best>>,
    /// Runs that had not finished at an interruption.
    pub missing: Missing,
}

/// Missing parts of an interrupted comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Missing {
    /// Policies without a result, in the requested order.
    pub policies: Vec<Policy>,
    /// Configurations missing from the sweep, in lexicographic order.
    pub configs: Vec<Vec<u32>>,
}

impl Missing {
    /// Returns whether nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty() && self.configs.is_empty()
    }
}
