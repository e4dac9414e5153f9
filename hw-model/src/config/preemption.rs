//! Preemption of TBs: transfer of a switched-out context, and the SM on which it resumes (Shieh
//! 2016; sources.md D133).

use serde::{Deserialize, Serialize};

/// Preemption of TBs before their end; absent: TBs leave only when they have ended. With it,
/// registers and shared memory of an SM have addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PreemptionConfig {
    /// Model of saving and restoring a context.
    pub switch: SwitchModel,
    /// SM on which a switched-out TB resumes.
    pub resume: ResumeOn,
    /// Bytes of a warp's context in addition to its registers: program counters, masks and barrier
    /// state. A multiple of 32, at most 4,096.
    pub warp_state_bytes: u32,
    /// Hardware selector of the TBs to preempt, with its latency; absent: the microcontroller
    /// selects, in its decision time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<SelectorConfig>,
}

/// Latency of a hardware selector of the TBs to preempt. SMs work in parallel; an SM processes its
/// TBs and then the requested TBs one after the other. It makes the firmware's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SelectorConfig {
    /// Core cycles from the request to the first TB's costs plus those from the last choice to the
    /// commands; at most 4,096.
    pub start_cycles: u32,
    /// Core cycles per TB for its costs; at most 4,096.
    pub tb_cycles: u32,
    /// Core cycles per candidate chosen; at most 4,096.
    pub pass_cycles: u32,
}

impl Default for SelectorConfig {
    /// Default latencies, which are assumptions since the source gives no time.
    ///
    /// A request crosses the chip and back in 8 cycles. A divider of one bit per cycle, 32 bits
    /// wide, takes 36 for the quotient of a TB. The 16 candidate sets of an SM (Shieh 2016, table
    /// 3.1) are compared one per cycle.
    fn default() -> Self {
        SelectorConfig { start_cycles: 8, tb_cycles: 36, pass_cycles: 16 }
    }
}

impl SelectorConfig {
    /// Core cycles of a selection. Each element of `sms` is an SM's number of TBs and number of
    /// requested TBs.
    #[must_use]
    pub fn cycles(&self, sms: impl Iterator<Item = (u32, u32)>) -> u64 {
        let sm = |(tbs, wanted): (u32, u32)| u64::from(tbs) * u64::from(self.tb_cycles) + u64::from(wanted) * u64::from(self.pass_cycles);
        u64::from(self.start_cycles) + sms.map(sm).max().unwrap_or(0)
    }
}

/// Default bytes of a warp's state (assumption: 32 program counters of 64 bits, and a sector for
/// masks and barriers).
pub const WARP_STATE_BYTES: u32 = 288;

impl Default for PreemptionConfig {
    fn default() -> Self {
        PreemptionConfig { switch: SwitchModel::Traffic, resume: ResumeOn::AnySm, warp_state_bytes: WARP_STATE_BYTES, selector: None }
    }
}

/// Model of saving and restoring a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SwitchModel {
    /// Memory traffic: after the TB's accesses in flight have returned, its context goes through
    /// the crossbar, past the L1, to its own area of device memory. The TBs of an SM go one after
    /// the other, and a context returns the same way.
    #[default]
    Traffic,
    /// Stall without traffic: the TB stalls for its context's size over the SM's share of DRAM
    /// bandwidth, before it leaves and after it returns (Shieh 2016, section 4.1).
    Stall,
}

/// SM on which a switched-out TB resumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ResumeOn {
    /// First SM with free capacity.
    #[default]
    AnySm,
    /// SM that the TB left.
    SameSm,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SMs work in parallel; TBs and choices of an SM are sequential.
    #[test]
    fn a_selector_takes_as_long_as_its_slowest_sm() {
        let selector = SelectorConfig::default();
        assert_eq!(selector.cycles([].into_iter()), 8);
        // The 15 SMs of table 4.1, each with 6 TBs that are all requested: 8 + 6 * (36 + 16).
        assert_eq!(selector.cycles([(6, 6); 15].into_iter()), 320);
        assert_eq!(selector.cycles([(6, 1), (2, 8), (5, 0)].into_iter()), 8 + 6 * 36 + 16);
        let slow = SelectorConfig { start_cycles: u32::MAX, tb_cycles: u32::MAX, pass_cycles: u32::MAX };
        assert_eq!(slow.cycles([(32, 255)].into_iter()), 288 * u64::from(u32::MAX));
    }
}
