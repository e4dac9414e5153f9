//! Energy: events counted times energy per event, and background power times time (sources.md D75; the structure is that
//! of GPUWattch and AccelWattch).
//!
//! What a kernel's own events cost is the kernel's: instructions, registers, shared memory, caches, crossbar, DRAM. What the
//! chip draws whoever runs is nobody's: a constant part, static power of SMs that hold TBs, power of SMs that do not, the pipelines'
//! power in cycles in which an SM issues, and what it takes to give an SM its power again. The coefficients are the machine's
//! ([`crate::config::EnergyConfig`]).
//!
//! All in whole femtojoules: a sum is exact and does not depend on its order. Reports divide, the model does not.

mod background;
mod dynamic;
mod standing;
#[cfg(test)]
mod tests;

pub use background::{BackgroundEnergy, ChipActivity};
pub use dynamic::DynamicEnergy;
pub use standing::StandingEnergy;

use crate::config::GpuConfig;
use crate::gpu::Stats;

/// Femtojoules.
pub type Femtojoules = u128;

/// A power over core cycles of a clock of `core_khz`, at least 1. A microwatt over a cycle of 1/kHz milliseconds is a nanojoule per kHz: a million
/// femtojoules.
fn over(cycles: u64, power_uw: u32, core_khz: u32) -> Femtojoules {
    Femtojoules::from(cycles) * Femtojoules::from(power_uw) * 1_000_000 / Femtojoules::from(core_khz.max(1))
}

/// What a run cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnergyReport {
    /// Per launch, in the order of [`Stats::launches`].
    pub launches: Vec<DynamicEnergy>,
    /// What is no kernel's.
    pub background: BackgroundEnergy,
    /// Of that, what SMs draw whether or not they do anything.
    pub standing: StandingEnergy,
}

/// A run's energy, and what of it SMs draw whether or not they do anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// All of it.
    pub total: Femtojoules,
    /// Leakage and clocks of SMs.
    pub standing: StandingEnergy,
}

impl EnergyReport {
    /// The energy of a run of `config`; none if the machine has no `[energy]`.
    pub fn of(config: &GpuConfig, stats: &Stats) -> Option<EnergyReport> {
        let coefficients = config.energy.as_ref()?;
        let activity = ChipActivity::of(stats);
        Some(EnergyReport {
            launches: stats.counters.iter().map(|launch| DynamicEnergy::of(launch, coefficients)).collect(),
            background: BackgroundEnergy::of(&activity, coefficients, config.sm.power_gating.as_ref(), config.clocks.core_khz),
            standing: StandingEnergy::of(&activity, coefficients, config.clocks.core_khz),
        })
    }

    /// All of it.
    pub fn total(&self) -> Femtojoules {
        self.launches.iter().map(DynamicEnergy::total).sum::<Femtojoules>() + self.background.total()
    }

    /// All but what SMs leak.
    pub fn without_leakage(&self) -> Femtojoules {
        self.total().saturating_sub(self.standing.leakage)
    }

    /// What of it is what, in a few numbers.
    pub fn spent(&self) -> Spent {
        Spent { total: self.total(), standing: self.standing }
    }
}
