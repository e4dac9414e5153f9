//! Power over time for `--timeline`: the energy between two samples over the time between them.

use super::energy::watts;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::energy::{DynamicEnergy, EnergyReport, Femtojoules};
use mias_lab::experiment::gpu_runner::Outcome;
use mias_lab::kernel_name;
use serde_json::{Map, Value};

/// Part of the chip, and the accessor of its energy.
type Part = (&'static str, fn(&EnergyReport) -> Femtojoules);

/// Mean power of an interval of a run, in watts.
#[derive(Debug, PartialEq)]
pub(super) struct Stretch {
    /// First core cycle of the interval.
    pub(super) from_cycle: u64,
    /// Power of the whole chip.
    pub(super) watts: f64,
    /// Parts of the power: each kernel's events, pipelines of issuing SMs and wake-ups, SM clocks,
    /// SM leakage, the constant part of the chip.
    pub(super) parts: Map<String, Value>,
}

/// Returns the intervals between samples, and from the last one to the end of the run; empty
/// without samples.
pub(super) fn over_time(outcome: &Outcome, names: &[&str], gpu: &GpuConfig) -> Vec<Stretch> {
    let (Some(end), false) = (&outcome.energy, outcome.energy_samples.is_empty()) else { return Vec::new() };
    let columns = kernel_name::columns(names.iter().copied());
    let notes = outcome.energy_samples.iter().map(|sample| (sample.cycle, &sample.energy)).chain([(outcome.cycles, end)]);
    let (mut stretches, mut before) = (Vec::new(), (0, &EnergyReport::default()));
    for note in notes {
        let ((from_cycle, earlier), (to_cycle, later)) = (before, note);
        before = note;
        let of =
            |energy: fn(&EnergyReport) -> Femtojoules| watts(energy(later).saturating_sub(energy(earlier)), gpu, to_cycle - from_cycle);
        let Some(all) = of(EnergyReport::total) else { continue };
        let kernel = |at: usize| {
            let energy = |report: &EnergyReport| report.launches.get(at).map_or(0, DynamicEnergy::total);
            watts(energy(later).saturating_sub(energy(earlier)), gpu, to_cycle - from_cycle)
        };
        let mut parts = Map::new();
        for (at, name) in columns.iter().enumerate() {
            // A kernel that runs twice has two tracks.
            let name = if parts.contains_key(name.as_ref()) { format!("{name}, {}", at + 1) } else { name.to_string() };
            parts.insert(name, kernel(at).into());
        }
        let chip: [Part; 4] = [
            ("pipelines", |report| report.background.total().saturating_sub(report.background.constant + report.standing.total())),
            ("clocks of SMs", |report| report.standing.clocks),
            ("leakage of SMs", |report| report.standing.leakage),
            ("constant", |report| report.background.constant),
        ];
        parts.extend(chip.map(|(name, energy)| (name.to_owned(), of(energy).into())));
        stretches.push(Stretch { from_cycle, watts: all, parts });
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_hw_model::energy::{BackgroundEnergy, StandingEnergy};
    use mias_lab::experiment::gpu_runner::EnergySample;
    use mias_lab::gpus;

    /// A millisecond at 5 W constant and 4 W of SMs, including 1 W of clocks and 2 W of leakage. In
    /// the second one a kernel adds 3 W. Then the run ends at a sample.
    #[test]
    fn power_is_what_lies_between_two_notes() {
        let gpu = gpus::load("zhao18").unwrap();
        let (mj, ms): (Femtojoules, u64) = (1_000_000_000_000, gpu.clocks.core_khz.into());
        let upto = |time: u128, kernel: u128| EnergyReport {
            launches: vec![DynamicEnergy { dram: kernel * mj, ..DynamicEnergy::default() }],
            background: BackgroundEnergy { constant: 5 * time * mj, active_sms: 4 * time * mj, ..BackgroundEnergy::default() },
            standing: StandingEnergy { leakage: 2 * time * mj, clocks: time * mj },
        };
        let energy_samples = [(ms, upto(1, 0)), (2 * ms, upto(2, 3))].map(|(cycle, energy)| EnergySample { cycle, energy });
        let outcome = Outcome { cycles: 2 * ms, energy: Some(upto(2, 3)), energy_samples: energy_samples.into(), ..Outcome::default() };
        let found = over_time(&outcome, &["lbm"], &gpu);
        let numbers = |stretch: &Stretch| -> Vec<f64> { stretch.parts.values().map(|watts| watts.as_f64().unwrap()).collect() };
        let of = |name: &str, stretch: &Stretch| stretch.parts[name].as_f64().unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert_eq!(found.iter().map(|stretch| stretch.from_cycle).collect::<Vec<_>>(), [0, ms]);
        for (stretch, all, kernel) in [(&found[0], 9.0, 0.0), (&found[1], 12.0, 3.0)] {
            assert!(close(stretch.watts, all) && close(numbers(stretch).iter().sum(), all), "{stretch:?}");
            assert!(close(of("lbm", stretch), kernel) && close(of("pipelines", stretch), 1.0));
            assert!(
                close(of("clocks of SMs", stretch), 1.0)
                    && close(of("leakage of SMs", stretch), 2.0)
                    && close(of("constant", stretch), 5.0)
            );
        }
        assert_eq!(over_time(&Outcome { energy_samples: Vec::new(), ..outcome }, &["lbm"], &gpu), []);
    }
}
