//! GPU files: every parameter of the GPU that the timing model uses.
//!
//! Each GPU has one TOML file in `configs/gpus/`. Each field there states its source or the
//! word "assumption". Units are in the field names. Unknown keys are errors, and all fields except
//! optional features are required, so a file is complete.

mod active_warps;
mod caches;
mod check;
mod dram;
mod dram_scheduler;
mod energy;
mod limits;
mod memory_issue;
mod microcontroller;
mod oversubscription;
mod partition;
mod power_gating;
mod preemption;
mod ranges;
mod texture;

pub use active_warps::WarpLimit;
pub use caches::{CarveOut, L1Config, L1Lookup, L1Write, L2Config, L2Queues, L2WriteMiss, SetIndex};
pub use check::ConfigError;
pub(crate) use check::LEAST_FETCHING_MISS_QUEUE;
pub use dram::{AddressMap, DramConfig, DramTiming};
pub use dram_scheduler::{DramOrder, DramSchedulerConfig, MOST_CAP as MOST_DRAM_CAP, WHOLE_SHARE};
pub use energy::{EnergyConfig, LaneEnergies};
pub use memory_issue::{
    BROADCAST_CYCLES, INTERVAL_CYCLES, InFlightLimit, MemoryIssueConfig, MemoryIssueFrom, MemoryOrder, NoFails, StaticLimit, Unlimited,
};
pub use microcontroller::{MicrocontrollerConfig, MicrocontrollerCore};
pub use oversubscription::{
    CONTEXT_BYTES_PER_CYCLE, CONTEXT_INTERVAL_CYCLES, ContextsInL1, DUET_STATE_BYTES, DeadlockAvoidance, OversubscriptionConfig,
    OversubscriptionController, OversubscriptionMechanism, SUSTAINED_PERMILLE, TABLE_TBS, TABLE_WARPS, VIRTUAL_STATE_BYTES,
};
pub use partition::{MissDivision, MissResourcesConfig, Partition, PartitionConfig};
pub use power_gating::PowerGatingConfig;
pub use preemption::{PreemptionConfig, ResumeOn, SelectorConfig, SwitchModel, WARP_STATE_BYTES};
pub use ranges::Range;
pub use texture::TextureCacheConfig;

use serde::{Deserialize, Serialize};

/// GPU file of one GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// Short name, equal to the file's stem.
    pub name: String,
    /// One line that names the GPU and the source of its numbers.
    pub description: String,
    /// Clock domains.
    pub clocks: Clocks,
    /// Streaming multiprocessors (SMs).
    pub sm: SmConfig,
    /// First-level data cache, one per SM.
    pub l1: L1Config,
    /// Crossbar between SMs and L2 slices.
    pub interconnect: InterconnectConfig,
    /// Second-level cache, sliced per memory channel.
    pub l2: L2Config,
    /// Device memory.
    pub dram: DramConfig,
    /// Kernel launch.
    pub launch: LaunchConfig,
    /// GPU constants for the scheduler firmware.
    pub scheduler: SchedulerConfig,
    /// Microcontroller that runs the scheduler firmware.
    pub microcontroller: MicrocontrollerConfig,
    /// Energy per event and background power; absent: no energy is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyConfig>,
}

/// Clock frequencies in kHz.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// Clock of the SMs, the unit of simulated time.
    pub core_khz: u32,
    /// Clock of the crossbar.
    pub interconnect_khz: u32,
    /// Clock of the L2 slices.
    pub l2_khz: u32,
    /// Clock of DRAM commands.
    pub dram_khz: u32,
}

/// Order in which a warp scheduler considers its warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WarpSchedulerKind {
    /// Greedy then oldest (sources.md D55).
    Gto,
    /// Loose round robin.
    Lrr,
    /// Round robin among kernels, and greedy then oldest among the warps of the selected kernel.
    KernelLrr,
}

/// Rotation of the sub-core that issues first in a cycle (sources.md D172).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IssueTurns {
    /// Every cycle.
    #[default]
    EveryCycle,
    /// Every cycle in which the SM has TBs; the first such cycle begins with sub-core 0.
    WithTbs,
}

impl IssueTurns {
    /// True for the default, which a file may omit.
    fn is_usual(&self) -> bool {
        *self == IssueTurns::EveryCycle
    }
}

/// Streaming multiprocessors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SmConfig {
    /// Number of SMs on the chip.
    pub count: u32,
    /// Maximum resident threads per SM.
    pub threads: u32,
    /// Maximum resident TBs per SM.
    pub tbs: u32,
    /// 32-bit registers per SM.
    pub registers: u32,
    /// Allocation granule of registers per thread: their number is rounded up to a multiple of it.
    pub register_granule: u32,
    /// Shared memory per SM in bytes.
    pub shared_bytes: u32,
    /// Allocation granule of shared memory per TB in bytes: its size is rounded up to a multiple of
    /// it.
    pub shared_granule_bytes: u32,
    /// Number of sub-cores. Each has one scheduler, which issues one warp instruction per cycle.
    pub sub_cores: u32,
    /// Warp scheduling order.
    pub warp_scheduler: WarpSchedulerKind,
    /// Rotation of the sub-core that issues first; absent: every cycle.
    #[serde(default, skip_serializing_if = "IssueTurns::is_usual")]
    pub issue_turns: IssueTurns,
    /// Operand-collector units over all sub-cores.
    pub collector_units: u32,
    /// Register-file banks over all sub-cores.
    pub register_banks: u32,
    /// Rounds of operand collection per cycle.
    pub register_rounds: u32,
    /// Number of results that an SM takes per cycle from units other than the load/store unit;
    /// absent or 0: no limit.
    #[serde(default, skip_serializing_if = "is_off")]
    pub result_buses: u32,
    /// Shared-memory latency in cycles.
    pub shared_latency: u32,
    /// Cycles of the texture unit for a fetch of texels or a load from a surface, in addition to
    /// the L1; absent or 0: none.
    #[serde(default, skip_serializing_if = "is_off")]
    pub texel_latency: u32,
    /// Texture cache; absent: texels come through the L1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texture_cache: Option<TextureCacheConfig>,
    /// Restrictions of memory instructions where kernels share an SM; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_issue: Option<MemoryIssueConfig>,
    /// Maximum number of active warps per warp scheduler of the kernel in each slot: the oldest
    /// that wait at no barrier. Slots beyond the list have no limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_warps: Vec<WarpLimit>,
    /// Instruction buffers; absent: the next instruction is always available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch: Option<FetchConfig>,
    /// Preemption of TBs; absent: TBs leave only when they have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemption: Option<PreemptionConfig>,
    /// Oversubscription: TBs beyond those that fit, with contexts in spare storage while they wait;
    /// absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oversubscription: Option<OversubscriptionConfig>,
    /// Power gating of empty SMs; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_gating: Option<PowerGatingConfig>,
    /// Latency and initiation interval per unit.
    pub units: Units,
    /// Constant cache; absent: it is perfect, and each constant load takes the load/store unit for
    /// one cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant_cache: Option<ConstantCacheConfig>,
}

/// Instruction fetch of an SM, from a perfect cache (sources.md D122).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FetchConfig {
    /// Number of warps whose buffers are filled per cycle, round robin over the SM's warps.
    pub warps_per_cycle: u32,
    /// Instructions in a warp's buffer. It is filled when it is empty.
    pub buffer: u32,
}

/// Constant cache of an SM. It always hits: serialization of different words is modeled, and
/// capacity misses are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConstantCacheConfig {
    /// Cycles from a load's last word to its register write.
    pub latency: u32,
    /// Cycles of the load/store unit per distinct word that a load's lanes read (sources.md D113).
    pub word_cycles: u32,
}

/// True for an option that is off and may be omitted.
fn is_off(value: &u32) -> bool {
    *value == 0
}

/// Execution units of a sub-core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Units {
    /// Integer.
    pub int: UnitTiming,
    /// Single precision.
    pub sp: UnitTiming,
    /// Double precision.
    pub dp: UnitTiming,
    /// Special functions.
    pub sfu: UnitTiming,
    /// Tensor.
    pub tensor: UnitTiming,
    /// Branch.
    pub branch: UnitTiming,
    /// Texture.
    pub texture: UnitTiming,
    /// Uniform data path.
    pub uniform: UnitTiming,
}

/// Timing of one pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnitTiming {
    /// Cycles from dispatch to result.
    pub latency: u32,
    /// Cycles between two dispatches of the same sub-core.
    pub interval: u32,
}

/// Crossbar between SMs and L2 slices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InterconnectConfig {
    /// Bytes per flit.
    pub flit_bytes: u32,
    /// Bytes of a packet in addition to its sectors. With them, a packet takes as many flits as its
    /// bytes need, and these occupy its ports one after the other; absent or 0: every packet is one
    /// flit.
    #[serde(default, skip_serializing_if = "is_off")]
    pub header_bytes: u32,
    /// Number of packets that each input port can hold.
    pub input_buffer: u32,
    /// Number of packets that each output port can hold.
    pub output_buffer: u32,
    /// Arbitration among the inputs of an output; absent: round robin.
    #[serde(default, skip_serializing_if = "Arbiter::is_usual")]
    pub arbiter: Arbiter,
}

impl InterconnectConfig {
    /// Number of flits of a packet with this many sectors.
    pub(crate) fn flits(&self, sectors: u32) -> u32 {
        if self.header_bytes == 0 { 1 } else { (self.header_bytes + ranges::SECTOR_BYTES * sectors).div_ceil(self.flit_bytes) }
    }
}

/// Arbitration among the inputs of a crossbar output (sources.md D65).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Arbiter {
    /// First requesting input after the one served last.
    #[default]
    RoundRobin,
    /// First requesting input from the second after the one served last; after the last two inputs,
    /// from the first again. Of neighbors that all request, every other one waits until no other
    /// input requests.
    SkipOne,
    /// Random choice among the requesting inputs (Lin et al. 2018, section 3.1), the same in every
    /// run.
    Random,
    /// Round robin with outputs served one after the other. An input whose packet has just left may
    /// send its next one to a later output in the same cycle.
    SeveralPerInput,
}

impl Arbiter {
    /// Distance from the input served last to the first candidate; unused by the random arbiter.
    pub(crate) fn step(self) -> u32 {
        match self {
            Arbiter::RoundRobin | Arbiter::SeveralPerInput | Arbiter::Random => 1,
            Arbiter::SkipOne => 2,
        }
    }

    /// True for the default, which a file may omit.
    fn is_usual(&self) -> bool {
        *self == Arbiter::RoundRobin
    }
}

/// Kernel launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LaunchConfig {
    /// Core cycles from a launch until its first TB may issue.
    pub latency_cycles: u32,
}

/// GPU constants of the scheduler firmware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SchedulerConfig {
    /// Coefficient of the metric Linear (Nasef 2023, eq. 3.7) in per-SM units as Q16.16: stall
    /// cycles per accumulated outstanding access.
    pub linear_coefficient_q16: u32,
    /// R squared of the least-squares fit of the coefficient, in thousandths.
    pub linear_r2_permille: u32,
    /// Core cycles per SM of the quota bus after a commit, 0 to 4,096. 0 or absent: all SMs have
    /// their quotas in the cycle of the commit.
    #[serde(default, skip_serializing_if = "is_off")]
    pub commit_cycles_per_sm: u32,
}
