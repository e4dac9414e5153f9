//! Text form of a schema: repeated parts are written once, in `$defs`. Values that fit on a line
//! and lists of names are written on one line.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Line width in characters.
const WIDTH: usize = 180;

/// Minimum length of a repeated part that is replaced by a reference, in characters.
const LEAST: usize = 100;

/// Keywords whose values are schemas by name, lists of schemas, and single schemas.
const NAMED: [&str; 2] = ["properties", "patternProperties"];
const LISTS: [&str; 3] = ["anyOf", "allOf", "oneOf"];
const SINGLE: [&str; 5] = ["items", "additionalProperties", "not", "if", "then"];

/// Returns the text of the schema, in which parts that are equal except for their description are
/// in `$defs`.
#[must_use]
pub fn text(schema: &Value) -> String {
    let mut text = String::new();
    print(&shared(schema), 0, &mut text);
    text + "\n"
}

/// Replaces repeated parts of the schema by references.
#[must_use]
pub fn shared(schema: &Value) -> Value {
    let mut parts = Parts::default();
    inner(schema).for_each(|(name, part)| parts.count(name, part));
    parts.name();
    let mut shared = replaced(schema, &|part| parts.reference(part));
    let definitions: Map<String, Value> =
        parts.named().map(|(name, part)| (name.to_owned(), replaced(part, &|part| parts.reference(part)))).collect();
    if !definitions.is_empty() {
        shared["$defs"] = definitions.into();
    }
    shared
}

/// A part of a schema, its number of occurrences, and its name in `$defs` if it is repeated.
struct Part {
    schema: Value,
    place: String,
    times: usize,
    name: Option<String>,
}

/// Parts of the schema by their texts.
#[derive(Default)]
struct Parts(BTreeMap<String, Part>);

impl Parts {
    /// Counts a part and, at its first occurrence, its inner parts. `name` is the key that it
    /// belongs to.
    fn count(&mut self, name: &str, schema: &Value) {
        let plain = undescribed(schema);
        let part = self.0.entry(plain.to_string()).or_insert_with(|| Part { schema: plain, place: name.to_owned(), times: 0, name: None });
        part.times += 1;
        if part.times == 1 {
            inner(schema).for_each(|(key, part)| self.count(if key.is_empty() { name } else { key }, part));
        }
    }

    /// Names the repeated parts: by the key of the first occurrence in the order of texts, with a
    /// number if the name is taken.
    fn name(&mut self) {
        let mut taken = BTreeMap::<String, usize>::new();
        for (text, part) in &mut self.0 {
            if part.times > 1 && text.len() >= LEAST && part.schema.get("$ref").is_none() {
                let place: String = part.place.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
                let number = taken.entry(place.clone()).or_default();
                *number += 1;
                part.name = Some(if *number == 1 { place } else { format!("{place}-{number}") });
            }
        }
    }

    fn named(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.values().filter_map(|part| Some((part.name.as_deref()?, &part.schema)))
    }

    /// Returns the reference that replaces a named part.
    fn reference(&self, schema: &Value) -> Option<Value> {
        let name = self.0.get(&undescribed(schema).to_string())?.name.as_deref()?;
        let reference = json!({ "$ref": format!("#/$defs/{name}") });
        // Draft 7 allows no other keyword next to a reference.
        Some(match schema.get("description") {
            Some(about) => json!({ "description": about, "allOf": [reference] }),
            None => reference,
        })
    }
}

fn undescribed(schema: &Value) -> Value {
    let mut plain = schema.clone();
    if let Some(keywords) = plain.as_object_mut() {
        keywords.remove("description");
    }
    plain
}

/// Returns the direct subschemas of a schema, each with its own key if it has one.
fn inner(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let parts = |keyword: &str| schema.get(keyword).and_then(Value::as_object).into_iter().flatten();
    let keys = parts("properties").map(|(key, part)| (key.as_str(), part));
    let lists = LISTS.iter().filter_map(move |keyword| schema.get(keyword)?.as_array()).flatten();
    let single = SINGLE.iter().filter_map(move |keyword| schema.get(keyword));
    let others = parts("patternProperties").map(|(_, part)| part).chain(lists).chain(single).map(|part| ("", part));
    keys.chain(others).filter(|(_, part)| part.is_object())
}

/// Replaces parts of the schema, from the outside in, by the results of `reference`.
fn replaced(schema: &Value, reference: &impl Fn(&Value) -> Option<Value>) -> Value {
    let part = |part: &mut Value| {
        if part.is_object() {
            *part = reference(part).unwrap_or_else(|| replaced(part, reference));
        }
    };
    let mut schema = schema.clone();
    for keyword in NAMED {
        schema.get_mut(keyword).and_then(Value::as_object_mut).into_iter().flat_map(|parts| parts.values_mut()).for_each(part);
    }
    for keyword in LISTS {
        schema.get_mut(keyword).and_then(Value::as_array_mut).into_iter().flatten().for_each(part);
    }
    for keyword in SINGLE {
        schema.get_mut(keyword).into_iter().for_each(part);
    }
    schema
}

/// Writes a value after `indent` spaces.
fn print(value: &Value, indent: usize, text: &mut String) {
    let line = in_a_line(value);
    let taken = text.len() - text.rfind('\n').map_or(0, |at| at + 1);
    let parts: Vec<(String, &Value)> = match value {
        _ if taken + line.len() < WIDTH => Vec::new(),
        Value::Array(parts) if parts.iter().all(|part| !part.is_object() && !part.is_array()) => Vec::new(),
        Value::Object(parts) => parts.iter().map(|(key, part)| (format!("{}: ", Value::from(key.as_str())), part)).collect(),
        Value::Array(parts) => parts.iter().map(|part| (String::new(), part)).collect(),
        _ => Vec::new(),
    };
    if parts.is_empty() {
        *text += &line;
        return;
    }
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    text.push(open);
    for (at, (key, part)) in parts.iter().enumerate() {
        *text += &format!("{}\n{}{key}", if at == 0 { "" } else { "," }, " ".repeat(indent + 2));
        print(part, indent + 2, text);
    }
    *text += &format!("\n{}{close}", " ".repeat(indent));
}

fn in_a_line(value: &Value) -> String {
    match value {
        Value::Object(parts) if !parts.is_empty() => {
            let parts: Vec<String> =
                parts.iter().map(|(key, part)| format!("{}: {}", Value::from(key.as_str()), in_a_line(part))).collect();
            format!("{{ {} }}", parts.join(", "))
        }
        Value::Array(parts) => format!("[{}]", parts.iter().map(in_a_line).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(about: &str) -> Value {
        let bounded = json!({ "type": "integer", "minimum": 1, "maximum": 4096 });
        json!({ "description": about, "anyOf": [bounded, { "type": "array", "items": bounded, "minItems": 1 }] })
    }

    #[test]
    fn what_is_alike_but_for_its_description_stands_once() {
        let schema = json!({ "properties": { "a": number("One."), "b": number("Another."), "c": { "type": "string" } } });
        let reference = |about: &str| json!({ "description": about, "allOf": [{ "$ref": "#/$defs/a" }] });
        let mut bare = number("");
        bare.as_object_mut().unwrap().remove("description");
        let expected = json!({
            "properties": { "a": reference("One."), "b": reference("Another."), "c": { "type": "string" } },
            "$defs": { "a": bare },
        });
        assert_eq!(shared(&schema), expected);
        assert_eq!(serde_json::from_str::<Value>(&text(&schema)).unwrap(), expected);
    }

    #[test]
    fn what_fits_in_a_line_is_in_one() {
        let long = "x".repeat(WIDTH);
        let expected = format!("{{\n  \"list\": [1, 2],\n  \"long\": \"{long}\",\n  \"table\": {{ \"a\": true, \"b\": {{}} }}\n}}\n");
        assert_eq!(text(&json!({ "list": [1, 2], "long": long, "table": { "a": true, "b": {} } })), expected);
    }
}
