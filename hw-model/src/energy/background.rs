//! What the chip draws whoever runs: power times time, and no kernel's.

use super::Femtojoules;
use crate::config::EnergyConfig;
use crate::gpu::Stats;

/// How long parts of the chip were in which state, in core cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChipActivity {
    /// Cycles of the run.
    pub cycles: u64,
    /// Cycles in which an SM held a TB, summed over SMs.
    pub active_sm_cycles: u64,
    /// Cycles in which an SM held none, summed over SMs.
    pub idle_sm_cycles: u64,
    /// Cycles in which an SM issued, summed over SMs.
    pub issue_sm_cycles: u64,
}

impl ChipActivity {
    pub(super) fn of(stats: &Stats) -> Self {
        let active_sm_cycles = stats.sms.iter().map(|sm| sm.active_cycles).sum();
        ChipActivity {
            cycles: stats.cycles,
            active_sm_cycles,
            idle_sm_cycles: stats.cycles * stats.sms.len() as u64 - active_sm_cycles,
            issue_sm_cycles: stats.sms.iter().map(|sm| sm.counters.issue_cycles).sum(),
        }
    }
}

/// Energy that is no kernel's, in femtojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackgroundEnergy {
    /// The constant part of the chip.
    pub constant: Femtojoules,
    /// Static, of SMs with TBs.
    pub active_sms: Femtojoules,
    /// Of SMs without.
    pub idle_sms: Femtojoules,
    /// Pipelines of SMs that issue.
    pub issuing_sms: Femtojoules,
}

impl BackgroundEnergy {
    /// What `activity` cost at a core clock of `core_khz`, at least 1.
    pub fn of(activity: &ChipActivity, power: &EnergyConfig, core_khz: u32) -> Self {
        // A microwatt over a cycle of 1/kHz milliseconds is a nanojoule per kHz: a million femtojoules.
        let over = |cycles: u64, power_uw: u32| {
            Femtojoules::from(cycles) * Femtojoules::from(power_uw) * 1_000_000 / Femtojoules::from(core_khz.max(1))
        };
        BackgroundEnergy {
            constant: over(activity.cycles, power.constant_uw),
            active_sms: over(activity.active_sm_cycles, power.sm_active_uw),
            idle_sms: over(activity.idle_sm_cycles, power.sm_idle_uw),
            issuing_sms: over(activity.issue_sm_cycles, power.sm_issue_uw),
        }
    }

    /// Names of the parts and their energies.
    pub fn parts(&self) -> [(&'static str, Femtojoules); 4] {
        [("constant", self.constant), ("active_sms", self.active_sms), ("idle_sms", self.idle_sms), ("issuing_sms", self.issuing_sms)]
    }

    /// All parts.
    pub fn total(&self) -> Femtojoules {
        self.parts().iter().map(|(_, energy)| energy).sum()
    }
}
