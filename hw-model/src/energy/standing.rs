//! Part of the background energy that an SM draws regardless of activity: its leakage and its clock
//! (sources.md D156).
//!
//! The split interprets the coefficients and adds no energy. It gives the part of
//! [`super::BackgroundEnergy`] that only gating saves. An SM with TBs leaks `sm_active_uw`; an SM
//! without TBs leaks the same, but at most its total power. The power of an empty SM beyond its
//! leakage is its clock, which an SM with TBs has too. [`super::BackgroundEnergy`] counts that
//! clock as static power or as pipeline power.

use super::{ChipActivity, Femtojoules, over};
use crate::config::EnergyConfig;

/// Standing part of the background energy, in femtojoules. It excludes the chip's constant part,
/// since the sources do not say what it consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StandingEnergy {
    /// Leakage of SMs that have power.
    pub leakage: Femtojoules,
    /// Clocks of SMs that have power.
    pub clocks: Femtojoules,
}

impl StandingEnergy {
    /// Standing energy of `activity` at a core clock of `core_khz`, at least 1.
    pub fn of(activity: &ChipActivity, power: &EnergyConfig, core_khz: u32) -> Self {
        let ChipActivity { active_sm_cycles, idle_sm_cycles, .. } = *activity;
        let clock_uw = power.sm_idle_uw.saturating_sub(power.sm_active_uw);
        StandingEnergy {
            leakage: over(active_sm_cycles, power.sm_active_uw, core_khz)
                + over(idle_sm_cycles, power.sm_idle_uw.min(power.sm_active_uw), core_khz),
            clocks: over(active_sm_cycles.saturating_add(idle_sm_cycles), clock_uw, core_khz),
        }
    }

    /// Sum of leakage and clocks.
    pub fn total(&self) -> Femtojoules {
        self.leakage + self.clocks
    }
}
