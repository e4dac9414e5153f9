//! Tables of a TOML file and their keys, from its JSON Schema.

use super::super::options::taken;
use super::markdown::{anchor, cell, code, table};
use serde_json::Value;

/// A table of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    /// Headings of all tables that have these keys.
    headings: Vec<String>,
    /// Key, values, default and description.
    rows: Vec<Vec<String>>,
}

/// Returns the tables of a schema, the outermost first under the heading `top`. Tables with equal
/// keys are one. `elsewhere` returns the values of a dotted key that another page lists.
pub(super) fn tables(schema: &Value, top: &str, elsewhere: fn(&str) -> Option<&'static str>) -> Vec<Table> {
    let mut tables = Vec::new();
    add(schema, "", top.to_owned(), elsewhere, &mut tables);
    tables
}

/// Returns a section for each table.
pub(super) fn sections(tables: &[Table]) -> String {
    let mut text = String::new();
    for Table { headings, rows } in tables {
        text += &format!("## {}\n\n{}\n", headings.join(", "), table(&["key", "values", "default", "description"], rows));
    }
    for merged in tables.iter().filter(|table| table.headings.len() > 1) {
        for heading in &merged.headings {
            text = text.replace(&link(heading), &link(&merged.headings.join(", ")));
        }
    }
    text
}

fn link(heading: &str) -> String {
    format!("(#{})", anchor(heading))
}

fn add(schema: &Value, path: &str, heading: String, elsewhere: fn(&str) -> Option<&'static str>, tables: &mut Vec<Table>) {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let (mut rows, mut inner) = (Vec::new(), Vec::new());
    for (key, field) in schema["properties"].as_object().into_iter().flatten() {
        let name = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let values = match elsewhere(&name) {
            Some(text) => text.to_owned(),
            None => values(field, &name, &mut inner),
        };
        let default = match &field["default"] {
            Value::Null if required.contains(&key.as_str()) => "required".to_owned(),
            Value::Null => String::new(),
            default => code(&default.to_string()),
        };
        rows.push(vec![code(key), values, default, cell(field["description"].as_str().unwrap_or_default())]);
    }
    match tables.iter_mut().find(|table| table.rows == rows) {
        Some(known) => known.headings.push(heading),
        None => tables.push(Table { headings: vec![heading], rows }),
    }
    for (name, heading, table) in inner {
        add(&table, &name, heading, elsewhere, tables);
    }
}

/// Returns the values of a key. Tables among them go to `inner`, with their names and headings.
fn values(field: &Value, name: &str, inner: &mut Vec<(String, String, Value)>) -> String {
    let mut linked = |words: &str, name: &str, heading: String, table: &Value| {
        let text = format!("[{words}]{}", link(&heading));
        inner.push((name.to_owned(), heading, table.clone()));
        text
    };
    if field["properties"].is_object() {
        return linked("table", name, format!("`[{name}]`"), field);
    }
    if field["items"]["properties"].is_object() {
        return linked("list of tables", name, format!("`[[{name}]]`"), &field["items"]);
    }
    if field["additionalProperties"]["properties"].is_object() {
        return linked("tables by name", name, format!("`[{name}.NAME]`"), &field["additionalProperties"]);
    }
    if field["additionalProperties"].is_object() {
        return format!("by name, {}", taken(&field["additionalProperties"], code));
    }
    if field["allOf"].is_array() {
        return "as in `[[experiment]]`".to_owned();
    }
    match field["anyOf"].as_array() {
        Some(alternatives) if alternatives.iter().any(|alternative| alternative["properties"].is_object()) => {
            alternatives.iter().map(|alternative| values(alternative, name, inner)).collect::<Vec<_>>().join(" or ")
        }
        _ => taken(field, code),
    }
}
