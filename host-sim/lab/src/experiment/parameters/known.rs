//! Keys of a GPU's file, by their dotted names, from its schema.

use crate::gpus::schema::fields;
use serde_json::Value;

/// Key of a GPU's file.
#[derive(Clone, Debug)]
pub struct GpuKey {
    /// Dotted name, including tables.
    pub name: String,
    /// JSON Schema of its values.
    pub schema: Value,
}

impl GpuKey {
    /// Returns whether `given` is this key, or an element of it if it is a list.
    fn is(&self, given: &str) -> bool {
        given.strip_prefix(&self.name).is_some_and(|rest| {
            rest.is_empty()
                || (self.schema["type"] == "array" && rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        })
    }

    /// Returns whether the key is in the table `given`.
    fn is_in(&self, given: &str) -> bool {
        self.name.strip_prefix(given).is_some_and(|rest| rest.starts_with('.'))
    }
}

/// Kind of entry that a dotted name denotes in a GPU's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A value.
    Value,
    /// A table.
    Table,
}

/// Finds the kind of `name` among `keys`; `None` if it is unknown.
pub(super) fn find(keys: &[GpuKey], name: &str) -> Option<Found> {
    let is_value = keys.iter().any(|key| key.is(name));
    let is_table = || keys.iter().any(|key| key.is_in(name));
    if is_value { Some(Found::Value) } else { is_table().then_some(Found::Table) }
}

/// Returns all keys of a GPU's file, in the order of their names.
#[must_use]
pub fn keys_of_gpu() -> Vec<GpuKey> {
    let mut keys = Vec::new();
    add("", &fields(), &mut keys);
    keys
}

fn add(name: &str, schema: &Value, keys: &mut Vec<GpuKey>) {
    match schema["properties"].as_object() {
        Some(inner) => inner.iter().for_each(|(field, schema)| {
            let name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
            add(&name, schema, keys);
        }),
        None => keys.push(GpuKey { name: name.to_owned(), schema: schema.clone() }),
    }
}
