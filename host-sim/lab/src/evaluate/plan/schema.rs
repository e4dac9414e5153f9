//! The JSON Schema of a plan, made from the tables of its keys. A program's own policies are in its schema.

use super::keys::{EXPERIMENT, Key, PLAN, QUEUE, QUICK, RANGE, REQUESTS};
use crate::evaluate::blocks::Block;
use crate::experiment::mechanisms::MECHANISMS;
use crate::experiment::parameters::{Kind, PARAMETERS, Parameter};
use crate::experiment::policies::Policies;
use crate::gpus;
use mias_workloads::input::schema::{self, choice, one_or_more};
use schemars::JsonSchema;
use serde_json::{Value, json};

/// The schema of a plan, for a program that knows these policies.
#[must_use]
pub fn schema(policies: &Policies) -> Value {
    let mut schema = table(&PLAN, policies);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["title"] = "Plan of mias".into();
    schema["description"] =
        "A plan for `mias evaluate`: kernels, policies, machines and settings. docs/guide/evaluate.md describes every key.".into();
    schema
}

/// A block of the report.
pub(super) fn block() -> Value {
    of_type::<Block>("A heading, a figure or a table, with the results that it draws.")
}

/// Any names, each with such a value.
pub(super) fn map_of(value: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": value })
}

/// What a type is read from.
pub(super) fn of_type<T: JsonSchema>(about: &str) -> Value {
    let mut block = schema::of::<T>("", about);
    // It is inside another schema, which says what it is.
    for keyword in ["$schema", "title"] {
        block.as_object_mut().and_then(|keywords| keywords.remove(keyword));
    }
    block
}

pub(super) fn experiment(policies: &Policies) -> Value {
    let mut experiment = table(&EXPERIMENT, policies);
    experiment["not"] = json!({ "required": ["groups", "together"] });
    experiment
}

/// What a key of `[[experiment]]` takes, for another key.
pub(super) fn as_in_experiment(key: &str) -> Value {
    // In draft 7 nothing else may stand beside a reference.
    json!({ "allOf": [{ "$ref": format!("#/properties/experiment/items/properties/{key}") }] })
}

/// What the quick form of an experiment has instead.
pub(super) fn quick(policies: &Policies) -> Value {
    let mut quick = table(&QUICK, policies);
    quick["not"] = json!({ "required": ["groups", "together"] });
    quick
}

/// Requests for room.
pub(super) fn requests(policies: &Policies) -> Value {
    table(&REQUESTS, policies)
}

/// A queue.
pub(super) fn queue(policies: &Policies) -> Value {
    table(&QUEUE, policies)
}

pub(super) fn parameters() -> Value {
    let described = |parameter: &Parameter| {
        let mut value = taken(parameter);
        value["description"] = format!("{} Unless given: {}.", parameter.about, parameter.default).into();
        (parameter.name, value)
    };
    let mut parameters = schema::table(PARAMETERS.iter().map(described), &[]);
    parameters["not"] = json!({ "required": ["until"], "anyOf": [{ "required": ["cycles"] }, { "required": ["relaunch"] }] });
    parameters
}

/// What a parameter takes: a value, a list of values, or a range of numbers.
fn taken(parameter: &Parameter) -> Value {
    match parameter.kind {
        Kind::Whole { least, most, .. } => with_range(&whole(least, most)),
        Kind::Flag { .. } => one_or_more(&json!({ "type": "boolean" })),
        Kind::Text { pattern, examples, .. } => one_or_more(&json!({ "type": "string", "pattern": pattern, "examples": examples })),
        Kind::Named { choices, aliases, .. } => {
            let mut names = choice("", choices());
            if let Some(values) = names["enum"].as_array_mut() {
                values.extend(aliases().into_iter().map(Value::from));
            }
            one_or_more(&names)
        }
    }
}

/// A table with these keys and no others.
fn table(keys: &[Key], policies: &Policies) -> Value {
    let described = |key: &Key| {
        let mut value = (key.value)(policies);
        value["description"] = key.about.into();
        (key.name, value)
    };
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    schema::table(keys.iter().map(described), &required)
}

pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

/// A short name, which may be part of a file's.
pub(super) fn plain_name() -> Value {
    json!({ "type": "string", "pattern": "^[a-z0-9-]+$" })
}

/// The name of something built in, which an editor can offer, or the path of a file.
pub(super) fn known_or_file(known: &[&str]) -> Value {
    json!({ "anyOf": [{ "type": "string", "enum": known }, text()] })
}

pub(super) fn policy(policies: &Policies) -> Value {
    let known = choice("", policies.all().map(|policy| (policy.name(), policy.help())));
    let mechanisms: Vec<&str> = MECHANISMS.iter().map(|mechanism| mechanism.name).collect();
    let composed = format!("^[a-z][a-z0-9-]*([+][a-z-]+)?([+]({}))+$", mechanisms.join("|"));
    json!({ "anyOf": [known, { "type": "string", "pattern": composed }, { "type": "string", "pattern": "^static:[0-9]+(-[0-9]+)*$" }] })
}

/// A whole number in a range; the greatest of all is no end.
pub(super) fn whole(least: u64, most: u64) -> Value {
    match most {
        u64::MAX => json!({ "type": "integer", "minimum": least }),
        most => json!({ "type": "integer", "minimum": least, "maximum": most }),
    }
}

/// A number as such, a list of such numbers, or a range of numbers.
fn with_range(number: &Value) -> Value {
    or_range(one_or_more(number), number)
}

/// These values, or a range of such numbers.
fn or_range(mut values: Value, number: &Value) -> Value {
    let mut range = table(&RANGE, &Policies::default());
    for bound in ["minimum", "maximum"].into_iter().filter(|bound| number.get(bound).is_some()) {
        range["properties"]["from"][bound] = number[bound].clone();
    }
    if let Some(alternatives) = values["anyOf"].as_array_mut() {
        alternatives.push(range);
    }
    values
}

/// Fields of a machine: any of those in its file, each with a value, a list or a range. Of what is a list there, elements by their place.
pub(super) fn gpu_settings() -> Value {
    varied(&gpus::schema::fields())
}

fn varied(schema: &Value) -> Value {
    let mut field = schema.clone();
    let about = field.as_object_mut().and_then(|keywords| keywords.remove("description"));
    let mut varied = match field["properties"].as_object() {
        Some(fields) => {
            let fields: serde_json::Map<String, Value> = fields.iter().map(|(name, field)| (name.clone(), self::varied(field))).collect();
            // A quoted key may be a whole path: "sm.count" = 2.
            json!({ "type": "object", "properties": fields, "patternProperties": { "\\.": {} }, "additionalProperties": false })
        }
        None if field["type"] == "array" => {
            json!({ "type": "object", "patternProperties": { "^[0-9]+$": self::varied(&field["items"]) }, "additionalProperties": false })
        }
        None if field["type"] == "integer" => with_range(&field),
        None => {
            let values = one_or_more(&field);
            let mut alternatives = field["anyOf"].as_array().into_iter().flatten();
            match alternatives.find(|alternative| alternative["type"] == "integer") {
                Some(number) => or_range(values, number),
                None => values,
            }
        }
    };
    if let Some(about) = about {
        varied["description"] = about;
    }
    varied
}
