//! Parameters of an experiment: constant in all of its runs, or varied over a list or a range. Each
//! combination of values is a *setting*.

use super::PlanError;
use super::keys::RANGE;
use super::reader::{Value, once};
use super::unfit::{Unfit, check_room};
use crate::experiment::fits;
use crate::experiment::gpu_runner::{End, Options};
use crate::experiment::parameters::{Assignments, Kind, Order, PARAMETERS, Parameter, Parameters, check_together};
use crate::experiment::time::Time;
use crate::gpus::fields::{self, Field, changed, label};
use mias_hw_model::config::GpuConfig;

/// Maximum number of values of one parameter (assumption: more are a typing error).
const MOST_VALUES: u64 = 1_000;

/// Effect of a value on a setting.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Sets a parameter of the experiment.
    Parameter(&'static Parameter, toml::Value),
    /// Sets a field of the GPU.
    Gpu(Field),
    /// Sets a field of the GPU for shared runs.
    Sharing(Field),
}

impl Change {
    /// Creates a change of the named parameter to this number.
    pub(super) fn whole(name: &str, number: u64) -> Option<Self> {
        let parameter = PARAMETERS.iter().find(|parameter| parameter.name == name)?;
        Some(Change::Parameter(parameter, toml::Value::Integer(i64::try_from(number).ok()?)))
    }
}

/// Parameter with its values.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) key: String,
    pub(super) values: Vec<(String, Change)>,
}

impl Axis {
    /// Creates an axis with a single value, which results do not list.
    pub(super) fn of_one(key: &str, change: Change) -> Self {
        Axis { key: key.into(), values: vec![(String::new(), change)] }
    }

    /// Returns the values of the axis that are numbers of a parameter.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        let number = |change: &Change| match change {
            Change::Parameter(_, value) => u64::try_from(value.as_integer()?).ok(),
            Change::Gpu(_) | Change::Sharing(_) => None,
        };
        self.values.iter().filter_map(move |(_, change)| number(change))
    }
}

/// A value of each parameter.
type Combination<'a> = Vec<(&'a Axis, &'a (String, Change))>;

/// GPU with a name that lists its changed fields.
#[derive(Clone, Debug)]
pub struct Named {
    /// Name of the GPU, with the fields that differ from its file.
    pub name: String,
    /// Configuration of the GPU.
    pub gpu: GpuConfig,
}

impl Named {
    /// Returns the GPU with more fields changed.
    ///
    /// # Errors
    /// An invalid GPU; the message names it.
    pub fn with(&self, fields: &[Field]) -> Result<Named, String> {
        let gpu = changed(&self.gpu, fields)?;
        gpu.check().map_err(|error| format!("GPU `{}`: {error}", gpu.name))?;
        let names = fields::name(&self.gpu, fields);
        Ok(Named { name: self.name.clone() + names.strip_prefix(&gpu.name).unwrap_or_default(), gpu })
    }
}

/// Combination of values, applied.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Name of the GPU, with the fields that differ from its file.
    pub gpu_name: String,
    /// Configuration of the GPU.
    pub gpu: GpuConfig,
    /// GPU for shared runs.
    pub sharing: Named,
    /// Options of the runs.
    pub options: Options,
    /// Order in which kernels are launched.
    pub order: Order,
    /// Core cycle at which the last kernel of a group arrives; the others, and a single kernel,
    /// arrive at 0.
    pub arrive: u64,
    /// Priority of the last kernel of a group.
    pub priority: u8,
    /// Latency limit for the placement of the last kernel of a group, in core cycles; 0 for no
    /// limit.
    pub limit_cycles: u32,
    /// Keys and values of the parameters that the experiment varies.
    pub labels: Vec<(String, String)>,
}

impl Setting {
    /// Overrides parameters and keys of the GPU.
    pub(super) fn assign(&mut self, assigned: &Assignments) -> Result<(), String> {
        let limit = (self.limit_cycles != 0).then_some(Time::Cycles(self.limit_cycles.into()));
        let mut parameters =
            Parameters { order: self.order, arrive: self.arrive, priority: self.priority, limit, ..Parameters::new(End::Done) };
        parameters.options = self.options;
        assigned.apply(&mut parameters, &[])?;
        if parameters.options.end == End::Done {
            parameters.options.precision = None;
        }
        self.gpu_name += &assigned.label(&self.gpu);
        self.sharing.name += &assigned.label(&self.sharing.gpu);
        (self.gpu, self.sharing.gpu) = (assigned.gpu(&self.gpu)?, assigned.gpu(&self.sharing.gpu)?);
        self.options = parameters.options;
        (self.order, self.arrive, self.priority) = (parameters.order, parameters.arrive, parameters.priority);
        self.limit_cycles = parameters.limit.map_or(Ok(0), |limit| limit.limit_cycles(&self.gpu))?;
        self.labels.retain(|(key, _)| !assigned.sets(key));
        self.options.open_sms.map_or(Ok(()), |sms| fits::check_open_sms(sms, &self.gpu))?;
        check_room(self).map_err(|unfit| unfit.message)
    }
}

/// Reads `[experiment.parameters]`.
pub(super) fn parameters(value: &Value<'_>) -> Result<Vec<Axis>, PlanError> {
    let table = value.table("[experiment.parameters]", PARAMETERS.iter().map(|parameter| parameter.name))?;
    if let Err((key, why)) = check_together(|key| table.get(key).is_some()) {
        return Err(table.require(key)?.fail(why));
    }
    let axes: Vec<Axis> = value.entries()?.iter().map(axis).collect::<Result<_, _>>()?;
    if let Some(arrive) = table.get("arrive") {
        arrivals(&axes, table.get("until").is_some()).map_err(|message| arrive.fail(&message))?;
    }
    Ok(axes)
}

/// Rejects an arrival at or beyond the end of any window.
fn arrivals(axes: &[Axis], until_done: bool) -> Result<(), String> {
    let numbers = |key| axes.iter().filter(|axis| axis.key == key).flat_map(Axis::numbers).collect::<Vec<u64>>();
    let window = numbers("cycles").into_iter().min().unwrap_or(super::DEFAULT_CYCLES);
    match numbers("arrive").into_iter().max() {
        Some(cycle) if !until_done && cycle >= window => {
            Err(format!("{cycle}: the window ends at cycle {window}; use an earlier arrival or larger `cycles`"))
        }
        _ => Ok(()),
    }
}

fn axis(value: &Value<'_>) -> Result<Axis, PlanError> {
    let parameter = PARAMETERS.iter().find(|parameter| parameter.name == value.key);
    let parameter = parameter.ok_or_else(|| value.fail("no such parameter"))?;
    let read = |place: &Value<'_>, written: toml::Value| {
        let label = parameter.set(&mut Parameters::new(End::Done), &written).map_err(|message| place.fail(&message))?;
        Ok((label, Change::Parameter(parameter, written)))
    };
    if value.is_table() {
        if !matches!(parameter.kind, Kind::Whole { .. }) {
            return Err(value.fail("does not accept a range; use a value or a list of values"));
        }
        let numbers = range(value)?.into_iter().map(|number| read(value, toml::Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))));
        return Ok(Axis { key: value.key.into(), values: numbers.collect::<Result<_, PlanError>>()? });
    }
    let written = value.one_or_more()?;
    let values: Vec<(String, Change)> = written.iter().map(|one| read(one, one.plain()?)).collect::<Result<_, PlanError>>()?;
    once(&written, values.iter().map(|(label, _)| label.as_str()))?;
    Ok(Axis { key: value.key.into(), values })
}

/// Reads `{ from = 20_000, to = 90_000, step = 10_000 }`.
fn range(value: &Value<'_>) -> Result<Vec<u64>, PlanError> {
    let table = value.table("a range", RANGE.iter().map(|key| key.name))?;
    let number = |key: &str, least: u64| table.require(key)?.whole(least..=u64::MAX);
    let (from, to, step) = (number("from", 0)?, number("to", 0)?, number("step", 1)?);
    if from > to {
        return Err(value.fail(&format!("the range from {from} to {to} is empty")));
    }
    if (to - from) / step >= MOST_VALUES {
        return Err(value.fail(&format!("the range has more than {MOST_VALUES} values; use a larger step")));
    }
    Ok((0..=(to - from) / step).map(|n| from + n * step).collect())
}

/// Reads `[experiment.gpu-settings]` or `[experiment.sharing]`: fields of the GPU's file by
/// their dotted names, each a change of the kind that `change` makes. Tables nest, as in the
/// GPU's file, and an empty one is a table with its defaults.
pub(super) fn gpu_settings(value: &Value<'_>, gpu: &GpuConfig, change: fn(Field) -> Change) -> Result<Vec<Axis>, PlanError> {
    let mut axes = Vec::new();
    fields_of(value, &mut Vec::new(), (gpu, change), &mut axes)?;
    Ok(axes)
}

/// GPU, and the kind of change for its fields.
type Target<'g> = (&'g GpuConfig, fn(Field) -> Change);

fn fields_of(value: &Value<'_>, path: &mut Vec<String>, (gpu, change): Target<'_>, axes: &mut Vec<Axis>) -> Result<(), PlanError> {
    for entry in value.entries()? {
        let depth = path.len();
        // A quoted key may contain a whole path.
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
            // Every single change must be valid on its own; combinations are checked when they are
            // made.
            for field in &fields {
                match changed(gpu, [field]) {
                    Err(error) if field.is_empty() => {
                        let remedy = "an empty table has its defaults; if there are none, set its fields, or leave it out";
                        return Err(entry.fail(&format!("{error}: {remedy}")));
                    }
                    // One of several required fields of a table, or elements of a list, that the
                    // file lacks.
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

/// Returns the number of combinations of values.
pub(super) fn combinations(axes: &[Axis]) -> u64 {
    axes.iter().fold(1, |product, axis| product.saturating_mul(axis.values.len() as u64))
}

/// Rejects an excessive number of combinations.
pub(super) fn check_combinations(axes: &[Axis]) -> Result<(), String> {
    match combinations(axes) {
        0..=MOST_VALUES => Ok(()),
        count => Err(format!("{count} combinations of parameters; the limit is {MOST_VALUES}: vary fewer at a time")),
    }
}

/// Returns all combinations of values on a GPU, the first parameter changing slowest; call
/// [`check_combinations`] first.
///
/// # Errors
/// An invalid GPU, or a parameter value that it does not support; the message names it.
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
    let of_gpu = changes.iter().filter_map(|change| if let Change::Gpu(field) = change { Some(field.clone()) } else { None });
    let of_gpu: Vec<Field> = of_gpu.collect();
    let of_sharing = changes.iter().filter_map(|change| if let Change::Sharing(field) = change { Some(field.clone()) } else { None });
    let of_both: Vec<Field> = of_gpu.iter().cloned().chain(of_sharing).collect();
    let of_file = Named { name: gpu.name.clone(), gpu: gpu.clone() };
    let Named { name: gpu_name, gpu } = of_file.with(&of_gpu)?;
    let sharing = of_file.with(&of_both)?;
    let mut parameters = Parameters::new(End::Cycles(super::DEFAULT_CYCLES));
    let mut labels = Vec::new();
    for (axis, (label, change)) in combination {
        if let Change::Parameter(parameter, value) = change {
            parameter.set(&mut parameters, value).map_err(|why| Unfit::of(parameter.name, why))?;
        }
        if axis.values.len() > 1 {
            labels.push((axis.key.clone(), label.clone()));
        }
    }
    let Parameters { options, order, arrive, priority, limit, .. } = parameters;
    options.open_sms.map_or(Ok(()), |sms| fits::check_open_sms(sms, &gpu)).map_err(|why| Unfit::of("sms", why))?;
    let limit_cycles = limit.map_or(Ok(0), |limit| limit.limit_cycles(&gpu)).map_err(|why| Unfit::of("limit", why))?;
    let setting = Setting { gpu_name, gpu, sharing, options, order, arrive, priority, limit_cycles, labels };
    check_room(&setting)?;
    Ok(setting)
}
