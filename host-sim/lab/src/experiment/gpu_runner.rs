//! The seam between experiments and the simulated GPU: what a run is asked for and what comes back.
//!
//! Experiments see plain data, so that they can be checked against a machine whose answers are known in closed form.

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

/// One simulation.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// What decides.
    pub control: Control,
    /// What runs, in kernel order.
    pub workloads: Vec<&'a Workload>,
    /// How.
    pub options: Options,
}

/// SMs that were given the same TB quotas.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Placement {
    /// The SMs, ascending.
    pub sms: Vec<u32>,
    /// TBs of each kernel per SM, in kernel order.
    pub config: Vec<u32>,
}

/// What a search for how many SMs each kernel needs has found ([`mias_policies::search`]).
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SearchFound {
    /// Which kernels ask for more than the chip beyond the SMs gives, in kernel order.
    pub memory_intensive: Vec<bool>,
    /// Windows that were measured, the one that classifies among them.
    pub windows: u32,
    /// Whether it came to its end within the run.
    pub done: bool,
    /// Each kernel's IPC over that alone on all SMs, as the firmware estimated it on the shares that it chose; empty under a policy that does not
    /// estimate it, and before it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub estimated_progress: Vec<f64>,
    /// The most active warps of each kernel of each warp scheduler, 0 for any number, under a policy that limits them; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_warps: Vec<u32>,
}

/// What the firmware saw of one configuration, summed over the SMs that had it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ProfiledConfig {
    /// TBs of each kernel per SM.
    pub config: Vec<u32>,
    /// SMs profiled with it.
    pub sms: u32,
    /// SM cycles.
    pub cycles: u64,
    /// Cycles in which the SM issued.
    pub issue_cycles: u64,
    /// Cycles in which no warp issued and one waited for memory.
    pub memory_stall_cycles: u64,
    /// Instructions, in the unit that IPC counts.
    pub instructions: u64,
    /// Load requests that left the SM.
    #[serde(alias = "misses")]
    pub load_requests: u64,
    /// Outstanding misses, summed over memory-stall cycles.
    #[serde(alias = "outstanding")]
    pub outstanding_misses: u64,
    /// What the policy's metric makes of it; larger is better, the scale is the metric's own. None if no SM finished its
    /// window.
    pub score: Option<f64>,
    /// Its score equals the winner's, compared exactly; true of the winner itself.
    pub tie: bool,
    /// All SMs tried it, so that its score is no guess of what they would do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trial: bool,
}

/// How the firmware came to its choice.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Decision {
    /// Cycle of the decision.
    pub cycle: u64,
    /// Every configuration profiled, in the order of rounds and then lexicographically; then those that all SMs tried, which are among them.
    pub profiled: Vec<ProfiledConfig>,
    /// Index into `profiled` of the configuration broadcast; none if that is not one of them.
    pub winner: Option<usize>,
    /// The configuration broadcast if it is not one of those profiled. With neither, the kernels got SMs of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Vec<u32>>,
}

impl Decision {
    /// TBs of each kernel per SM that it broadcasts; none if the kernels get SMs of their own.
    pub fn config(&self) -> Option<&[u32]> {
        let winner = self.winner.and_then(|winner| self.profiled.get(winner)).map(|profiled| &profiled.config);
        winner.or(self.chosen.as_ref()).map(Vec::as_slice)
    }
}

/// The time of decisions, all of a run together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DecisionTime {
    /// Decisions; each round of profiling ends with one.
    pub decisions: u32,
    /// Instructions of the microcontroller, from the interrupt to the commit of the quotas.
    pub instructions: u64,
    /// Core cycles in which it executes them.
    pub cycles: u64,
    /// Of these, the cycles after the end of the run: the last decision was not over by then.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beyond_end_cycles: u64,
    /// Instructions from the interrupts that collected launches to the commit of the first quotas, where that takes time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub placement_instructions: u64,
    /// Core cycles within the run in which it executes them. New kernels do not run meanwhile.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub placement_cycles: u64,
    /// Times that the firmware has looked at the counters of memory issue, where that takes time.
    #[serde(default, skip_serializing_if = "is_none")]
    pub memory_limits: u32,
    /// Instructions of these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub memory_limit_instructions: u64,
    /// Core cycles in which it executes them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub memory_limit_cycles: u64,
    /// Times that the firmware has looked at how busy the chip was, to say how many extra TBs there may be, where that takes time.
    #[serde(default, skip_serializing_if = "is_none")]
    pub context_looks: u32,
    /// Instructions of these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub context_instructions: u64,
    /// Core cycles in which it executes them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub context_cycles: u64,
    /// Times that the firmware has chosen victims, where that takes time.
    #[serde(default, skip_serializing_if = "is_none")]
    pub preemptions: u32,
    /// Instructions of these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub preemption_instructions: u64,
    /// Core cycles in which it executes them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub preemption_cycles: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // What serde calls takes a reference.
fn is_none(times: &u32) -> bool {
    *times == 0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // What serde calls takes a reference.
fn is_zero(cycles: &u64) -> bool {
    *cycles == 0
}

impl DecisionTime {
    /// The cycles within the run.
    pub fn in_run_cycles(&self) -> u64 {
        self.cycles.saturating_sub(self.beyond_end_cycles)
    }
}

/// How much of a run was spent in the placement that it ended with.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct InPlace {
    /// Share of all SM cycles since each SM held no TB beyond its last quotas, 0..=1.
    pub share: f64,
    /// SMs that hold one still at the end: they never had the configuration that is printed.
    pub sms_short_of_it: u32,
}

/// Counts of all SMs together, whichever kernel they ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmTotals {
    /// SM cycles.
    pub cycles: u64,
    /// SM cycles in which the L1 refused a look-up.
    pub lsu_stall_cycles: u64,
    /// MSHR entries in use, summed over cycles.
    pub outstanding_cycles: u64,
    /// Issue slots (scheduler-cycles) by what became of them.
    pub issue_slots: IssueSlots,
}

/// How often instructions are noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Core cycles between two samples, at least 1.
    pub every_cycles: u64,
    /// No sample after this cycle.
    pub until_cycle: u64,
}

/// Instructions up to a cycle.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sample {
    /// Core cycle.
    pub cycle: u64,
    /// Warp and thread instructions of each workload so far.
    pub insts: Vec<(u64, u64)>,
    /// Accesses of the L1s by each workload so far; empty unless [`Options::sample_cycles`] asks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub l1_accesses: Vec<u64>,
}

/// What a run has cost up to a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnergySample {
    /// Core cycle.
    pub cycle: u64,
    /// From cycle 0 on.
    pub energy: EnergyReport,
}

/// What a run gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Core cycles that the counts are of.
    pub cycles: u64,
    /// It ended before the window, and its counts are estimates; none if all was simulated.
    pub estimate: Option<Estimate>,
    /// Per workload.
    pub launches: Vec<LaunchStats>,
    /// All SMs together.
    pub sms: SmTotals,
    /// Quotas at the end; empty if the policy sets none.
    pub placement: Vec<Placement>,
    /// Cycles in which SMs were on their way to new quotas.
    pub transition_cycles: u64,
    /// The run ended before the firmware had placed what it was about to: it still profiled, or decided.
    pub unsettled: bool,
    /// How much of the run was spent in `placement`; nothing if it is `unsettled`.
    pub in_place: InPlace,
    /// Cycles in which the firmware profiled.
    pub profile_cycles: u64,
    /// The time of decisions; none if they took none.
    pub decision_time: Option<DecisionTime>,
    /// The last decision, if the policy decides by measuring.
    pub decision: Option<Decision>,
    /// What the last search for SMs found; none if the policy searches for none.
    pub search: Option<SearchFound>,
    /// What happened at the register block, in order; empty unless the machine was told to record it.
    pub activity: Vec<Activity>,
    /// The firmware's register accesses; none unless the machine was told to record them.
    pub recording: Option<Recording>,
    /// How an image in QEMU and the firmware in this process, which follows it, parted. From there on no decision of the image is
    /// known.
    pub parted: Option<String>,
    /// Bits of the faults that the register block had raised by the end ([`super::faults`]).
    pub faults: u32,
    /// Who owns which ways of the L1s, by SM; none where they are shared.
    pub l1_ways: Option<WaysStats>,
    /// How often there was something to choose where an off-chip memory instruction issued; none where nothing holds any back.
    pub memory_choices: Option<MemoryChoices>,
    /// Limits of memory instructions in flight at the end, by kernel slot; empty where there are none.
    pub memory_limits: Vec<MemoryLimits>,
    /// Likewise of the L2, by slice.
    pub l2_ways: Option<WaysStats>,
    /// TBs beyond those that fit, launches in the order of `launches`; empty where a machine takes none.
    pub contexts: Vec<OversubscriptionStats>,
    /// The same by SM, of all launches; empty where a machine takes none.
    pub sm_contexts: Vec<OversubscriptionCounts>,
    /// What moved on SMs, in order; empty unless the machine was told to note it, and contexts are switched.
    pub context_log: ContextLog,
    /// What SMs were, and for how long; none if every SM was active all the time.
    pub sm_states: Option<SmStateCycles>,
    /// What it cost, launches in the order of `launches`; none if the machine has no `[energy]`.
    pub energy: Option<EnergyReport>,
    /// The same over time, in order; empty unless the machine was told to note it, and has `[energy]`.
    pub energy_samples: Vec<EnergySample>,
    /// When each kernel had its room; empty where nobody is preempted and nobody is before others.
    pub room: Vec<PlacementTimes>,
    /// TBs that were made to leave, in the order of the commands.
    pub preemptions: Vec<Preemption>,
    /// How the firmware chose them; empty unless the machine was told to keep that.
    pub victims: Vec<VictimChoice>,
    /// Instructions over time; empty unless the machine was told to note them.
    pub samples: Vec<Sample>,
    /// What became of requests for room, by scheme and limit.
    pub requested: Vec<Requested>,
    /// What became of the launches of a queue, in the order of their arrival; empty where there is none.
    pub queued: Vec<QueuedLaunch>,
}

impl Outcome {
    /// The configuration that all SMs share; none if they differ or the policy sets none.
    pub fn config(&self) -> Option<&[u32]> {
        match self.placement.as_slice() {
            [one] => Some(&one.config),
            _ => None,
        }
    }
}

/// Why a run gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The workload cannot run on this machine, or a kernel that is executed while it runs failed; the message names kernel and resource.
    #[error("{0}")]
    Workload(String),
    /// The simulation came to a stop: who waits for what.
    #[error("the simulation is stuck: {0}")]
    Stuck(String),
    /// The firmware image could not be run, or stopped; the message says what to do.
    #[error("{0}")]
    Firmware(String),
    /// Somebody asked to stop; see [`crate::cancel::Cancel`].
    #[error("interrupted")]
    Interrupted,
}

/// Something that can run workloads.
pub trait GpuRunner: Sync {
    /// The same machine with other values in some fields of its file.
    ///
    /// # Errors
    /// [`RunError::Workload`] if there is no such machine; the message says why.
    fn changed(&self, fields: &[Field]) -> Result<Box<dyn GpuRunner + '_>, RunError> {
        let names: Vec<String> = fields.iter().map(Field::name).collect();
        Err(RunError::Workload(format!("this machine has no fields {}", names.join(", "))))
    }

    /// Most TBs of `workload` that fit one SM together, at least 1.
    ///
    /// # Errors
    /// [`RunError::Workload`] if not even one fits, with the resource that is short.
    fn max_tbs(&self, workload: &Workload) -> Result<u32, RunError>;

    /// Every maximal configuration with TBs of at least two of `workloads`, in lexicographic order.
    ///
    /// # Errors
    /// [`RunError::Workload`] as for [`GpuRunner::max_tbs`].
    fn configurations(&self, workloads: &[&Workload]) -> Result<Vec<Vec<u32>>, RunError>;

    /// Runs one simulation; `progress` is called now and then with the core cycles done since its last call.
    ///
    /// # Errors
    /// [`RunError`].
    fn run(&self, run: &Run<'_>, progress: &(dyn Fn(u64) + Sync)) -> Result<Outcome, RunError>;

    /// Runs that differ in control only. What is common to some may be simulated once; outcomes are those of [`GpuRunner::run`].
    /// `done` is told the place of a run and its outcome as soon as there is one, from any thread.
    fn run_together(&self, runs: &[Run<'_>], progress: &(dyn Fn(u64) + Sync), done: &(dyn Fn(usize, Result<Outcome, RunError>) + Sync)) {
        runs.iter().enumerate().for_each(|(index, run)| done(index, self.run(run, progress)));
    }
}
