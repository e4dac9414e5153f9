//! Energy: events counted times energy per event, and background power times time (sources.md D75;
//! the structure is that of GPUWattch and AccelWattch).
//!
//! A kernel is charged for its own events: instructions, registers, shared memory, caches,
//! crossbar, DRAM. Background energy is not attributed to kernels: a constant part, static power of
//! SMs with TBs, power of SMs without, pipeline power in cycles in which an SM issues, and wake-ups
//! of gated SMs. The coefficients are in the GPU file ([`crate::config::EnergyConfig`]).
//!
//! All values are whole femtojoules, so a sum is exact and does not depend on its order. Reports
//! divide, the model does not.

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

/// Energy in femtojoules.
pub type Femtojoules = u128;

/// Energy of a power over core cycles of a clock of `core_khz`, at least 1. A microwatt over a
/// cycle of 1/kHz milliseconds is a nanojoule per kHz: a million femtojoules.
fn over(cycles: u64, power_uw: u32, core_khz: u32) -> Femtojoules {
    Femtojoules::from(cycles) * Femtojoules::from(power_uw) * 1_000_000 / Femtojoules::from(core_khz.max(1))
}

/// Energy of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnergyReport {
    /// Energy per launch, in the order of [`Stats::launches`].
    pub launches: Vec<DynamicEnergy>,
    /// Energy that is not attributed to kernels.
    pub background: BackgroundEnergy,
    /// Part of the background that SMs draw regardless of activity.
    pub standing: StandingEnergy,
}

/// Total energy of a run, and its part that SMs draw regardless of activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Total energy.
    pub total: Femtojoules,
    /// Leakage and clocks of SMs.
    pub standing: StandingEnergy,
}

impl EnergyReport {
    /// Energy of a run of `config`; none if the GPU has no `[energy]`.
    pub fn of(config: &GpuConfig, stats: &Stats) -> Option<EnergyReport> {
        let coefficients = config.energy.as_ref()?;
        let activity = ChipActivity::of(stats);
        Some(EnergyReport {
            launches: stats.counters.iter().map(|launch| DynamicEnergy::of(launch, coefficients)).collect(),
            background: BackgroundEnergy::of(&activity, coefficients, config.sm.power_gating.as_ref(), config.clocks.core_khz),
            standing: StandingEnergy::of(&activity, coefficients, config.clocks.core_khz),
        })
    }

    /// Total energy.
    pub fn total(&self) -> Femtojoules {
        self.launches.iter().map(DynamicEnergy::total).sum::<Femtojoules>() + self.background.total()
    }

    /// Total energy without the leakage of SMs.
    pub fn without_leakage(&self) -> Femtojoules {
        self.total().saturating_sub(self.standing.leakage)
    }

    /// Summary of the total and its standing part.
    pub fn spent(&self) -> Spent {
        Spent { total: self.total(), standing: self.standing }
    }
}
