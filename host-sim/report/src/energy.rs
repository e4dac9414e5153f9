//! Energy in reports: the model's integer femtojoules as joules, and power over the simulated time.

use mias_hw_model::config::GpuConfig;
use mias_hw_model::energy::{EnergyReport, Femtojoules};
use mias_lab::table::{self, number, percent};
use serde::Serialize;
use std::collections::BTreeMap;

/// Value of `energy` in the JSON of `run`.
#[derive(Debug, Serialize)]
pub(super) struct EnergyRow {
    /// Background energy by part of the chip, without kernels, in joules.
    background_joules: BTreeMap<&'static str, f64>,
    /// Part of the background energy from SM leakage, and from SM clocks.
    leakage_joules: f64,
    clock_joules: f64,
    total_joules: f64,
    average_watts: Option<f64>,
    without_leakage_watts: Option<f64>,
}

/// Value of `energy` of a launch in the JSON of `run`.
#[derive(Debug, Serialize)]
pub(super) struct LaunchEnergy {
    joules: f64,
    parts_joules: BTreeMap<&'static str, f64>,
}

/// Name of the part that only kernels with context switches have.
const CONTEXTS: &str = "contexts";

fn joules(energy: Femtojoules) -> f64 {
    energy as f64 * 1e-15
}

/// Returns the power in watts over `cycles` core cycles; `None` if no time has passed.
pub(super) fn watts(energy: Femtojoules, gpu: &GpuConfig, cycles: u64) -> Option<f64> {
    (cycles > 0).then(|| joules(energy) * f64::from(gpu.clocks.core_khz) * 1e3 / cycles as f64)
}

pub(super) fn row(report: &EnergyReport, gpu: &GpuConfig, cycles: u64) -> EnergyRow {
    EnergyRow {
        background_joules: report.background.parts().map(|(part, energy)| (part, joules(energy))).collect(),
        leakage_joules: joules(report.standing.leakage),
        clock_joules: joules(report.standing.clocks),
        total_joules: joules(report.total()),
        average_watts: watts(report.total(), gpu, cycles),
        without_leakage_watts: watts(report.without_leakage(), gpu, cycles),
    }
}

/// Returns the energy of launch `at`; `None` if it is not in the report.
pub(super) fn launch_row(report: &EnergyReport, at: usize) -> Option<LaunchEnergy> {
    let launch = report.launches.get(at)?;
    let contexts = (launch.contexts > 0).then_some((CONTEXTS, launch.contexts));
    let parts_joules = launch.parts().into_iter().chain(contexts).map(|(part, energy)| (part, joules(energy))).collect();
    Some(LaunchEnergy { joules: joules(launch.total()), parts_joules })
}

/// Returns a part's name in reports.
fn label(part: &str) -> String {
    match part {
        "l1" | "l2" | "dram" => part.to_uppercase(),
        _ => part.replace('_', " ").replace("sms", "SMs"),
    }
}

/// Formats the text table: a column per kernel and one for the chip, in millijoules.
pub(super) fn text(report: &EnergyReport, kernels: &[&str], gpu: &GpuConfig, cycles: u64) -> String {
    let headings: Vec<&str> = std::iter::once("energy, mJ").chain(kernels.iter().copied()).chain(["chip"]).collect();
    let mut table = table::new(&headings);
    let millijoules = |energy: Option<Femtojoules>| number(energy.map(|energy| joules(energy) * 1e3), 3);
    let mut add = |name: &str, of_kernels: Vec<Option<Femtojoules>>, of_chip: Option<Femtojoules>| {
        table.add_row(std::iter::once(label(name)).chain(of_kernels.into_iter().chain([of_chip]).map(millijoules)));
    };
    let launches: Vec<_> = report.launches.iter().take(kernels.len()).map(|launch| (launch.parts(), launch.total())).collect();
    for part in 0..launches.first().map_or(0, |(parts, _)| parts.len()) {
        let name = launches[0].0[part].0;
        add(name, launches.iter().map(|(parts, _)| Some(parts[part].1)).collect(), None);
    }
    let contexts = report.launches.iter().take(kernels.len()).map(|launch| launch.contexts);
    if contexts.clone().any(|energy| energy > 0) {
        add(CONTEXTS, contexts.map(Some).collect(), None);
    }
    for (name, energy) in report.background.parts() {
        add(name, vec![None; launches.len()], Some(energy));
    }
    add("sum", launches.iter().map(|(_, total)| Some(*total)).collect(), Some(report.background.total()));
    let total = number(Some(joules(report.total()) * 1e3), 3);
    let power = number(watts(report.total(), gpu, cycles), 1);
    let share = |energy: Femtojoules| percent(Some(energy as f64 / report.total().max(1) as f64));
    let (leakage, clocks) = (share(report.standing.leakage), share(report.standing.clocks));
    let without = number(watts(report.without_leakage(), gpu, cycles), 1);
    format!(
        "{}total {total} mJ, {power} W on average; leakage of SMs {leakage}, their clocks {clocks}; {without} W without leakage\n",
        table::text(&table)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_hw_model::energy::{BackgroundEnergy, DynamicEnergy, StandingEnergy};
    use mias_lab::gpus;

    /// A kernel's 2 mJ in DRAM, 5 mJ of constant power and 3 mJ of SMs, including 2 mJ of leakage,
    /// in a millisecond: 10 W, and 8 W without leakage.
    #[test]
    fn joules_and_watts() {
        let gpu = gpus::load("rtx2060").unwrap();
        let mj: Femtojoules = 1_000_000_000_000;
        let launch = DynamicEnergy { dram: 2 * mj, ..DynamicEnergy::default() };
        let background = BackgroundEnergy { constant: 5 * mj, active_sms: 3 * mj, ..BackgroundEnergy::default() };
        let report = EnergyReport { launches: vec![launch], background, standing: StandingEnergy { leakage: 2 * mj, clocks: mj / 2 } };
        let cycles = u64::from(gpu.clocks.core_khz);
        let text = text(&report, &["mm"], &gpu, cycles);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        for row in [&["DRAM", "2.000", "-"][..], &["constant", "-", "5.000"], &["idle", "SMs", "-", "0.000"], &["sum", "2.000", "8.000"]] {
            assert!(rows.iter().any(|r| r == row), "{row:?} in {text}");
        }
        let last = "total 10.000 mJ, 10.0 W on average; leakage of SMs 20.0 %, their clocks 5.0 %; 8.0 W without leakage\n";
        assert!(text.ends_with(last), "{text}");
        let row = row(&report, &gpu, cycles);
        assert!((row.total_joules - 0.010).abs() < 1e-12 && (row.average_watts.unwrap() - 10.0).abs() < 1e-9);
        assert!((row.leakage_joules - 0.002).abs() < 1e-12 && (row.clock_joules - 0.0005).abs() < 1e-12);
        assert!((row.without_leakage_watts.unwrap() - 8.0).abs() < 1e-9);
        assert_eq!(super::row(&report, &gpu, 0).average_watts, None);
        assert!(launch_row(&report, 0).is_some() && launch_row(&report, 1).is_none());
    }
}
