//! GPU with other values in some fields of its file, by their names there. Plans vary such
//! fields, and mechanisms set them (`experiment/mechanisms.rs`).

use mias_hw_model::config::GpuConfig;
use mias_workloads::input::suggest;

/// Field of a GPU's file with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Path: the names of its tables, then its own. An element of a list is named by its index,
    /// from 0.
    pub path: Vec<String>,
    /// Value of the field. An empty table adds the table with its defaults if the GPU lacks it.
    pub value: toml::Value,
}

impl Field {
    /// Parses the fields of a TOML text in which tables nest as in a GPU's file.
    ///
    /// # Errors
    /// [`toml`]'s message.
    pub fn of_text(text: &str) -> Result<Vec<Field>, String> {
        let document: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
        let mut fields = Vec::new();
        flatten(&document, &mut Vec::new(), &mut fields);
        Ok(fields)
    }

    /// Returns whether the value is a table without fields.
    pub(crate) fn is_empty(&self) -> bool {
        self.value.as_table().is_some_and(toml::Table::is_empty)
    }

    /// Returns the dotted name of the field, including tables.
    pub fn name(&self) -> String {
        self.path.join(".")
    }
}

fn flatten(table: &toml::Table, path: &mut Vec<String>, fields: &mut Vec<Field>) {
    for (name, value) in table {
        path.push(name.clone());
        match value {
            toml::Value::Table(table) if !table.is_empty() => flatten(table, path, fields),
            value => fields.push(Field { path: path.clone(), value: value.clone() }),
        }
        path.pop();
    }
}

/// Returns the GPU with its fields changed. Options that are off are not in the document, so
/// the GPU's type decides whether a field is known.
///
/// # Errors
/// A message that names GPU and field.
pub fn changed<'f>(gpu: &GpuConfig, fields: impl IntoIterator<Item = &'f Field>) -> Result<GpuConfig, String> {
    let fail = |message: &str| format!("GPU `{}`: {message}", gpu.name);
    let mut document = toml::Value::try_from(gpu).map_err(|error| fail(&error.to_string()))?;
    for field in fields {
        let at = place(&mut document, &field.path).map_err(|message| fail(&message))?;
        // An empty table does not remove an existing one.
        if !(field.is_empty() && at.is_table()) {
            *at = field.value.clone();
        }
    }
    let mut gpu = read(document).map_err(|message| fail(&message))?;
    // A table with all options off equals a missing one.
    gpu.sm.memory_issue = gpu.sm.memory_issue.filter(|config| *config != Default::default());
    gpu.l1.partition = gpu.l1.partition.filter(|config| *config != Default::default());
    gpu.l1.miss_resources = gpu.l1.miss_resources.filter(|config| *config != Default::default());
    gpu.l2.partition = gpu.l2.partition.filter(|config| *config != Default::default());
    gpu.dram.scheduler = gpu.dram.scheduler.filter(|config| *config != Default::default());
    Ok(gpu)
}

/// Returns the GPU without the table of this name, or unchanged if it has none.
///
/// # Errors
/// A message that names the GPU, if the table is required.
pub fn without(gpu: &GpuConfig, path: &[String]) -> Result<GpuConfig, String> {
    let fail = |message: &str| format!("GPU `{}`: {message}", gpu.name);
    let mut document = toml::Value::try_from(gpu).map_err(|error| fail(&error.to_string()))?;
    if let Some((last, tables)) = path.split_last() {
        let table = tables.iter().try_fold(&mut document, |at, name| at.get_mut(name.as_str()));
        table.and_then(toml::Value::as_table_mut).map(|table| table.remove(last));
    }
    read(document).map_err(|message| fail(&message))
}

/// Reads a GPU from its document. A message starts with the key, unless it is about the whole GPU.
fn read(document: toml::Value) -> Result<GpuConfig, String> {
    serde_path_to_error::deserialize(document).map_err(|error: serde_path_to_error::Error<toml::de::Error>| {
        let message = suggested(error.inner().message());
        let of_key = error.path().iter().next().is_some() && error.path().to_string() != ".";
        if of_key { format!("{}: {message}", error.path()) } else { message }
    })
}

/// Message about an element beyond the end of a list.
pub const BEFORE: &str = "set the preceding ones first";

/// Returns the place of a field, created if missing; in a list, at most the first place after its
/// end.
fn place<'d>(document: &'d mut toml::Value, path: &[String]) -> Result<&'d mut toml::Value, String> {
    let no_field = || format!("no such field: {}", path.join("."));
    let mut at = document;
    for (depth, name) in path.iter().enumerate() {
        let element = path.get(depth + 1).is_some_and(|next| next.parse::<usize>().is_ok());
        let empty = || if element { toml::Value::Array(Vec::new()) } else { toml::Value::Table(toml::Table::new()) };
        at = match at {
            toml::Value::Table(table) => table.entry(name.as_str()).or_insert_with(empty),
            toml::Value::Array(list) => {
                let number: usize = name.parse().map_err(|_| no_field())?;
                if number == list.len() {
                    list.push(empty());
                }
                let length = list.len();
                let behind = || format!("{}: the list has {length} elements; {BEFORE}", path.join("."));
                list.get_mut(number).ok_or_else(behind)?
            }
            _ => return Err(no_field()),
        };
    }
    Ok(at)
}

/// Returns the GPU's name with every field that changes.
pub fn name<'f>(gpu: &GpuConfig, fields: impl IntoIterator<Item = &'f Field>) -> String {
    let mut name = gpu.name.clone();
    for field in fields {
        if !changed(gpu, [field]).is_ok_and(|same| same == *gpu) {
            name += &format!(" {}={}", field.name(), label(&field.value));
        }
    }
    name
}

/// Formats a field's value as users write it.
pub fn label(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Rewrites a message of [`serde`] or [`toml`] in the terms of users: TOML's types for Rust's, and
/// the nearest name for an unknown one, taken from the known ones between back-quotes.
fn suggested(message: &str) -> String {
    if message.contains("unit variant, expected string only") {
        return "expected a name, in quotes".to_owned();
    }
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    for (start, what) in [("unknown field `", "field"), ("unknown variant `", "value")] {
        if let Some((given, known)) = names.split_first()
            && message.starts_with(start)
        {
            return suggest::unknown(what, given, known);
        }
    }
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let expected = match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number from 0",
        "a boolean" => "true or false",
        _ if expected.starts_with("struct ") => "a table",
        _ => expected,
    };
    format!("{found}, expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_hw_model::config::{InFlightLimit, SelectorConfig, StaticLimit, SwitchModel, Unlimited};

    fn dai18() -> GpuConfig {
        crate::gpus::load("dai18-lines").unwrap()
    }

    fn fields(text: &str) -> Vec<Field> {
        Field::of_text(text).unwrap()
    }

    #[test]
    fn tables_nest_as_in_a_gpus_file() {
        let nested = fields("sm = { count = 4, units = { dp = { latency = 9 } } }");
        assert_eq!(nested, fields("sm.count = 4\nsm.units.dp.latency = 9"));
        let gpu = changed(&dai18(), &nested).unwrap();
        assert_eq!((gpu.sm.count, gpu.sm.units.dp.latency, gpu.sm.units.dp.interval), (4, 9, 8));
        assert_eq!(name(&dai18(), &nested), "dai18-lines sm.count=4 sm.units.dp.latency=9");
    }

    #[test]
    fn elements_of_a_list_are_named_by_their_place() {
        let path = |text: &str| text.split('.').map(str::to_owned).collect();
        let field = |text: &str, value: toml::Value| Field { path: path(text), value };
        let limits = [
            field("sm.memory_issue.in_flight", "static".into()),
            field("sm.memory_issue.limits.0", 3.into()),
            field("sm.memory_issue.limits.1", "inf".into()),
        ];
        let issue = changed(&dai18(), &limits).unwrap().sm.memory_issue.unwrap();
        assert_eq!(issue.in_flight, InFlightLimit::Static);
        assert_eq!(issue.limits, [StaticLimit::Most(3), StaticLimit::Any(Unlimited::Inf)]);
        let message = changed(&dai18(), &limits[2..]).unwrap_err();
        assert_eq!(message, "GPU `dai18-lines`: sm.memory_issue.limits.1: the list has 0 elements; set the preceding ones first");
    }

    #[test]
    fn messages_name_the_key_and_what_it_takes() {
        let message = |text: &str| changed(&dai18(), &fields(text)).unwrap_err();
        for (text, expected) in [
            ("l1.mshrs = \"many\"", "l1.mshrs: invalid type: string \"many\", expected a whole number from 0 to 4294967295"),
            ("sm = 3", "sm: invalid type: integer `3`, expected a table"),
            ("sm.warp_scheduler = \"gt\"", "sm.warp_scheduler: unknown value `gt`; did you mean `gto`? known: gto, lrr, kernel-lrr"),
        ] {
            assert_eq!(message(text), format!("GPU `dai18-lines`: {expected}"));
        }
    }

    /// As in a GPU's file, `selector = {}` is a selector with its defaults. An existing table
    /// stays unchanged.
    #[test]
    fn an_empty_table_is_a_table_with_its_defaults() {
        let selector = fields("sm.preemption.selector = {}");
        let preemption = changed(&dai18(), &selector).unwrap().sm.preemption.unwrap();
        assert_eq!((preemption.selector, preemption.switch), (Some(SelectorConfig::default()), SwitchModel::Traffic));
        assert_eq!(name(&dai18(), &selector), "dai18-lines sm.preemption.selector={}");
        let own = fields("sm.preemption = { switch = 'stall', selector.tb_cycles = 9 }");
        let has_own = changed(&dai18(), &own).unwrap();
        for text in ["sm.preemption.selector = {}", "sm.preemption = {}", "sm = {}", "sm.units.dp = {}"] {
            assert_eq!(changed(&has_own, &fields(text)).unwrap(), has_own, "{text}");
        }
        // A table without defaults, and a value that is no table.
        assert!(changed(&has_own, &fields("sm.power_gating = {}")).unwrap_err().contains("missing field"));
        assert!(changed(&has_own, &fields("sm.count = {}")).unwrap_err().contains("invalid type"));
        let number = changed(&has_own, &fields("sm.memory_issue.in_flight = 3")).unwrap_err();
        assert!(number.ends_with(": expected a name, in quotes"), "{number}");
    }

    #[test]
    fn all_off_is_the_gpu_itself() {
        let off = "sm.memory_issue = { order = 'scheduler', in_flight = 'none' }\nl1 = { partition.by = 'shared', miss_resources.by = 'shared' }\nl2.partition.by = 'shared'\ndram.scheduler.by = 'fr-fcfs'";
        assert_eq!(changed(&dai18(), &fields(off)).unwrap(), dai18());
        let unknown = changed(&dai18(), &fields("sm.memory_isue.order = 'quota'")).unwrap_err();
        assert!(unknown.contains("unknown field `memory_isue`; did you mean `memory_issue`?"), "{unknown}");
    }
}
