//! `mias options`: every key of `--set` with its values, default and meaning.

use super::choices::Format;
use super::{CliError, settings};
use mias_hw_model::config::GpuConfig;
use mias_lab::experiment::parameters::{GpuKey, Kind, OF_RUN, PARAMETERS, Parameter, keys_of_gpu};
use mias_lab::output::Output;
use mias_lab::table::{DASH, grouped};
use mias_workloads::input::suggest;
use serde::Serialize;
use serde_json::{Value, json};

/// Width of a description's lines in columns, indented under its key.
const WIDTH: usize = 100;

#[derive(Debug, clap::Args)]
pub(super) struct OptionsArgs {
    /// Prefix of the keys to list, as in l1 or sm.memory_issue
    #[arg(value_name = "KEY")]
    keys: Vec<String>,
    /// GPU whose values are the defaults: a built-in name or a TOML file
    #[arg(long, default_value = "rtx2060")]
    gpu: String,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// A listed key.
#[derive(Serialize)]
struct Listed {
    key: String,
    /// Scope of the key: the experiment, a run, or the GPU.
    of: &'static str,
    values: String,
    default: String,
    description: String,
}

pub(super) fn main(args: &OptionsArgs) -> Result<(), CliError> {
    let gpu = settings::load_gpu(&args.gpu)?;
    let all = listed(&gpu).map_err(CliError::internal)?;
    let names: Vec<&str> = all.iter().map(|listed| listed.key.as_str()).collect();
    if let Some(unknown) = args.keys.iter().find(|key| !names.iter().any(|name| name.starts_with(key.as_str()))) {
        let hint = suggest::nearest(unknown, names).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        return Err(CliError::User(format!("no key begins with `{unknown}`{hint}")));
    }
    let wanted = |listed: &&Listed| args.keys.is_empty() || args.keys.iter().any(|key| listed.key.starts_with(key.as_str()));
    let shown: Vec<&Listed> = all.iter().filter(wanted).collect();
    let text = match args.format {
        Format::Json => serde_json::to_string_pretty(&shown).map_err(CliError::internal)? + "\n",
        Format::Table => shown.iter().map(|listed| listed.text()).collect(),
    };
    Ok(Output::open(None)?.write(&text)?)
}

/// Returns all keys: parameters first, then GPU keys.
fn listed(gpu: &GpuConfig) -> Result<Vec<Listed>, toml::ser::Error> {
    let values = toml::Value::try_from(gpu)?;
    let experiment = PARAMETERS.iter().map(|parameter| Listed::of_parameter(parameter, "experiment"));
    let run = OF_RUN.iter().map(|parameter| Listed::of_parameter(parameter, "run"));
    let gpu = keys_of_gpu().into_iter().map(|key| Listed::of_gpu(key, &values));
    Ok(experiment.chain(run).chain(gpu).collect())
}

impl Listed {
    fn of_parameter(parameter: &Parameter, of: &'static str) -> Self {
        let (key, default, description) = (parameter.name.into(), parameter.default.into(), parameter.about.into());
        Listed { key, of, values: values(parameter), default, description }
    }

    fn of_gpu(key: GpuKey, values: &toml::Value) -> Self {
        let has = key.name.split('.').try_fold(values, |at, name| at.get(name));
        let unless = || key.schema.get("default").map_or_else(|| DASH.to_owned(), Value::to_string);
        let default = has.map_or_else(unless, toml::Value::to_string);
        let about = key.schema["description"].as_str().unwrap_or_default();
        let description = about.split("\n\n- ").next().unwrap_or_default().replace('\n', " ");
        Listed { values: taken(&key.schema, str::to_owned), key: key.name, of: "gpu", default, description }
    }

    fn text(&self) -> String {
        let Listed { key, values, default, description, .. } = self;
        let mut text = format!("{key} = {default}\n");
        for paragraph in [format!("values: {values}"), description.clone()] {
            let mut line = String::new();
            for word in paragraph.split_whitespace() {
                if !line.is_empty() && line.len() + word.len() >= WIDTH {
                    text += &format!("    {line}\n");
                    line.clear();
                }
                line += if line.is_empty() { "" } else { " " };
                line += word;
            }
            text += &if line.is_empty() { line } else { format!("    {line}\n") };
        }
        text
    }
}

/// Returns the values of a parameter, in words.
pub(super) fn values(parameter: &Parameter) -> String {
    match parameter.kind {
        Kind::Whole { least, most, .. } => range(least, most),
        Kind::Flag { .. } => "true, false".into(),
        Kind::Named { choices, .. } => choices().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
        Kind::Text { examples, .. } => format!("as in {}", examples.join(" or ")),
    }
}

/// Returns the values of a schema, in words; `name` writes a name among them.
pub(super) fn taken(schema: &Value, name: fn(&str) -> String) -> String {
    if let Some(names) = schema["enum"].as_array() {
        let numbers: Vec<u64> = names.iter().filter_map(Value::as_u64).collect();
        return match numbers[..] {
            [least, .., most] if numbers.len() > 4 => {
                format!("a power of two, {}", range(least, if most < 1 << 31 { most } else { u64::MAX }))
            }
            _ => names.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), name)).collect::<Vec<_>>().join(", "),
        };
    }
    if let Some(alternatives) = schema["anyOf"].as_array() {
        return match &alternatives[..] {
            // One value, or a list of such values.
            [one, list] if list["items"] == *one => format!("{}, or a list", taken(one, name)),
            [known, other] if known["enum"].is_array() && *other == json!({ "type": "string" }) => KNOWN_OR_FILE.into(),
            _ => alternatives.iter().map(|alternative| taken(alternative, name)).collect::<Vec<_>>().join(" or "),
        };
    }
    match schema["type"].as_str() {
        Some("integer") => {
            let bound = |keyword: &str, none: u64| schema[keyword].as_u64().unwrap_or(none);
            let multiple = schema["multipleOf"].as_u64().map(|of| format!(", a multiple of {of}"));
            range(bound("minimum", 0), bound("maximum", u64::MAX)) + &multiple.unwrap_or_default()
        }
        Some("number") => "number".into(),
        Some("boolean") => "true, false".into(),
        Some("array") => list(&taken(&schema["items"], name)),
        Some("object") => "table".into(),
        _ => "text".into(),
    }
}

/// Values of a key that names something built in, or a file.
const KNOWN_OR_FILE: &str = "a built-in name or a file";

/// Returns a list of such values, in words.
fn list(values: &str) -> String {
    match values {
        "text" | "number" => format!("list of {values}s"),
        KNOWN_OR_FILE => "list of built-in names or files".into(),
        values => values.strip_prefix("list of ").map_or_else(|| format!("list, each {values}"), |of| format!("list of lists of {of}")),
    }
}

/// Returns a range in words. The largest number of a type is no bound.
fn range(least: u64, most: u64) -> String {
    if most == u64::MAX || most == u64::from(u32::MAX) {
        return format!("{} or more", grouped(least));
    }
    format!("{} to {}", grouped(least), grouped(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every key lists its values and has a description.
    #[test]
    fn every_key_says_what_it_takes_and_means() {
        let all = listed(&mias_lab::gpus::load("rtx2060").expect("built in")).expect("TOML");
        for listed in &all {
            assert!(!listed.values.is_empty() && !listed.values.contains("null"), "{}: {}", listed.key, listed.values);
            assert!(!listed.default.is_empty(), "{}", listed.key);
            assert!(!listed.description.is_empty(), "{}", listed.key);
        }
        let of = |key: &str| all.iter().find(|listed| listed.key == key).unwrap_or_else(|| panic!("{key}"));
        assert_eq!(of("sm.warp_scheduler").values, "gto, lrr, kernel-lrr");
        assert_eq!(of("l1.partition.period_cycles").default, "50000", "what it is unless the file has it");
        assert_eq!(of("ipc").values, "thread, warp");
    }
}
