//! `[energy]` of a GPU file: what an event costs, and what the chip draws whatever happens.
//!
//! Energies in femtojoules (0.001 nJ is 1,000 fJ), powers in microwatts, both whole numbers. What is counted is said in
//! [`crate::energy`].

use serde::{Deserialize, Serialize};

/// Energy per event and background power (sources.md D75).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EnergyConfig {
    /// Fetching a warp instruction from a warm instruction cache.
    pub fetch_fj: u32,
    /// Decoding a warp instruction, and its place in the instruction buffer.
    pub decode_fj: u32,
    /// Scheduling a warp instruction.
    pub schedule_fj: u32,
    /// One lane's read of a register.
    pub register_read_fj: u32,
    /// One lane's write of a register.
    pub register_write_fj: u32,
    /// One lane's operation, by unit.
    pub lane: LaneEnergies,
    /// One pass through the banks of shared memory.
    pub shared_pass_fj: u32,
    /// L1 access of a sector that is there or on its way.
    pub l1_hit_fj: u32,
    /// L1 access of a sector that is not there, its fill included.
    pub l1_miss_fj: u32,
    /// Packet through one subnet of the crossbar.
    pub packet_fj: u32,
    /// L2 read of a sector that is there or on its way.
    pub l2_read_hit_fj: u32,
    /// L2 read of a sector that is not there.
    pub l2_read_miss_fj: u32,
    /// L2 write of a sector that is there.
    pub l2_write_hit_fj: u32,
    /// L2 write of a sector that is not there.
    pub l2_write_miss_fj: u32,
    /// DRAM read of an atom of 32 bytes.
    pub dram_read_fj: u32,
    /// DRAM write of an atom of 32 bytes.
    pub dram_write_fj: u32,
    /// Opening and closing a DRAM row, charged when it is opened.
    pub dram_row_fj: u32,
    /// Power of the chip that depends on nothing.
    pub constant_uw: u32,
    /// Static power of an SM that holds a TB.
    pub sm_active_uw: u32,
    /// Power of an SM that holds none.
    pub sm_idle_uw: u32,
    /// Power of an SM's pipelines in a cycle in which it issues.
    pub sm_issue_uw: u32,
}

/// Energy of one lane's operation, in femtojoules, by execution unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LaneEnergies {
    /// Integer; barriers and exits too.
    pub int_fj: u32,
    /// Single precision.
    pub sp_fj: u32,
    /// Double precision.
    pub dp_fj: u32,
    /// Special functions.
    pub sfu_fj: u32,
    /// Tensor.
    pub tensor_fj: u32,
    /// Branch.
    pub branch_fj: u32,
    /// Texture.
    pub texture_fj: u32,
    /// Uniform data path.
    pub uniform_fj: u32,
    /// Addresses of loads, stores and atomics.
    pub memory_fj: u32,
}
