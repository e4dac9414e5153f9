//! JSON Schemas of TOML files for editors, derived from Rust types and adapted to TOML.
//!
//! The schemas use Draft 7 with keywords of Draft 4 except `if`, which all editors support. In a
//! written file, repeated parts are in `$defs` ([`text`]), with the description at the key. TOML
//! has no null, so the derivation is adapted. Doc comments become plain text. Integers have a range
//! instead of a Rust type name. The names of a choice form one list, which editors can show.

mod shared;

pub use shared::{shared, text};

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;

/// Returns the schema of the files that `T` is read from.
#[must_use]
pub fn of<T: JsonSchema>(title: &str, about: &str) -> Value {
    let mut settings = SchemaSettings::draft07();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    Tidy.transform(&mut schema);
    let mut schema = schema.to_value();
    schema["title"] = title.into();
    schema["description"] = about.into();
    schema
}

/// Returns the schema of the JSON that values of `T` are written as. In contrast to [`of`] it has
/// null, and requires every key that is always written.
#[must_use]
pub fn written<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft07().for_serialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    Described.transform(&mut schema);
    schema.to_value()
}

/// Returns the schema of a text that is one of some choices, each with its meaning.
#[must_use]
pub fn choice<'a>(about: &str, choices: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    let (names, lines): (Vec<&str>, Vec<String>) = choices.into_iter().map(|(name, help)| (name, line(name, help))).unzip();
    json!({ "type": "string", "enum": names, "description": listed(about, &lines) })
}

/// Returns the schema of a table with only these keys; those in `required` must be present.
#[must_use]
pub fn table(keys: impl IntoIterator<Item = (&'static str, Value)>, required: &[&str]) -> Value {
    let properties: Map<String, Value> = keys.into_iter().map(|(key, schema)| (key.to_owned(), schema)).collect();
    let mut table = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    // Draft 4 does not allow an empty list here.
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    table
}

/// Returns the schema of a list with at least one element.
#[must_use]
pub fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items, "minItems": 1 })
}

/// Returns the schema of a value or a list with at least one element.
#[must_use]
pub fn one_or_more(item: &Value) -> Value {
    json!({ "anyOf": [item, list(item)] })
}

/// Restricts the integers of a schema, and of its alternatives and elements, to a range.
pub fn narrow(schema: &mut Map<String, Value>, within: &RangeInclusive<i64>) {
    let is_integer = |kind: &Value| kind == "integer" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "integer"));
    if schema.get("type").is_some_and(is_integer) {
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_i64);
        let least = bound("minimum").map_or(*within.start(), |old| old.max(*within.start()));
        let most = bound("maximum").map_or(*within.end(), |old| old.min(*within.end()));
        schema.insert("minimum".into(), least.into());
        if most < i64::MAX {
            schema.insert("maximum".into(), most.into());
        }
    }
    let (mut alternatives, mut items) = (schema.remove("anyOf"), schema.remove("items"));
    let several = alternatives.iter_mut().filter_map(Value::as_array_mut).flatten();
    several.chain(&mut items).filter_map(Value::as_object_mut).for_each(|inner| narrow(inner, within));
    schema.extend(alternatives.map(|alternatives| ("anyOf".to_owned(), alternatives)));
    schema.extend(items.map(|items| ("items".to_owned(), items)));
}

fn line(name: &str, help: &str) -> String {
    format!("- `{name}`: {}", help.trim_end_matches('.'))
}

/// Returns the description with a line for each choice.
fn listed(about: &str, lines: &[String]) -> String {
    [&[about.to_owned(), String::new()], lines].concat().join("\n").trim_start().to_owned()
}

/// Transformation that makes doc comments plain text, and the names of a choice one list.
struct Described;

impl Transform for Described {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(keywords) = schema.as_object_mut() {
            describe(keywords);
        }
        transform_subschemas(self, schema);
    }
}

fn describe(keywords: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = keywords.get_mut("description") {
        *text = plain(text);
    }
    names_in_one_list(keywords);
}

/// Transformation of a derived schema to TOML.
struct Tidy;

impl Transform for Tidy {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(keywords) = schema.as_object_mut() {
            without_null(keywords);
            describe(keywords);
            range_of_type(keywords);
        }
        transform_subschemas(self, schema);
    }
}

/// Removes null from optional values, since TOML has none. A single remaining alternative replaces
/// the choice.
fn without_null(keywords: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = keywords.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            keywords.insert("type".into(), kind);
        }
    }
    if let Some(Value::Array(names)) = keywords.get_mut("enum") {
        names.retain(|name| !name.is_null());
    }
    if keywords.get("default").is_some_and(Value::is_null) {
        keywords.remove("default");
    }
    let Some(Value::Array(alternatives)) = keywords.get_mut("anyOf") else { return };
    alternatives.retain(|alternative| alternative["type"] != "null");
    if let [Value::Object(alone)] = &mut alternatives[..] {
        let alone = std::mem::take(alone);
        keywords.remove("anyOf");
        for (keyword, value) in alone {
            keywords.entry(keyword).or_insert(value);
        }
    }
}

/// Merges `oneOf` of names into one list, and moves the meanings to the description.
fn names_in_one_list(keywords: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = keywords.get("oneOf") else { return };
    let named = |choice: &Value| Some((choice.get("const")?.as_str()?.to_owned(), plain(choice.get("description")?.as_str()?)));
    let Some(named) = choices.iter().map(named).collect::<Option<Vec<(String, String)>>>() else { return };
    let about = keywords.get("description").and_then(Value::as_str).unwrap_or_default();
    let choice = choice(about, named.iter().map(|(name, help)| (name.as_str(), help.as_str())));
    keywords.remove("oneOf");
    if let Value::Object(choice) = choice {
        keywords.extend(choice);
    }
}

/// Replaces formats such as `uint32`, which editors do not know, by the complete range.
fn range_of_type(keywords: &mut Map<String, Value>) {
    if let Some(Value::String(kind)) = keywords.remove("format")
        && kind == "uint32"
    {
        keywords.entry("maximum").or_insert(u32::MAX.into());
    }
}

/// Converts a doc comment to plain text: joins its lines, and replaces links by names.
fn plain(doc: &str) -> String {
    let paragraphs = doc.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.collect::<Vec<_>>().join("\n\n").replace("[`", "`").replace("`]", "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    enum Color {
        /// Like the
        /// sky.
        SkyBlue,
        /// As [`Color::SkyBlue`], but not.
        Red,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Wall {
        /// What it
        /// looks like.
        color: Option<Color>,
        bricks: u32,
        high: Option<u8>,
    }

    #[test]
    fn a_derivation_in_the_words_of_toml() {
        let expected = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "Wall",
            "description": "A wall.",
            "type": "object",
            "additionalProperties": false,
            "required": ["bricks"],
            "properties": {
                "bricks": { "type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32 },
                "high": { "type": "integer", "minimum": 0, "maximum": 255 },
                "color": {
                    "type": "string",
                    "enum": ["sky-blue", "red"],
                    "description": "What it looks like.\n\n- `sky-blue`: Like the sky\n- `red`: As `Color::SkyBlue`, but not",
                },
            },
        });
        assert_eq!(of::<Wall>("Wall", "A wall."), expected);
    }

    #[derive(serde::Serialize, JsonSchema)]
    struct Door {
        /// Of [`Wall::color`].
        paint: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        lock: Option<String>,
    }

    #[test]
    fn what_is_written_has_null_and_may_lack_keys() {
        let schema = written::<Door>();
        assert_eq!(schema["required"], json!(["paint"]));
        assert_eq!(schema["properties"]["paint"]["type"], json!(["integer", "null"]));
        assert_eq!(schema["properties"]["paint"]["description"], "Of `Wall::color`.");
    }

    #[test]
    fn numbers_are_narrowed_where_they_are() {
        let mut schema =
            json!({ "anyOf": [{ "type": "integer", "minimum": 3 }, { "type": "string" }, list(&json!({ "type": "integer" }))] });
        let mut to = |within| narrow(schema.as_object_mut().unwrap(), &within);
        to(1..=9);
        to(0..=i64::MAX);
        let bounded = |least: u8| json!({ "type": "integer", "minimum": least, "maximum": 9 });
        assert_eq!(schema, json!({ "anyOf": [bounded(3), { "type": "string" }, list(&bounded(1))] }));
    }
}
