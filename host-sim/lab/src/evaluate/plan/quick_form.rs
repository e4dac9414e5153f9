//! Quick form of any plan: the same experiments and policies, with the sizes of the plan `quick`.
//! Built-in kernels without an input get `quick`'s, and windows and profiles are as short. The
//! GPU is reduced to a third if its SMs and memory channels are divisible. Inputs and GPU
//! settings of an experiment stay, as does a list of profile lengths.
//!
//! An experiment may define its own quick form under `quick`, which overrides these rules.

use super::keys::QUICK;
use super::parameters::{Axis, Change};
use super::reader::{Table, Value};
use super::{DEFAULT_CYCLES, PlanError};
use crate::gpus::fields::Field;
use mias_hw_model::config::GpuConfig;

/// Longest window in core cycles, as in the plan `quick`.
const CYCLES: u64 = 600_000;

/// Longest profiling window in core cycles, as in the plan `quick`.
const PROFILE_CYCLES: u64 = 20_000;

/// Divisor of SMs and memory channels, as in the plan `quick`.
const PART: u32 = 3;

/// Table of an experiment, overlaid with that of its quick form if requested.
pub(super) struct Form<'t> {
    written: &'t Table<'t>,
    instead: Option<Table<'t>>,
}

impl<'t> Form<'t> {
    /// Creates the form of an experiment.
    pub(super) fn of(written: &'t Table<'t>, quick: bool) -> Result<Self, PlanError> {
        let instead = written.get("quick").filter(|value| quick && value.is_table());
        Ok(Form { written, instead: instead.map(|value| value.table("[experiment.quick]", QUICK.iter().map(|key| key.name))).transpose()? })
    }

    /// Returns the value of a key.
    pub(super) fn get(&self, key: &str) -> Option<Value<'t>> {
        self.instead.as_ref().and_then(|instead| instead.get(key)).or_else(|| self.written.get(key))
    }

    pub(super) fn require(&self, key: &str) -> Result<Value<'t>, PlanError> {
        self.get(key).map_or_else(|| self.written.require(key), Ok)
    }

    /// Returns the value of a key in the table under another key; `None` if that is no table.
    pub(super) fn within(&self, table: &str, key: &str) -> Option<Value<'t>> {
        let of = |form: &Table<'t>| form.get(table)?.entries().ok()?.into_iter().find(|entry| entry.key == key);
        self.instead.as_ref().and_then(of).or_else(|| of(self.written))
    }

    /// Returns the table that defines the groups.
    pub(super) fn of_groups(&self) -> &Table<'t> {
        let says = |table: &&Table<'t>| table.get("groups").is_some() || table.get("together").is_some();
        self.instead.as_ref().filter(says).unwrap_or(self.written)
    }

    /// Returns the parameters under a key: those of the quick form, and the others that it does not
    /// override.
    pub(super) fn axes(&self, key: &str, read: impl Fn(&Value<'_>) -> Result<Vec<Axis>, PlanError>) -> Result<Vec<Axis>, PlanError> {
        let of = |table: &Table<'t>| table.get(key).map(|value| read(&value)).transpose().map(Option::unwrap_or_default);
        let mut axes = of(self.written)?;
        for axis in self.instead.as_ref().map(of).transpose()?.unwrap_or_default() {
            match axes.iter_mut().find(|before| before.key == axis.key) {
                Some(before) => *before = axis,
                None => axes.push(axis),
            }
        }
        Ok(axes)
    }
}

/// Returns whether an experiment is left out of the quick form: `quick = false`.
pub(super) fn leaves_out(table: &Table<'_>) -> Result<bool, PlanError> {
    match table.get("quick") {
        Some(value) if !value.is_table() => Ok(!value.flag()?),
        _ => Ok(false),
    }
}

/// Returns `word` with the input that `quick` gives it; `None` if it is no bare name of a kernel in
/// `quick`.
pub(super) fn kernel(word: &str) -> Option<String> {
    let plan: toml::Table = mias_plans::text("quick")?.parse().ok()?;
    let kernels = plan.get("experiment")?.as_array()?.first()?.get("kernels")?.as_array()?;
    let mut words = kernels.iter().filter_map(toml::Value::as_str);
    words.find(|quick| quick.split_once(':').is_some_and(|(name, _)| name == word)).map(str::to_owned)
}

/// Shortens the windows of an experiment. Several lengths keep their proportions.
pub(super) fn parameters(mut axes: Vec<Axis>) -> Vec<Axis> {
    let has = |axes: &[Axis], key: &str| axes.iter().any(|axis| axis.key == key);
    for (key, number) in [("cycles", DEFAULT_CYCLES), ("profile-cycles", PROFILE_CYCLES)] {
        let given = has(&axes, key) || (key == "cycles" && has(&axes, "until"));
        if !given {
            axes.extend(Change::whole(key, number).map(|change| Axis::of_one(key, change)));
        }
    }
    for axis in &mut axes {
        let longest = axis.numbers().max().unwrap_or(0);
        let one = axis.values.len() == 1;
        let shorter = |cycles: u64| match axis.key.as_str() {
            "cycles" if longest > CYCLES => (u128::from(cycles) * u128::from(CYCLES) / u128::from(longest)).max(1) as u64,
            "profile-cycles" if one => cycles.min(PROFILE_CYCLES),
            _ => cycles,
        };
        if !["cycles", "profile-cycles"].contains(&axis.key.as_str()) {
            continue;
        }
        let shorter: Vec<u64> = axis.numbers().map(shorter).collect();
        let values = shorter.into_iter().filter_map(|cycles| Some((cycles.to_string(), Change::whole(&axis.key, cycles)?)));
        axis.values = values.collect();
    }
    axes
}

/// Reduces the GPU of an experiment to a third if possible, unless the plan sets its size.
pub(super) fn gpu(mut axes: Vec<Axis>, gpu: &GpuConfig) -> Vec<Axis> {
    let given = axes.iter().any(|axis| ["sm.count", "dram.channels"].contains(&axis.key.as_str()));
    let (sms, channels) = (gpu.sm.count, gpu.dram.channels);
    if !given && sms % PART == 0 && channels % PART == 0 {
        for (table, field, number) in [("sm", "count", sms / PART), ("dram", "channels", channels / PART)] {
            let change = Change::Gpu(Field { path: vec![table.into(), field.into()], value: number.into() });
            axes.push(Axis::of_one(&format!("{table}.{field}"), change));
        }
    }
    axes
}
