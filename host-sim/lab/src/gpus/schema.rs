//! JSON Schema of a GPU's file: derived from its type, with the range of each number.

use mias_gpus::inherit::BASE;
use mias_hw_model::config::{GpuConfig, Range};
use mias_workloads::input::schema::{self, narrow};
use serde_json::{Map, Value, json};

/// Returns the schema of a GPU's file. A file with a base requires nothing else.
#[must_use]
pub fn schema() -> Value {
    let mut schema = fields();
    let complete = required(&mut schema);
    let base = json!({
        "description": "GPU to inherit missing keys from: built in, or a file relative to this one's folder.",
        "anyOf": [{ "type": "string", "enum": super::names() }, { "type": "string" }],
    });
    schema["properties"][BASE] = base;
    schema["required"] = json!(["description", "name"]);
    schema["if"] = json!({ "not": { "required": [BASE] } });
    schema["then"] = complete;
    schema
}

/// Removes the required keys, and returns a schema with only these. Elements of lists, which are
/// not inherited, keep theirs.
fn required(schema: &mut Value) -> Value {
    let mut complete = json!({});
    let Some(keywords) = schema.as_object_mut() else { return complete };
    if let Some(keys) = keywords.remove("required") {
        complete["required"] = keys;
    }
    let inner = keywords.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    let inner: Map<String, Value> =
        inner.map(|(key, field)| (key.clone(), required(field))).filter(|(_, inner)| *inner != json!({})).collect();
    if !inner.is_empty() {
        complete["properties"] = inner.into();
    }
    complete
}

/// Returns the schema of all fields of a GPU.
#[must_use]
pub fn fields() -> Value {
    let about = "A GPU of mias. The timing model uses every number. docs/reference/gpu.md lists every key.";
    let mut schema = schema::of::<GpuConfig>("GPU of mias", about);
    let ranges = GpuConfig::ranges();
    for Range { key, within, multiple_of, .. } in &ranges {
        let Some(number) = number(&mut schema, key) else { continue };
        narrow(number, &(i64::from(*within.start())..=i64::from(*within.end())));
        if *multiple_of > 1 {
            number.insert("multipleOf".into(), (*multiple_of).into());
        }
    }
    // JSON Schema cannot express powers of two: those in the range are listed.
    for Range { key, .. } in ranges.iter().filter(|range| range.power_of_two) {
        if let Some(number) = number(&mut schema, key) {
            let bound = |keyword: &str| number.get(keyword).and_then(Value::as_u64).unwrap_or_default();
            let within = bound("minimum")..=bound("maximum");
            let powers = (0..u32::BITS).map(|bit| 1_u64 << bit).filter(|power| within.contains(power)).collect();
            number.insert("enum".into(), powers);
        }
    }
    schema
}

/// Returns the schema of a number by its dotted key; for a list, of its elements.
fn number<'a>(schema: &'a mut Value, key: &str) -> Option<&'a mut Map<String, Value>> {
    let mut at = schema;
    for name in key.split('.') {
        at = elements(at).get_mut("properties")?.get_mut(name)?;
    }
    elements(at).as_object_mut()
}

/// Returns the schema of a list's elements, or the value itself.
fn elements(schema: &mut Value) -> &mut Value {
    if schema.get("items").is_some() { &mut schema["items"] } else { schema }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_said_of_a_number() {
        let mut schema = schema();
        for Range { key, within, .. } in GpuConfig::ranges() {
            let number = number(&mut schema, &key).unwrap_or_else(|| panic!("there is no key {key}"));
            assert!(number["minimum"].as_u64() >= Some((*within.start()).into()), "{key}");
            assert!(number["maximum"].as_u64() <= Some((*within.end()).into()), "{key}");
        }
        let count = number(&mut schema, "sm.count").unwrap();
        assert_eq!((count["minimum"].as_u64(), count["maximum"].as_u64()), (Some(1), Some(256)));
        let banks: Vec<u64> = serde_json::from_value(number(&mut schema, "dram.banks").unwrap()["enum"].clone()).unwrap();
        assert_eq!(banks, [1, 2, 4, 8, 16, 32, 64]);
    }
}
