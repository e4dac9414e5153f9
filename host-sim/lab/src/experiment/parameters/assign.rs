//! Assignments `KEY=VALUE` after `--set`: parameters of the experiment, and keys of the GPU's file.

use super::known::{Found, find, keys_of_gpu};
use super::{Kind, OFF, Parameter, Parameters, check_together};
use crate::gpus::fields::{self, Field, changed};
use mias_hw_model::config::GpuConfig;
use mias_workloads::input::suggest;
use toml::Value;

/// Parsed assignments of parameters and GPU keys.
#[derive(Clone, Debug, Default)]
pub struct Assignments {
    parameters: Vec<(&'static Parameter, Value)>,
    fields: Vec<Field>,
    /// Optional tables removed from the GPU.
    removed: Vec<Vec<String>>,
}

impl Assignments {
    /// Parses the words; parameters are those of `known`.
    ///
    /// # Errors
    /// The invalid word and the reason.
    pub fn parse(words: &[String], known: &[&'static Parameter]) -> Result<Self, String> {
        let keys = keys_of_gpu();
        let mut all = Assignments::default();
        let mut seen: Vec<&str> = Vec::new();
        for word in words {
            let fail = |message: String| format!("--set `{word}`: {message}");
            let (key, text) = word.split_once('=').ok_or_else(|| fail("expected KEY=VALUE, as in l1.mshrs=128".into()))?;
            let (key, text) = (key.trim(), text.trim());
            if seen.contains(&key) {
                return Err(fail(format!("`{key}` is set twice")));
            }
            seen.push(key);
            if let Some(parameter) = known.iter().find(|parameter| parameter.name == key) {
                let value = if matches!(parameter.kind, Kind::Named { .. } | Kind::Text { .. }) { as_text(text) } else { read(text) };
                parameter.set(&mut Parameters::new(super::End::Done), &value).map_err(|why| fail(format!("{key}: {why}")))?;
                all.parameters.push((parameter, value));
                continue;
            }
            let path: Vec<String> = key.split('.').map(str::to_owned).collect();
            match find(&keys, key) {
                Some(Found::Table) if text == OFF => all.removed.push(path),
                Some(_) => all.fields.push(Field { path, value: read(text) }),
                None => {
                    let names = known.iter().map(|parameter| parameter.name).chain(keys.iter().map(|key| key.name.as_str()));
                    let hint = suggest::nearest(key, names).map(|name| format!(" did you mean `{name}`?")).unwrap_or_default();
                    return Err(fail(format!("unknown key `{key}`;{hint} `mias options` lists all")));
                }
            }
        }
        Ok(all)
    }

    /// Returns whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty() && self.fields.is_empty() && self.removed.is_empty()
    }

    /// Returns whether the parameter of this name is set.
    #[must_use]
    pub fn has(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|(set, _)| set.name == parameter)
    }

    /// Returns the fields of the GPU's file that are set.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Sets the parameters; `given` are those that other options have set.
    ///
    /// # Errors
    /// Parameters that exclude each other.
    pub fn apply(&self, parameters: &mut Parameters, given: &[&str]) -> Result<(), String> {
        check_together(|key| self.has(key) || given.contains(&key)).map_err(|(key, why)| format!("{key}: {why}"))?;
        for (parameter, value) in &self.parameters {
            parameter.set(parameters, value).map_err(|why| format!("--set {}: {why}", parameter.name))?;
        }
        Ok(())
    }

    /// Returns the suffix of the GPU's name that lists keys set to other values.
    #[must_use]
    pub fn label(&self, gpu: &GpuConfig) -> String {
        let removed = self.removed.iter().filter(|path| fields::without(gpu, path).is_ok_and(|other| other != *gpu));
        let removed: String = removed.map(|path| format!(" {}={OFF}", path.join("."))).collect();
        removed + fields::name(gpu, &self.fields).strip_prefix(&gpu.name).unwrap_or_default()
    }

    /// Returns whether `key` is set, of the experiment or of the GPU.
    #[must_use]
    pub fn sets(&self, key: &str) -> bool {
        self.has(key) || self.fields.iter().any(|field| field.name() == key)
    }

    /// Returns the GPU with its keys set and checked.
    ///
    /// # Errors
    /// A message that names the GPU and the key, as for its file.
    pub fn gpu(&self, gpu: &GpuConfig) -> Result<GpuConfig, String> {
        if self.fields.is_empty() && self.removed.is_empty() {
            return Ok(gpu.clone());
        }
        let mut gpu = gpu.clone();
        for path in &self.removed {
            gpu = fields::without(&gpu, path).map_err(|message| format!("--set {}={OFF}: {message}", path.join(".")))?;
        }
        let gpu = changed(&gpu, &self.fields).map_err(|message| format!("--set: {message}"))?;
        gpu.check().map_err(|error| format!("--set: GPU `{}`: {error}", gpu.name))?;
        Ok(gpu)
    }
}

/// Parses a value as TOML; other words are strings.
fn read(text: &str) -> Value {
    let table: Option<toml::Table> = format!("value = {text}").parse().ok();
    match table.and_then(|mut table| table.remove("value").filter(|_| table.is_empty())) {
        Some(value) => plain(value, text),
        None => Value::String(text.to_owned()),
    }
}

/// Parses a string, quoted or not.
fn as_text(text: &str) -> Value {
    match read(text) {
        Value::String(text) => Value::String(text),
        _ => Value::String(text.to_owned()),
    }
}

/// Converts TOML values of types that GPU files do not use: `inf` becomes the word, and a date a
/// string.
fn plain(value: Value, text: &str) -> Value {
    match value {
        Value::Float(number) if number == f64::INFINITY => "inf".into(),
        Value::Datetime(_) => text.into(),
        Value::Array(list) => Value::Array(list.into_iter().map(|value| plain(value, text)).collect()),
        value => value,
    }
}
