//! Limits of active warps: the maximum number of warps of a kernel from which a warp scheduler
//! issues (Rogers et al. 2012, as Wang et al. 2018 use it; sources.md D159).

use super::Unlimited;
use mias_registers::KERNEL_SLOTS;
use serde::{Deserialize, Serialize};

/// Limit of active warps of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum WarpLimit {
    /// 1 to 63 warps per warp scheduler.
    Most(#[cfg_attr(feature = "schema", schemars(range(min = 1, max = 63)))] u8),
    /// No limit.
    Any(Unlimited),
}

impl WarpLimit {
    /// Number of warps, if limited.
    #[must_use]
    pub fn most(self) -> Option<u8> {
        match self {
            WarpLimit::Most(most) => Some(most),
            WarpLimit::Any(Unlimited::Inf) => None,
        }
    }
}

/// First invalid entry: key, value and remedy.
pub(super) fn refused(limits: &[WarpLimit]) -> Option<(&'static str, u32, &'static str)> {
    let key = "sm.active_warps";
    if limits.len() > KERNEL_SLOTS {
        return Some((key, limits.len() as u32, "numbers, and there are 8 kernel slots"));
    }
    let wrong = limits.iter().filter_map(|limit| limit.most()).find(|most| !(1..=63).contains(most));
    wrong.map(|most| (key, most.into(), "must be 1 to 63 warps, or \"inf\""))
}
