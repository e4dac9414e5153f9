//! A GPU as data: every number of the machine that the timing model uses.
//!
//! One TOML file per machine in `configs/gpus/`; each field there carries its source or the word "assumption". Units are
//! in the field names. Unknown keys are errors, and all fields are required but those of options that can be off, so that
//! a file says everything.

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

/// A whole GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// Short name, equal to the file's stem.
    pub name: String,
    /// One line on what machine this is and where its numbers come from.
    pub description: String,
    /// Clock domains.
    pub clocks: Clocks,
    /// Streaming multiprocessors.
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
    /// Machine constants that the scheduler firmware is given.
    pub scheduler: SchedulerConfig,
    /// The processor that the scheduler firmware runs on.
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
    /// SMs, and the unit of simulated time.
    pub core_khz: u32,
    /// Crossbar.
    pub interconnect_khz: u32,
    /// L2 slices.
    pub l2_khz: u32,
    /// DRAM command clock.
    pub dram_khz: u32,
}

/// Order in which a scheduler considers its warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WarpSchedulerKind {
    /// Greedy then oldest (sources.md D55).
    Gto,
    /// Loose round robin.
    Lrr,
    /// Kernels take turns, and greedy then oldest among the warps of the kernel whose turn it is.
    KernelLrr,
}

/// When the turn to issue first in a cycle goes from a sub-core of an SM to the next (sources.md D172).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IssueTurns {
    /// Every cycle.
    #[default]
    EveryCycle,
    /// Every cycle in which the SM has TBs; the first of them begins with sub-core 0.
    WithTbs,
}

impl IssueTurns {
    /// What a file need not say.
    fn is_usual(&self) -> bool {
        *self == IssueTurns::EveryCycle
    }
}

/// Streaming multiprocessors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SmConfig {
    /// SMs on the chip.
    pub count: u32,
    /// Resident threads per SM.
    pub threads: u32,
    /// Resident TBs per SM.
    pub tbs: u32,
    /// 32-bit registers per SM.
    pub registers: u32,
    /// Registers per thread are rounded up to a multiple of this.
    pub register_granule: u32,
    /// Shared memory per SM in bytes.
    pub shared_bytes: u32,
    /// Shared memory per TB is rounded up to a multiple of this many bytes.
    pub shared_granule_bytes: u32,
    /// Sub-cores, each with one scheduler that issues one warp instruction per cycle.
    pub sub_cores: u32,
    /// Warp scheduling order.
    pub warp_scheduler: WarpSchedulerKind,
    /// When the sub-core that issues first changes; absent: every cycle.
    #[serde(default, skip_serializing_if = "IssueTurns::is_usual")]
    pub issue_turns: IssueTurns,
    /// Operand-collector units over all sub-cores.
    pub collector_units: u32,
    /// Register-file banks over all sub-cores.
    pub register_banks: u32,
    /// Rounds of operand collection per cycle.
    pub register_rounds: u32,
    /// Results of units other than the load/store unit that an SM takes in a cycle; absent or 0: any number.
    #[serde(default, skip_serializing_if = "is_off")]
    pub result_buses: u32,
    /// Shared-memory latency in cycles.
    pub shared_latency: u32,
    /// Cycles that the texture unit takes for a fetch of texels or a load from a surface, on top of the L1; absent or 0: none.
    #[serde(default, skip_serializing_if = "is_off")]
    pub texel_latency: u32,
    /// Texture cache; absent: texels come through the L1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texture_cache: Option<TextureCacheConfig>,
    /// What holds memory instructions back where kernels share an SM; absent: nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_issue: Option<MemoryIssueConfig>,
    /// Active warps of the kernel in each slot, of each warp scheduler, at most: the oldest that wait at no barrier; any number for slots beyond the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_warps: Vec<WarpLimit>,
    /// Instruction buffers; absent: the next instruction is always there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch: Option<FetchConfig>,
    /// TBs may leave before their end; absent: they leave when they have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemption: Option<PreemptionConfig>,
    /// TBs beyond what fits, whose contexts lie on spare storage while they wait; absent: there are none.
    #[serde(default, rename = "contexts", skip_serializing_if = "Option::is_none")]
    pub oversubscription: Option<OversubscriptionConfig>,
    /// Empty SMs may be without power; absent: they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_gating: Option<PowerGatingConfig>,
    /// Latency and initiation interval per unit.
    pub units: Units,
    /// Constant cache; absent: it is perfect, and a constant load takes the load/store unit for one cycle, whatever its lanes read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant_cache: Option<ConstantCacheConfig>,
}

/// Instruction fetch of an SM, from a perfect cache (sources.md D122).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FetchConfig {
    /// Warps whose buffer is filled per cycle, in turns over the SM's warps.
    pub warps_per_cycle: u32,
    /// Instructions of a warp that its buffer holds. It is filled when it is empty.
    pub buffer: u32,
}

/// The constant cache of an SM. It always hits: what a machine loses when the lanes of a warp read different words is modelled, and what
/// it loses when they read too many of them is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConstantCacheConfig {
    /// Cycles from a load's last word to its register.
    pub latency: u32,
    /// Cycles of the load/store unit for each different word that a load's lanes read (sources.md D113).
    pub word_cycles: u32,
}

/// An option that is not in the file.
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

/// One pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnitTiming {
    /// Cycles from dispatch to result.
    pub latency: u32,
    /// Cycles between two dispatches of the same sub-core.
    pub interval: u32,
}

/// Crossbar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InterconnectConfig {
    /// Bytes per flit.
    pub flit_bytes: u32,
    /// Bytes of a packet beside the sectors that it carries. With them a packet is as many flits as it takes, which keep its ports one after
    /// the other; absent or 0: every packet is one flit.
    #[serde(default, skip_serializing_if = "is_off")]
    pub header_bytes: u32,
    /// Packets that each input port can hold.
    pub input_buffer: u32,
    /// Packets that each output port can hold.
    pub output_buffer: u32,
    /// Which input an output serves next; absent: round robin.
    #[serde(default, skip_serializing_if = "Arbiter::is_usual")]
    pub arbiter: Arbiter,
}

impl InterconnectConfig {
    /// Flits of a packet that carries so many sectors.
    pub(crate) fn flits(&self, sectors: u32) -> u32 {
        if self.header_bytes == 0 { 1 } else { (self.header_bytes + ranges::SECTOR_BYTES * sectors).div_ceil(self.flit_bytes) }
    }
}

/// Which input an output of the crossbar serves next (sources.md D65).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Arbiter {
    /// The first that wants it, from the one after the input served last.
    #[default]
    RoundRobin,
    /// The first that wants it, from the second after the input served last; behind the last two inputs from the first again. So of
    /// neighbours that all want it every other one waits until no other input does.
    SkipOne,
    /// One of those that want it, by chance (Lin et al. 2018, section 3.1): the same in every run.
    Random,
    /// As round robin, but outputs are served one after the other, and an input whose packet has just left may send its next one to a later
    /// output in the same cycle.
    SeveralPerInput,
}

impl Arbiter {
    /// Inputs from the one served to the one that comes first next; by chance there is none.
    pub(crate) fn step(self) -> u32 {
        match self {
            Arbiter::RoundRobin | Arbiter::SeveralPerInput | Arbiter::Random => 1,
            Arbiter::SkipOne => 2,
        }
    }

    /// What a file need not say.
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

/// Machine constants of the scheduler firmware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SchedulerConfig {
    /// Linear's coefficient (Nasef 2023, eq. 3.7) in per-SM units as Q16.16: stall cycles per accumulated outstanding access.
    pub linear_coefficient_q16: u32,
    /// R squared of its least-squares fit, in thousandths.
    pub linear_r2_permille: u32,
    /// Core cycles that the quota bus takes for each SM when the firmware commits quotas, 0 to 4,096. 0 or absent: all SMs have their
    /// quotas in the cycle of the commit.
    #[serde(default, skip_serializing_if = "is_off")]
    pub commit_cycles_per_sm: u32,
}
