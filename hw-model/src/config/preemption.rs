//! Preemption as data: how the context of a TB that is switched out travels, and where it goes on (Shieh 2016; sources.md D133).

use serde::{Deserialize, Serialize};

/// What SMs do about TBs that are to leave before their end; absent: TBs leave when they have ended. With it, registers and shared memory
/// of an SM have places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PreemptionConfig {
    /// How a context is saved and restored.
    pub switch: SwitchModel,
    /// Where a TB goes on that was switched out.
    pub resume: ResumeOn,
    /// Bytes of a warp's context beside its registers: program counters, masks and barrier state. A multiple of 32, at most 4,096.
    pub warp_state_bytes: u32,
}

/// Bytes of a warp's state, where a machine does not say (assumption: 32 program counters of 64 bits, and a sector for masks and barriers).
pub const WARP_STATE_BYTES: u32 = 288;

impl Default for PreemptionConfig {
    fn default() -> Self {
        PreemptionConfig { switch: SwitchModel::Traffic, resume: ResumeOn::AnySm, warp_state_bytes: WARP_STATE_BYTES }
    }
}

/// How a context is saved and restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SwitchModel {
    /// The TB's accesses in flight are waited for; then its context goes through the crossbar, past the L1, to an area of device memory of
    /// its own, one TB of an SM after the other, and comes back the same way.
    #[default]
    Traffic,
    /// The TB stands still for as long as its context takes at the SM's share of DRAM bandwidth, before it leaves and after it has come
    /// back; nothing moves (Shieh 2016, section 4.1).
    Stall,
}

/// Where a TB goes on that was switched out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ResumeOn {
    /// On the first SM that has room.
    #[default]
    AnySm,
    /// On the SM that it left.
    SameSm,
}
