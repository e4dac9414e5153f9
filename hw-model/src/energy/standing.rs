//! What of the background is drawn whether or not an SM does anything: its leakage and its clock (sources.md D156).
//!
//! The split is a reading of the coefficients, and not another cost: it says how much of
//! [`super::BackgroundEnergy`] no policy saves but by gating. An SM that holds TBs leaks
//! `sm_active_uw`, one that does not no more than it draws. What an empty SM draws beyond that is
//! its clock, which an SM that holds TBs has too: in [`super::BackgroundEnergy`] it is among the
//! static power or among that of the pipelines.

use super::{ChipActivity, Femtojoules, over};
use crate::config::EnergyConfig;

/// Of the background, in femtojoules. The chip's constant part is in neither: the sources do not say what it is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StandingEnergy {
    /// Leakage of SMs that have power.
    pub leakage: Femtojoules,
    /// Their clocks.
    pub clocks: Femtojoules,
}

impl StandingEnergy {
    /// What `activity` cost at a core clock of `core_khz`, at least 1.
    pub fn of(activity: &ChipActivity, power: &EnergyConfig, core_khz: u32) -> Self {
        let ChipActivity { active_sm_cycles, idle_sm_cycles, .. } = *activity;
        let clock_uw = power.sm_idle_uw.saturating_sub(power.sm_active_uw);
        StandingEnergy {
            leakage: over(active_sm_cycles, power.sm_active_uw, core_khz)
                + over(idle_sm_cycles, power.sm_idle_uw.min(power.sm_active_uw), core_khz),
            clocks: over(active_sm_cycles.saturating_add(idle_sm_cycles), clock_uw, core_khz),
        }
    }

    /// Both.
    pub fn total(&self) -> Femtojoules {
        self.leakage + self.clocks
    }
}
