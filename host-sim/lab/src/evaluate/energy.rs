//! Energy results beyond the sum: power, its parts, and energy times delay for equal work, as in
//! `mias compare`. The parts are SM leakage and clocks (sources.md D156). STP is work per time, so
//! the latter is power over its square.

use super::record::Kept;
use mias_hw_model::config::GpuConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nanojoules per joule.
pub(super) const NJ_PER_J: f64 = 1e9;

/// Energy results of a run on a GPU with coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnergyResult {
    /// Average power in watts.
    pub average_watts: f64,
    /// Fraction of the energy from SM leakage, 0 to 1.
    pub leakage_share: f64,
    /// Fraction of the energy from SM clocks, 0 to 1.
    pub clock_share: f64,
    /// Energy without SM leakage, in joules.
    pub without_leakage_joules: f64,
    /// Power over the square of STP, in watts; shared runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_delay_watts: Option<f64>,
    /// Power without SM leakage over the square of STP, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_delay_without_leakage_watts: Option<f64>,
}

impl EnergyResult {
    /// Derives the energy results of a run over `cycles` core cycles with this STP. `None` if the
    /// GPU has no coefficients, or no time has passed.
    pub(super) fn of(kept: &Kept, cycles: u64, gpu: &GpuConfig, stp: Option<f64>) -> Option<EnergyResult> {
        let [all, leakage, clocks] = [kept.energy_nj?, kept.leakage_nj?, kept.clock_nj?].map(|energy| energy as f64 / NJ_PER_J);
        if cycles == 0 || all <= 0.0 {
            return None;
        }
        let watts = |joules: f64| joules * f64::from(gpu.clocks.core_khz) * 1e3 / cycles as f64;
        let delay = |joules: f64| stp.filter(|stp| *stp > 0.0).map(|stp| watts(joules) / (stp * stp));
        Some(EnergyResult {
            average_watts: watts(all),
            leakage_share: leakage / all,
            clock_share: clocks / all,
            without_leakage_joules: all - leakage,
            energy_delay_watts: delay(all),
            energy_delay_without_leakage_watts: delay(all - leakage),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::gpu_runner::Outcome;

    /// 0.08 J in a millisecond, including 0.03 J of leakage and 0.01 J of clocks, for an STP of 2.
    #[test]
    fn power_has_its_shares() {
        let gpu = crate::gpus::load("zhao18").unwrap();
        let cycles = gpu.clocks.core_khz.into();
        let kept =
            Kept { energy_nj: Some(80_000_000), leakage_nj: Some(30_000_000), clock_nj: Some(10_000_000), ..Kept::of(&Outcome::default()) };
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let found = EnergyResult::of(&kept, cycles, &gpu, Some(2.0)).unwrap();
        assert!(close(found.average_watts, 80.0) && close(found.leakage_share, 0.375) && close(found.clock_share, 0.125));
        assert!(close(found.without_leakage_joules, 0.05));
        assert!(close(found.energy_delay_watts.unwrap(), 20.0) && close(found.energy_delay_without_leakage_watts.unwrap(), 12.5));
        assert_eq!(EnergyResult::of(&kept, cycles, &gpu, Some(0.0)).unwrap().energy_delay_watts, None);
        assert_eq!(EnergyResult::of(&kept, 0, &gpu, None), None);
        assert_eq!(EnergyResult::of(&Kept { energy_nj: None, ..kept }, cycles, &gpu, None), None);
    }
}
