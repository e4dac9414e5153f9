//! Background power of the chip, which is not attributed to kernels: power times time.
//!
//! A powered SM never draws less than an empty one: its clocks do not depend on whether it holds
//! TBs (sources.md D144). The sources give a lower power for an SM that holds TBs and issues
//! nothing than for an idle one. One source counts the clocks of SMs with TBs as pipeline power.
//! The floor is own. A gated SM draws nothing.

use super::Femtojoules;
use crate::config::{EnergyConfig, PowerGatingConfig};
use crate::gpu::{SmStateCycles, Stats};

/// Time of the chip's parts in each state, in core cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChipActivity {
    /// Cycles of the run.
    pub cycles: u64,
    /// Cycles in which an SM held a TB, stalled or not, summed over SMs.
    pub active_sm_cycles: u64,
    /// Cycles in which an SM held no TB and had power, with those of waking, summed over SMs.
    pub idle_sm_cycles: u64,
    /// Cycles in which an SM had no power, summed over SMs.
    pub gated_sm_cycles: u64,
    /// Cycles in which an SM issued, summed over SMs.
    pub issue_sm_cycles: u64,
    /// Number of wake-ups of SMs.
    pub wakes: u64,
}

impl ChipActivity {
    pub(super) fn of(stats: &Stats) -> Self {
        let active_sm_cycles = stats.sms.iter().map(|sm| sm.active_cycles).sum();
        let SmStateCycles { gated, wakes, .. } = stats.sm_states.unwrap_or_default();
        ChipActivity {
            cycles: stats.cycles,
            active_sm_cycles,
            idle_sm_cycles: (stats.cycles * stats.sms.len() as u64 - active_sm_cycles).saturating_sub(gated),
            gated_sm_cycles: gated,
            issue_sm_cycles: stats.sms.iter().map(|sm| sm.counters.issue_cycles).sum(),
            wakes,
        }
    }
}

/// Background energy, not attributed to kernels, in femtojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackgroundEnergy {
    /// Energy of the constant part of the chip.
    pub constant: Femtojoules,
    /// Static energy of SMs with TBs, with their clocks where the pipelines do not cover them.
    pub active_sms: Femtojoules,
    /// Energy of SMs without TBs.
    pub idle_sms: Femtojoules,
    /// Energy of the pipelines of SMs that issue.
    pub issuing_sms: Femtojoules,
    /// Energy of wake-ups of gated SMs.
    pub waking_sms: Femtojoules,
}

impl BackgroundEnergy {
    /// Energy of `activity` at a core clock of `core_khz`, at least 1, with or without power
    /// gating.
    pub fn of(activity: &ChipActivity, power: &EnergyConfig, gating: Option<&PowerGatingConfig>, core_khz: u32) -> Self {
        let over = |cycles: u64, power_uw: u32| super::over(cycles, power_uw, core_khz);
        // Differences of an empty SM's power to that of one with TBs that does not issue, and to
        // that of one that does.
        let lacks = power.sm_idle_uw.saturating_sub(power.sm_active_uw);
        let lacks_issuing = lacks.saturating_sub(power.sm_issue_uw);
        let quiet = activity.active_sm_cycles.saturating_sub(activity.issue_sm_cycles);
        BackgroundEnergy {
            constant: over(activity.cycles, power.constant_uw),
            active_sms: over(activity.active_sm_cycles, power.sm_active_uw)
                + over(quiet, lacks)
                + over(activity.active_sm_cycles - quiet, lacks_issuing),
            idle_sms: over(activity.idle_sm_cycles, power.sm_idle_uw),
            issuing_sms: over(activity.issue_sm_cycles, power.sm_issue_uw),
            waking_sms: Femtojoules::from(activity.wakes) * Femtojoules::from(gating.map_or(0, |gating| gating.wake_fj)),
        }
    }

    /// Names of the parts and their energies; waking only if an SM was woken.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, Femtojoules)> {
        let always =
            [("constant", self.constant), ("active_sms", self.active_sms), ("idle_sms", self.idle_sms), ("issuing_sms", self.issuing_sms)];
        always.into_iter().chain((self.waking_sms > 0).then_some(("waking_sms", self.waking_sms)))
    }

    /// Sum of all parts.
    pub fn total(&self) -> Femtojoules {
        self.parts().map(|(_, energy)| energy).sum()
    }
}
