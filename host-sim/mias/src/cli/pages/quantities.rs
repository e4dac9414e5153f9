//! Quantities of `results.csv`: all that a specimen of the results has, in which nothing is absent.

use super::fields::not_null;
use mias_lab::evaluate::results::Evaluation;
use mias_report::evaluation::csv::{COLUMNS, render};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Returns the quantities of each subject, in the order of the file. Numbers in a name are `N`, or
/// `CYCLE` where they are a time.
pub(super) fn by_subject(schema: &Value) -> Result<Vec<(String, Vec<String>)>, String> {
    let specimen: Evaluation = serde_json::from_value(specimen(schema, "")).map_err(|error| error.to_string())?;
    let text = render(&specimen).map_err(|error| error.to_string())?;
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for row in csv::Reader::from_reader(text.as_bytes()).deserialize() {
        let row: BTreeMap<String, String> = row.map_err(|error| error.to_string())?;
        let [subject, quantity] = [COLUMNS[5], COLUMNS[7]].map(|column| row.get(column).cloned().unwrap_or_default());
        let quantity = general(&quantity);
        match found.iter_mut().find(|(known, _)| *known == subject) {
            Some((_, names)) if names.contains(&quantity) => {}
            Some((_, names)) => names.push(quantity),
            None => found.push((subject, vec![quantity])),
        }
    }
    Ok(found)
}

/// Returns a value of a schema with every field, one element in each list, and the number 1.
fn specimen(schema: &Value, key: &str) -> Value {
    if let Some(first) = not_null(schema).first() {
        return specimen(first, key);
    }
    if let Some(names) = schema["enum"].as_array() {
        return names[0].clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match kind {
        Some("object") if schema["additionalProperties"].is_object() => {
            let name = if key == "means" { "Q" } else { "CLASS" };
            json!({ name: specimen(&schema["additionalProperties"], "") })
        }
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten().filter(|(key, _)| *key != "report");
            Value::Object(fields.map(|(key, field)| (key.clone(), specimen(field, key))).collect::<Map<_, _>>())
        }
        Some("array") => match &schema["items"] {
            Value::Array(items) => items.iter().map(|item| specimen(item, "")).collect(),
            item => vec![specimen(item, ""); schema["minItems"].as_u64().unwrap_or(1) as usize].into(),
        },
        Some("string") => json!("x"),
        Some("boolean") => json!(true),
        _ => json!(1),
    }
}

/// Returns a quantity's name with `N` or `CYCLE` for its numbers.
fn general(quantity: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in quantity.split('_') {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        let is_time = matches!(words.last(), Some(&"at" | &"to"));
        words.push(match (is_number, is_time) {
            (true, true) => "CYCLE",
            (true, false) => "N",
            _ => word,
        });
    }
    words.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_general() {
        let names = ["ipc_2", "ipc_at_2500", "l1_accesses_1_to_5000", "ipc_of_3_tbs", "l1_miss_rate"].map(general);
        assert_eq!(names, ["ipc_N", "ipc_at_CYCLE", "l1_accesses_N_to_CYCLE", "ipc_of_N_tbs", "l1_miss_rate"]);
    }
}
