//! Parameters of an experiment: what stays the same in all of its runs, or is varied over a list or a range. Each combination of
//! values is a *setting*.

use super::keys::{PARAMETERS, RANGE};
use super::reader::{Value, once};
use super::unfit::{Unfit, check_open_sms, check_room};
use super::{Order, PlanError};
use crate::choice::Choice;
use crate::experiment::levels::Levels;
use crate::experiment::machine::{End, Options};
use crate::experiment::policy::{Counted, IpcUnit, Latency, Transition};
use crate::experiment::precision::Precision;
use crate::experiment::shares::Shares;
use crate::experiment::time::Time;
use crate::experiment::workload::LATEST_ARRIVAL;
use crate::gpus::fields::{self, Field, changed, label};
use mias_hw_model::config::GpuConfig;
use mias_registers::{MAX_SMS, MAX_WINDOW};
use mias_workloads::input::suggest;

/// Most values of one parameter (assumption: more are a slip of the finger).
const MOST_VALUES: u64 = 1_000;

/// Longest window in core cycles: about twelve minutes of the GPU's time, which no simulation comes to (assumption: a longer one is a slip of
/// the finger). All windows of a plan can be added up.
pub(super) const LONGEST_WINDOW: u64 = 1_000_000_000_000;

/// What stands for no precision: every run goes to the end of its window.
pub(super) const OFF: &str = "off";

/// What a value does to a setting.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Cycles(u64),
    Done,
    Relaunch(bool),
    Counted(Counted),
    OpenSms(u32),
    ProfileCycles(u32),
    SearchCycles(u32),
    Shares(Shares),
    Transition(Transition),
    Latency(Latency),
    Ipc(IpcUnit),
    Order(Order),
    Arrive(u64),
    Priority(u8),
    Limit(Time),
    ShareMemory(bool),
    WarmL2(bool),
    Precision(Option<Precision>),
    SampleCycles(u64),
    Levels(Levels),
    /// A field of the machine.
    Machine(Field),
    /// A field of the machine where several kernels share it.
    Sharing(Field),
}

/// A parameter and its values.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) key: String,
    pub(super) values: Vec<(String, Change)>,
}

impl Axis {
    /// One value, which no result names.
    pub(super) fn of_one(key: &str, change: Change) -> Self {
        Axis { key: key.into(), values: vec![(String::new(), change)] }
    }

    pub(super) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.values.iter().map(|(_, change)| change)
    }
}

/// A value of each parameter.
type Combination<'a> = Vec<(&'a Axis, &'a (String, Change))>;

/// A machine under the name that says how it differs from its file.
#[derive(Clone, Debug)]
pub struct Named {
    /// The machine's name, with the fields that are not as in its file.
    pub name: String,
    /// What it is.
    pub gpu: GpuConfig,
}

impl Named {
    /// The same with other values in some more fields.
    ///
    /// # Errors
    /// A machine that cannot be; the message names it.
    pub fn with(&self, fields: &[Field]) -> Result<Named, String> {
        let gpu = changed(&self.gpu, fields)?;
        gpu.check().map_err(|error| format!("machine `{}`: {error}", gpu.name))?;
        let names = fields::name(&self.gpu, fields);
        Ok(Named { name: self.name.clone() + names.strip_prefix(&gpu.name).unwrap_or_default(), gpu })
    }
}

/// One combination of values, applied.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The machine's name, with the fields that are not as in its file.
    pub machine: String,
    /// What the machine is.
    pub gpu: GpuConfig,
    /// What it is where several kernels share it.
    pub sharing: Named,
    /// How runs go.
    pub options: Options,
    /// In which order kernels are launched.
    pub order: Order,
    /// Core cycle at which the last kernel of a group arrives; the others arrive at 0, as does one alone in its group.
    pub arrive: u64,
    /// Priority of the last kernel of a group.
    pub priority: u8,
    /// Core cycles in which the last kernel of a group is to have its room; 0: no limit.
    pub limit_cycles: u32,
    /// Key and value of the parameters that the experiment varies.
    pub labels: Vec<(String, String)>,
}

/// Reads `[experiment.parameters]`.
pub(super) fn parameters(value: &Value<'_>) -> Result<Vec<Axis>, PlanError> {
    let table = value.table("[experiment.parameters]", &PARAMETERS)?;
    if table.get("until").is_some() {
        if let Some(cycles) = table.get("cycles") {
            return Err(cycles.fail("give `cycles` or `until`, not both"));
        }
        if let Some(relaunch) = table.get("relaunch") {
            return Err(relaunch.fail("with `until` no kernel starts again; leave it out, or give a window by `cycles`"));
        }
        if let Some(counted) = table.get("counted") {
            return Err(counted
                .fail("with `until` every kernel runs once, and nothing else is counted; leave it out, or give a window by `cycles`"));
        }
        if let Some(precision) = table.get("precision") {
            return Err(precision.fail("with `until` every run goes to its end; leave it out, or give a window by `cycles`"));
        }
    }
    let axes: Vec<Axis> = value.entries()?.iter().map(axis).collect::<Result<_, _>>()?;
    if let Some(arrive) = table.get("arrive") {
        arrivals(&axes, table.get("until").is_some()).map_err(|message| arrive.fail(&message))?;
    }
    Ok(axes)
}

/// Refuses an arrival at or beyond the end of any window.
fn arrivals(axes: &[Axis], until_done: bool) -> Result<(), String> {
    let changes = || axes.iter().flat_map(|axis| &axis.values).map(|(_, change)| change);
    let latest = changes().filter_map(|change| if let Change::Arrive(cycle) = change { Some(*cycle) } else { None }).max();
    let window = changes().filter_map(|change| if let Change::Cycles(cycles) = change { Some(*cycles) } else { None }).min();
    let window = window.unwrap_or(super::DEFAULT_CYCLES);
    match latest {
        Some(cycle) if !until_done && cycle >= window => {
            Err(format!("{cycle}: the window ends at cycle {window}; let the kernel arrive earlier, or give larger `cycles`"))
        }
        _ => Ok(()),
    }
}

fn axis(value: &Value<'_>) -> Result<Axis, PlanError> {
    let key = value.key;
    if value.is_table() {
        return Ok(Axis {
            key: key.into(),
            values: range(value)?.into_iter().map(|n| Ok((n.to_string(), numeric(value, n)?))).collect::<Result<_, PlanError>>()?,
        });
    }
    let one = |value: &Value<'_>| -> Result<(String, Change), PlanError> {
        Ok(match key {
            "cycles" | "profile-cycles" | "search-cycles" | "arrive" | "sample-cycles" | "priority" | "sms" => {
                let number = value.whole(0..=u64::MAX)?;
                (number.to_string(), numeric(value, number)?)
            }
            "relaunch" => (value.flag()?.to_string(), Change::Relaunch(value.flag()?)),
            "warm-l2" => (value.flag()?.to_string(), Change::WarmL2(value.flag()?)),
            "share-memory" => (value.flag()?.to_string(), Change::ShareMemory(value.flag()?)),
            "shares" => {
                let shares: Shares = value.text()?.parse().map_err(|message: String| value.fail(&message))?;
                (shares.to_string(), Change::Shares(shares))
            }
            "limit" => {
                let text = value.text().map_err(|_| value.fail("a time is a text: core cycles, as in \"6825\", or \"5us\""))?;
                let time: Time = text.parse().map_err(|message: String| value.fail(&message))?;
                (time.to_string(), Change::Limit(time))
            }
            "precision" => (value.text()?.into(), Change::Precision(precision(value)?)),
            "until" if value.text()? == "done" => ("done".into(), Change::Done),
            "until" => return Err(value.fail("only `done` is known; a window is given by `cycles`")),
            "transition" => named(value, Change::Transition)?,
            "latency" => named(value, Change::Latency)?,
            "ipc" => named(value, Change::Ipc)?,
            "counted" => named(value, Change::Counted)?,
            "levels" => named(value, Change::Levels)?,
            _ => named(value, Change::Order)?,
        })
    };
    let written = value.one_or_more()?;
    let values: Vec<(String, Change)> = written.iter().map(one).collect::<Result<_, _>>()?;
    once(&written, values.iter().map(|(label, _)| label.as_str()))?;
    Ok(Axis { key: key.into(), values })
}

/// A number as a value of a parameter.
fn numeric(value: &Value<'_>, number: u64) -> Result<Change, PlanError> {
    let bounded = |most: u64| match number {
        0 => Err(value.fail("must be at least 1")),
        number if number > most => Err(value.fail(&format!("{number} must be 1 to {most}"))),
        number => Ok(number),
    };
    match value.key {
        "cycles" => Ok(Change::Cycles(bounded(LONGEST_WINDOW)?)),
        "sms" => Ok(Change::OpenSms(bounded(MAX_SMS as u64)? as u32)),
        "profile-cycles" => Ok(Change::ProfileCycles(bounded(MAX_WINDOW.into())? as u32)),
        "search-cycles" => Ok(Change::SearchCycles(bounded(MAX_WINDOW.into())? as u32)),
        "sample-cycles" => Ok(Change::SampleCycles(bounded(LONGEST_WINDOW)?)),
        "priority" => match u8::try_from(number) {
            Ok(priority) => Ok(Change::Priority(priority)),
            Err(_) => Err(value.fail(&format!("{number}: a launch has priority 0 to 255"))),
        },
        "arrive" if number > LATEST_ARRIVAL => Err(value.fail(&format!("{number}: the latest cycle is {LATEST_ARRIVAL}"))),
        "arrive" => Ok(Change::Arrive(number)),
        _ => Err(value.fail("has no range; give a value or a list of values")),
    }
}

/// A percentage, or `off`.
fn precision(value: &Value<'_>) -> Result<Option<Precision>, PlanError> {
    match value.text()? {
        OFF => Ok(None),
        text => text.parse().map(Some).map_err(|message: String| value.fail(&format!("{message}, or `{OFF}`"))),
    }
}

/// A value that has a name.
fn named<T: Choice>(value: &Value<'_>, change: impl Fn(T) -> Change) -> Result<(String, Change), PlanError> {
    let text = value.text()?;
    let parsed = T::find(text).ok_or_else(|| value.fail(&suggest::unknown("value", text, &T::names())))?;
    Ok((parsed.name().into(), change(parsed)))
}

/// `{ from = 20_000, to = 90_000, step = 10_000 }`.
fn range(value: &Value<'_>) -> Result<Vec<u64>, PlanError> {
    let table = value.table("a range", &RANGE)?;
    let number = |key: &str, least: u64| table.require(key)?.whole(least..=u64::MAX);
    let (from, to, step) = (number("from", 0)?, number("to", 0)?, number("step", 1)?);
    if from > to {
        return Err(value.fail(&format!("the range from {from} to {to} is empty")));
    }
    if (to - from) / step >= MOST_VALUES {
        return Err(value.fail(&format!("the range has more than {MOST_VALUES} values; give a larger step")));
    }
    Ok((0..=(to - from) / step).map(|n| from + n * step).collect())
}

/// Reads `[experiment.gpu-settings]` or `[experiment.sharing]`: fields of the machine's file by their dotted names, each a change of the kind
/// that `change` makes. Tables nest, as in the machine's file, and an empty one is a table with its defaults.
pub(super) fn gpu_settings(value: &Value<'_>, gpu: &GpuConfig, change: fn(Field) -> Change) -> Result<Vec<Axis>, PlanError> {
    let mut axes = Vec::new();
    fields_of(value, &mut Vec::new(), (gpu, change), &mut axes)?;
    Ok(axes)
}

/// A machine, and what becomes of its fields.
type Target<'g> = (&'g GpuConfig, fn(Field) -> Change);

fn fields_of(value: &Value<'_>, path: &mut Vec<String>, (gpu, change): Target<'_>, axes: &mut Vec<Axis>) -> Result<(), PlanError> {
    for entry in value.entries()? {
        let depth = path.len();
        // A quoted key may hold a whole path.
        path.extend(entry.key.split('.').map(str::to_owned));
        if entry.is_table() && !entry.is_range() && !entry.is_empty_table() {
            fields_of(&entry, path, (gpu, change), axes)?;
        } else {
            let numbers = |numbers: Vec<u64>| numbers.into_iter().map(|n| toml::Value::Integer(n as i64)).collect();
            let values: Vec<toml::Value> = match entry.is_table() {
                true if entry.is_empty_table() => vec![toml::Value::Table(toml::Table::new())],
                true => numbers(range(&entry)?),
                false => entry.one_or_more()?.iter().map(Value::plain).collect::<Result<_, _>>()?,
            };
            let fields: Vec<Field> = values.into_iter().map(|value| Field { path: path.clone(), value }).collect();
            // Every single change must make a machine; combinations are checked when they are made.
            for field in &fields {
                match changed(gpu, [field]) {
                    Err(error) if field.is_empty() => {
                        let remedy = "an empty table is one with its defaults; where there are none, give its fields, or leave it out";
                        return Err(entry.fail(&format!("{error}: {remedy}")));
                    }
                    // One of several fields of a table, or elements of a list, that the file has not.
                    Err(error) if error.contains("missing field") || error.contains(fields::BEFORE) => {}
                    made => made.map(drop).map_err(|error| entry.fail(&error))?,
                }
            }
            let values = fields.into_iter().map(|field| (label(&field.value), change(field))).collect();
            axes.push(Axis { key: path.join("."), values });
        }
        path.truncate(depth);
    }
    Ok(())
}

/// How many combinations of values there are.
pub(super) fn combinations(axes: &[Axis]) -> u64 {
    axes.iter().fold(1, |product, axis| product.saturating_mul(axis.values.len() as u64))
}

/// Refuses more combinations than anybody means.
pub(super) fn check_combinations(axes: &[Axis]) -> Result<(), String> {
    match combinations(axes) {
        0..=MOST_VALUES => Ok(()),
        count => Err(format!("{count} combinations of parameters, at most {MOST_VALUES} may be; vary fewer at a time")),
    }
}

/// All combinations of values on a machine, the first parameter changing slowest; [`check_combinations`] first.
///
/// # Errors
/// A machine that cannot be, or a parameter's value that it cannot have; the message says which.
pub(super) fn settings(axes: &[Axis], gpu: &GpuConfig) -> Result<Vec<Setting>, Unfit> {
    let mut combinations: Vec<Combination<'_>> = vec![Vec::new()];
    for axis in axes {
        let longer = combinations.iter().flat_map(|before| axis.values.iter().map(|value| [&before[..], &[(axis, value)]].concat()));
        combinations = longer.collect();
    }
    combinations.iter().map(|combination| setting(combination, gpu)).collect()
}

fn setting(combination: &Combination<'_>, gpu: &GpuConfig) -> Result<Setting, Unfit> {
    let changes: Vec<&Change> = combination.iter().map(|(_, (_, change))| change).collect();
    let of_machine = changes.iter().filter_map(|change| if let Change::Machine(field) = change { Some(field.clone()) } else { None });
    let of_machine: Vec<Field> = of_machine.collect();
    let of_sharing = changes.iter().filter_map(|change| if let Change::Sharing(field) = change { Some(field.clone()) } else { None });
    let of_both: Vec<Field> = of_machine.iter().cloned().chain(of_sharing).collect();
    let of_file = Named { name: gpu.name.clone(), gpu: gpu.clone() };
    let Named { name: machine, gpu } = of_file.with(&of_machine)?;
    let sharing = of_file.with(&of_both)?;
    let mut end = End::Cycles(super::DEFAULT_CYCLES);
    for change in &changes {
        match change {
            Change::Cycles(cycles) => end = End::Cycles(*cycles),
            Change::Done => end = End::Done,
            _ => {}
        }
    }
    let mut setting = Setting {
        machine,
        gpu,
        sharing,
        options: Options::new(end),
        order: Order::Given,
        arrive: 0,
        priority: 0,
        limit_cycles: 0,
        labels: Vec::new(),
    };
    for (axis, (label, change)) in combination {
        match change {
            Change::Relaunch(relaunch) => setting.options.relaunch = *relaunch,
            Change::ProfileCycles(cycles) => setting.options.profile_cycles = *cycles,
            Change::Shares(shares) => setting.options.shares = Some(*shares),
            Change::SearchCycles(cycles) => setting.options.search_cycles = *cycles,
            Change::Transition(transition) => setting.options.transition = *transition,
            Change::Latency(latency) => setting.options.latency = *latency,
            Change::Ipc(ipc) => setting.options.ipc = *ipc,
            Change::OpenSms(sms) => setting.options.open_sms = Some(check_open_sms(*sms, &setting.gpu)?),
            Change::Counted(counted) => setting.options.counted = *counted,
            Change::Order(order) => setting.order = *order,
            Change::Arrive(cycle) => setting.arrive = *cycle,
            Change::Priority(priority) => setting.priority = *priority,
            Change::Limit(limit) => setting.limit_cycles = limit.limit_cycles(&setting.gpu).map_err(|why| Unfit::of("limit", why))?,
            Change::WarmL2(warm) => setting.options.warm_l2 = *warm,
            Change::ShareMemory(share) => setting.options.share_memory = *share,
            Change::Precision(precision) => setting.options.precision = *precision,
            Change::SampleCycles(cycles) => setting.options.sample_cycles = Some(*cycles),
            Change::Levels(levels) => setting.options.levels = *levels,
            Change::Cycles(_) | Change::Done | Change::Machine(_) | Change::Sharing(_) => {}
        }
        if axis.values.len() > 1 {
            setting.labels.push((axis.key.clone(), label.clone()));
        }
    }
    check_room(&setting)?;
    Ok(setting)
}
