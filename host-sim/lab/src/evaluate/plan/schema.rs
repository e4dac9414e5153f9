//! JSON Schema of a plan, generated from the tables of its keys. It includes custom policies of the
//! program.

use super::keys::{EXPERIMENT, Key, PLAN, QUEUE, QUICK, RANGE, REQUESTS};
use crate::evaluate::blocks::Block;
use crate::experiment::mechanisms::MECHANISMS;
use crate::experiment::parameters::{Kind, PARAMETERS, Parameter};
use crate::experiment::policies::Policies;
use crate::gpus;
use mias_workloads::input::schema::{self, choice, one_or_more};
use schemars::JsonSchema;
use serde_json::{Value, json};

/// Returns the schema of a plan, for a program that knows these policies.
#[must_use]
pub fn schema(policies: &Policies) -> Value {
    let mut schema = table(&PLAN, policies);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["title"] = "Plan of mias".into();
    schema["description"] =
        "A plan for `mias evaluate`: kernels, policies, GPUs and settings. docs/reference/plan.md lists every key.".into();
    schema
}

/// Returns the schema of a report block.
pub(super) fn block() -> Value {
    of_type::<Block>("A heading, a figure or a table, with its results.")
}

/// Returns the schema of a table with any names and values of this schema.
pub(super) fn map_of(value: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": value })
}

/// Returns the schema of a type's serialized form.
pub(super) fn of_type<T: JsonSchema>(about: &str) -> Value {
    let mut block = schema::of::<T>("", about);
    // The schema is embedded in another one, which has these keywords.
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

/// Returns a reference to the schema of a key of `[[experiment]]`.
pub(super) fn as_in_experiment(key: &str) -> Value {
    // In draft 7 a reference allows no other keywords next to it.
    json!({ "allOf": [{ "$ref": format!("#/properties/experiment/items/properties/{key}") }] })
}

/// Returns the schema of the quick form of an experiment.
pub(super) fn quick(policies: &Policies) -> Value {
    let mut quick = table(&QUICK, policies);
    quick["not"] = json!({ "required": ["groups", "together"] });
    quick
}

/// Returns the schema of placement requests.
pub(super) fn requests(policies: &Policies) -> Value {
    table(&REQUESTS, policies)
}

/// Returns the schema of a queue.
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

/// Returns the schema of a parameter: a value, a list of values, or a range of numbers.
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

/// Returns the schema of a table with these keys and no others.
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

/// Returns the schema of a short name, which may be part of a file name.
pub(super) fn plain_name() -> Value {
    json!({ "type": "string", "pattern": "^[a-z0-9-]+$" })
}

/// Returns the schema of a built-in name, which an editor can offer, or a path.
pub(super) fn known_or_file(known: &[&str]) -> Value {
    json!({ "anyOf": [{ "type": "string", "enum": known }, text()] })
}

pub(super) fn policy(policies: &Policies) -> Value {
    let known = choice("", policies.all().map(|policy| (policy.name(), policy.help())));
    let mechanisms: Vec<&str> = MECHANISMS.iter().map(|mechanism| mechanism.name).collect();
    let composed = format!("^[a-z][a-z0-9-]*([+][a-z-]+)?([+]({}))+$", mechanisms.join("|"));
    json!({ "anyOf": [known, { "type": "string", "pattern": composed }, { "type": "string", "pattern": "^static:[0-9]+(-[0-9]+)*$" }] })
}

/// Returns the schema of a whole number in a range; the type's maximum is no limit.
pub(super) fn whole(least: u64, most: u64) -> Value {
    match most {
        u64::MAX => json!({ "type": "integer", "minimum": least }),
        most => json!({ "type": "integer", "minimum": least, "maximum": most }),
    }
}

/// Returns the schema of a number, a list of such numbers, or a range of numbers.
fn with_range(number: &Value) -> Value {
    or_range(one_or_more(number), number)
}

/// Extends these values by a range of such numbers.
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

/// Returns the schema of GPU fields: any of those in its file, each with a value, a list or a
/// range. Elements of lists are addressed by index.
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
