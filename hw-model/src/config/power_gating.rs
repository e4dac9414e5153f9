//! Power gating of SMs (Zhao et al. 2018, section 4.3; sources.md D142).

use super::ranges::{MOST_WAKE_CYCLES, MOST_WAKE_FJ};
use serde::{Deserialize, Serialize};

/// Time and energy to wake a gated SM; absent: no SM is gated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PowerGatingConfig {
    /// Core cycles from the request until the SM takes TBs, at most 65,536: half of the longest
    /// profiling window.
    pub wake_cycles: u32,
    /// Energy of one wake-up in femtojoules, in addition to the power of an empty SM during it; at
    /// most 4,000,000,000.
    pub wake_fj: u32,
}

/// First invalid field, its value and its valid values; none if all are valid.
pub(super) fn refused(gating: &PowerGatingConfig) -> Option<(&'static str, u32, &'static str)> {
    if gating.wake_cycles > MOST_WAKE_CYCLES {
        let remedy = "must be at most 65536 cycles, half of the longest profiling window; without the table no SM is gated";
        return Some(("sm.power_gating.wake_cycles", gating.wake_cycles, remedy));
    }
    let remedy = "must be at most 4000000000 femtojoules; 0 if waking costs time alone";
    (gating.wake_fj > MOST_WAKE_FJ).then_some(("sm.power_gating.wake_fj", gating.wake_fj, remedy))
}
