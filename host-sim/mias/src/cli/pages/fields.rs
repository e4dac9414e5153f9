//! Objects of a JSON document and their fields, from its schema.

use super::markdown::{cell, code};
use serde_json::Value;

/// Each kind of object: the paths at which it occurs, and rows of field, type and description.
pub(super) type Objects = Vec<(Vec<String>, Vec<Vec<String>>)>;

/// Returns the objects of a document, the document itself first under the name `root`. Objects with
/// equal fields are one. `elsewhere` returns the type of a path whose fields another page lists.
pub(super) fn objects(schema: &Value, root: &str, elsewhere: fn(&str) -> Option<&'static str>) -> Objects {
    let mut found = Vec::new();
    add(schema, ("", root.to_owned()), elsewhere, &mut found);
    found
}

fn add(schema: &Value, (path, name): (&str, String), elsewhere: fn(&str) -> Option<&'static str>, found: &mut Objects) {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let (mut rows, mut inner) = (Vec::new(), Vec::new());
    for (key, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let mut kind = elsewhere(&path).map_or_else(|| kind(field), str::to_owned);
        if !required.contains(&key.as_str()) {
            // What may be absent is not written as null.
            kind = kind.replace(" or `null`", "") + ", optional";
        }
        rows.push(vec![code(key), kind, cell(field["description"].as_str().unwrap_or_default())]);
        if elsewhere(&path).is_none() {
            collect(field, path, &mut inner);
        }
    }
    match found.iter_mut().find(|(_, known)| *known == rows) {
        Some((paths, _)) => paths.push(name),
        None => found.push((vec![name], rows)),
    }
    for (path, object) in inner {
        add(&object, (&path, code(&path)), elsewhere, found);
    }
}

/// Collects the objects in a value, with their paths.
fn collect(value: &Value, path: String, inner: &mut Vec<(String, Value)>) {
    if value["properties"].is_object() {
        inner.push((path, value.clone()));
    } else if value["items"].is_object() {
        collect(&value["items"], path + "[]", inner);
    } else if value["additionalProperties"].is_object() {
        collect(&value["additionalProperties"], path + ".NAME", inner);
    } else if let Some(object) = not_null(value).iter().find(|alternative| alternative["properties"].is_object()) {
        inner.push((path, (*object).clone()));
    }
}

/// Returns the alternatives of a value, without null.
pub(super) fn not_null(value: &Value) -> Vec<&Value> {
    value["anyOf"].as_array().into_iter().flatten().filter(|alternative| alternative["type"] != "null").collect()
}

/// Returns the type of a value in words.
fn kind(value: &Value) -> String {
    if let Some(names) = value["enum"].as_array() {
        return names.iter().filter_map(Value::as_str).map(code).collect::<Vec<_>>().join(", ");
    }
    if value["anyOf"].is_array() {
        let words: Vec<String> = value["anyOf"].as_array().into_iter().flatten().map(kind).collect();
        return words.join(" or ");
    }
    if let Some(kinds) = value["type"].as_array() {
        let with = |one: &Value| {
            let mut alone = value.clone();
            alone["type"] = one.clone();
            kind(&alone)
        };
        return kinds.iter().map(with).collect::<Vec<_>>().join(" or ");
    }
    match value["type"].as_str() {
        Some("array") => match &value["items"] {
            Value::Array(items) => format!("[{}]", items.iter().map(kind).collect::<Vec<_>>().join(", ")),
            item => format!("list of {}", plural(&kind(item))),
        },
        Some("object") if value["additionalProperties"].is_object() => format!("{} by name", kind(&value["additionalProperties"])),
        Some("null") => "`null`".to_owned(),
        Some("boolean") => "Boolean".to_owned(),
        Some("string") => "text".to_owned(),
        Some(other) => other.to_owned(),
        None => "any".to_owned(),
    }
}

fn plural(words: &str) -> String {
    match words {
        "text" | "number" | "integer" | "object" => format!("{words}s"),
        other => match other.strip_prefix("list of ") {
            Some(rest) => format!("lists of {rest}"),
            None => other.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_are_in_words() {
        for (value, words) in [
            (json!({ "type": ["number", "null"] }), "number or `null`"),
            (json!({ "type": "array", "items": [{ "type": "integer" }, { "type": "number" }] }), "[integer, number]"),
            (json!({ "type": "array", "items": { "type": "array", "items": { "type": "string" } } }), "list of lists of texts"),
            (json!({ "anyOf": [{ "type": "object" }, { "type": "null" }] }), "object or `null`"),
        ] {
            assert_eq!(kind(&value), words);
        }
    }
}
