//! `mias options`: every key that `--set` takes, with its values, its default and what it means.

use super::choices::Format;
use super::{CliError, settings};
use mias_hw_model::config::GpuConfig;
use mias_lab::experiment::parameters::{GpuKey, Kind, OF_RUN, PARAMETERS, Parameter, keys_of_gpu};
use mias_lab::output::Output;
use mias_lab::table::DASH;
use mias_workloads::input::suggest;
use serde::Serialize;
use serde_json::Value;

/// Columns of a description's lines, indented under its key.
const WIDTH: usize = 100;

#[derive(Debug, clap::Args)]
pub(super) struct OptionsArgs {
    /// Only keys that begin so, as in l1 or sm.memory_issue
    #[arg(value_name = "KEY")]
    keys: Vec<String>,
    /// GPU whose values are shown as defaults, by name, or a TOML file
    #[arg(long, default_value = "rtx2060")]
    gpu: String,
    /// Form of the list
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// A key as it is listed.
#[derive(Serialize)]
struct Listed {
    key: String,
    /// What it is of: the experiment, a run, or the GPU.
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

/// Every key: parameters first, then those of GPUs.
fn listed(gpu: &GpuConfig) -> Result<Vec<Listed>, toml::ser::Error> {
    let values = toml::Value::try_from(gpu)?;
    let experiment = PARAMETERS.iter().map(|parameter| Listed::of_parameter(parameter, "experiment"));
    let run = OF_RUN.iter().map(|parameter| Listed::of_parameter(parameter, "run"));
    let gpu = keys_of_gpu().into_iter().map(|key| Listed::of_gpu(key, &values));
    Ok(experiment.chain(run).chain(gpu).collect())
}

impl Listed {
    fn of_parameter(parameter: &Parameter, of: &'static str) -> Self {
        let values = match parameter.kind {
            Kind::Whole { least, most, .. } => format!("{least} to {most}"),
            Kind::Flag { .. } => "true, false".into(),
            Kind::Named { choices, .. } => choices().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
            Kind::Text { examples, .. } => format!("as in {}", examples.join(" or ")),
        };
        let (key, default, description) = (parameter.name.into(), parameter.default.into(), parameter.about.into());
        Listed { key, of, values, default, description }
    }

    fn of_gpu(key: GpuKey, values: &toml::Value) -> Self {
        let has = key.name.split('.').try_fold(values, |at, name| at.get(name));
        let unless = || key.schema.get("default").map_or_else(|| DASH.to_owned(), Value::to_string);
        let default = has.map_or_else(unless, toml::Value::to_string);
        let about = key.schema["description"].as_str().unwrap_or_default();
        let description = about.split("\n\n- ").next().unwrap_or_default().replace('\n', " ");
        Listed { values: taken(&key.schema), key: key.name, of: "gpu", default, description }
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

/// What a schema takes, in words.
fn taken(schema: &Value) -> String {
    if let Some(names) = schema["enum"].as_array() {
        let words: Vec<String> = names.iter().map(|name| name.as_str().map_or_else(|| name.to_string(), str::to_owned)).collect();
        let numbers = names.iter().all(Value::is_u64);
        return match (&words[..], numbers) {
            ([first, second, .., last], true) if words.len() > 4 => format!("{first}, {second} and so on by powers of two to {last}"),
            _ => words.join(", "),
        };
    }
    if let Some(alternatives) = schema["anyOf"].as_array() {
        return alternatives.iter().map(taken).collect::<Vec<_>>().join(" or ");
    }
    match schema["type"].as_str() {
        Some("integer") => format!("{} to {}", schema["minimum"], schema["maximum"]),
        Some("boolean") => "true, false".into(),
        Some("array") => format!("a list of {}", taken(&schema["items"])),
        Some("object") => "a table".into(),
        _ => "a text".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No key without values and a line about it.
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
