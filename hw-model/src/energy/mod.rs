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
mod lanes;
#[cfg(test)]
mod tests;

pub use background::{BackgroundEnergy, ChipActivity};
pub use dynamic::DynamicEnergy;
pub(crate) use lanes::LaneClass;
pub use lanes::LaneCounts;

use crate::config::GpuConfig;
use crate::gpu::Stats;

/// Femtojoules.
pub type Femtojoules = u128;

/// What a run cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnergyReport {
    /// Per launch, in the order of [`Stats::launches`].
    pub launches: Vec<DynamicEnergy>,
    /// What is no kernel's.
    pub background: BackgroundEnergy,
}

impl EnergyReport {
    /// The energy of a run of `config`; none if the machine has no `[energy]`.
    pub fn of(config: &GpuConfig, stats: &Stats) -> Option<EnergyReport> {
        let coefficients = config.energy.as_ref()?;
        let counts = config.sm.memory_issue.is_some();
        let of = |launch| {
            let energy = DynamicEnergy::of(launch, coefficients);
            if counts { energy.with_memory_issue(launch, coefficients) } else { energy }
        };
        Some(EnergyReport {
            launches: stats.counters.iter().map(of).collect(),
            background: BackgroundEnergy::of(
                &ChipActivity::of(stats),
                coefficients,
                config.sm.power_gating.as_ref(),
                config.clocks.core_khz,
            ),
        })
    }

    /// All of it.
    pub fn total(&self) -> Femtojoules {
        self.launches.iter().map(DynamicEnergy::total).sum::<Femtojoules>() + self.background.total()
    }
}
