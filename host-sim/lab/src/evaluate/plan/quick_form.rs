//! The quick form of any plan: the same experiments and policies, with what the plan `quick` has of the thesis'. Built-in kernels that are
//! named without an input have `quick`'s, windows and profiles are as short, and the machine is a third where its SMs and its memory channels
//! can be divided. What an experiment itself says of its kernels' inputs or its machine stays, as does a list of profiles' lengths.

use super::DEFAULT_CYCLES;
use super::parameters::{Axis, Change};
use mias_hw_model::config::GpuConfig;

/// Longest window in core cycles, as in the plan `quick`.
const CYCLES: u64 = 600_000;

/// Longest profiling window in core cycles, as there.
const PROFILE_CYCLES: u32 = 20_000;

/// A third of the SMs and of the memory channels, as there.
const PART: u32 = 3;

/// `word` with the input that `quick` gives it; none if it is no kernel of `quick`'s by its bare name.
pub(super) fn kernel(word: &str) -> Option<String> {
    let plan: toml::Table = mias_plans::text("quick")?.parse().ok()?;
    let kernels = plan.get("experiment")?.as_array()?.first()?.get("kernels")?.as_array()?;
    let mut words = kernels.iter().filter_map(toml::Value::as_str);
    words.find(|quick| quick.split_once(':').is_some_and(|(name, _)| name == word)).map(str::to_owned)
}

/// The parameters of an experiment with shorter windows. Several lengths keep their proportions.
pub(super) fn parameters(mut axes: Vec<Axis>) -> Vec<Axis> {
    let until_done = axes.iter().any(|axis| axis.changes().any(|change| matches!(change, Change::Done)));
    if !until_done && !axes.iter().any(|axis| axis.key == "cycles") {
        axes.push(Axis::of_one("cycles", Change::Cycles(DEFAULT_CYCLES)));
    }
    if !axes.iter().any(|axis| axis.key == "profile-cycles") {
        axes.push(Axis::of_one("profile-cycles", Change::ProfileCycles(PROFILE_CYCLES)));
    }
    for axis in &mut axes {
        let longest = axis.changes().map(|change| if let Change::Cycles(cycles) = change { *cycles } else { 0 }).max().unwrap_or(0);
        let one = axis.values.len() == 1;
        for (label, change) in &mut axis.values {
            match change {
                Change::Cycles(cycles) if longest > CYCLES => {
                    *cycles = (u128::from(*cycles) * u128::from(CYCLES) / u128::from(longest)).max(1) as u64;
                    *label = cycles.to_string();
                }
                Change::ProfileCycles(cycles) if one => {
                    *cycles = (*cycles).min(PROFILE_CYCLES);
                    *label = cycles.to_string();
                }
                _ => {}
            }
        }
    }
    axes
}

/// The machine of an experiment whose plan does not say how large it is: a third, where that can be.
pub(super) fn machine(mut axes: Vec<Axis>, gpu: &GpuConfig) -> Vec<Axis> {
    let given = axes.iter().any(|axis| ["sm.count", "dram.channels"].contains(&axis.key.as_str()));
    let (sms, channels) = (gpu.sm.count, gpu.dram.channels);
    if !given && sms % PART == 0 && channels % PART == 0 {
        for (table, field, number) in [("sm", "count", sms / PART), ("dram", "channels", channels / PART)] {
            let change = Change::Machine(vec![table.into(), field.into()], toml::Value::Integer(number.into()));
            axes.push(Axis::of_one(&format!("{table}.{field}"), change));
        }
    }
    axes
}
