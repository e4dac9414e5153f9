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
    /// What chooses who leaves is hardware, and takes this long; absent: the microcontroller chooses, in its own time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<SelectorConfig>,
}

/// How long hardware takes that chooses who leaves: every SM on which room is wanted at the same time, each TB on it and then each TB
/// that is wanted after the other. What it chooses is what the firmware would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SelectorConfig {
    /// Core cycles from the request to the first TB's costs, and from the last choice to the commands, together; at most 4,096.
    pub start_cycles: u32,
    /// Core cycles in which the costs of one TB are found; at most 4,096.
    pub tb_cycles: u32,
    /// Core cycles in which one candidate is chosen; at most 4,096.
    pub pass_cycles: u32,
}

impl Default for SelectorConfig {
    /// Assumptions, for the source gives no time: a request crosses the chip and back in 8 cycles; a divider of one bit per cycle, 32 bits wide, takes
    /// 36 for the quotient that a TB needs; the 16 candidate sets of an SM (Shieh 2016, table 3.1) are compared one per cycle.
    fn default() -> Self {
        SelectorConfig { start_cycles: 8, tb_cycles: 36, pass_cycles: 16 }
    }
}

impl SelectorConfig {
    /// Core cycles for SMs with so many TBs on each and so many wanted of each.
    #[must_use]
    pub fn cycles(&self, sms: impl Iterator<Item = (u32, u32)>) -> u64 {
        let sm = |(tbs, wanted): (u32, u32)| u64::from(tbs) * u64::from(self.tb_cycles) + u64::from(wanted) * u64::from(self.pass_cycles);
        u64::from(self.start_cycles) + sms.map(sm).max().unwrap_or(0)
    }
}

/// Bytes of a warp's state, where a machine does not say (assumption: 32 program counters of 64 bits, and a sector for masks and barriers).
pub const WARP_STATE_BYTES: u32 = 288;

impl Default for PreemptionConfig {
    fn default() -> Self {
        PreemptionConfig { switch: SwitchModel::Traffic, resume: ResumeOn::AnySm, warp_state_bytes: WARP_STATE_BYTES, selector: None }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// SMs beside each other, TBs and choices of an SM after one another.
    #[test]
    fn a_selector_takes_as_long_as_its_slowest_sm() {
        let selector = SelectorConfig::default();
        assert_eq!(selector.cycles([].into_iter()), 8);
        // The 15 SMs of table 4.1 with 6 TBs each, all wanted anew: 8 + 6 * (36 + 16).
        assert_eq!(selector.cycles([(6, 6); 15].into_iter()), 320);
        assert_eq!(selector.cycles([(6, 1), (2, 8), (5, 0)].into_iter()), 8 + 6 * 36 + 16);
        let slow = SelectorConfig { start_cycles: u32::MAX, tb_cycles: u32::MAX, pass_cycles: u32::MAX };
        assert_eq!(slow.cycles([(32, 255)].into_iter()), 288 * u64::from(u32::MAX));
    }
}
