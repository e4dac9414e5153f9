//! The valid files of these tests have every existing key, and every key is described.

use super::files::{Kind, gpu, kernel, plan};
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns the schema and its direct alternatives for the same place.
fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    std::iter::once(schema).chain(schema["anyOf"].as_array().into_iter().flatten())
}

/// Collects every key of a schema, dotted; `*` is an element, or a name of the file's own.
fn all_keys(schema: &Value, path: &str, keys: &mut BTreeSet<String>) {
    for schema in alternatives(schema) {
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            assert!(inner["description"].as_str().is_some_and(|text| !text.is_empty()), "{path} has no description");
            keys.insert(path.clone());
            all_keys(inner, &path, keys);
        }
        for inner in [&schema["items"], &schema["additionalProperties"]].into_iter().filter(|inner| inner.is_object()) {
            all_keys(inner, &format!("{path}.*"), keys);
        }
    }
}

/// Collects the keys of the schema that a file has.
fn keys_of(file: &Value, schema: &Value, path: &str, keys: &mut BTreeSet<String>) {
    for schema in alternatives(schema) {
        for (key, inner) in file.as_object().into_iter().flatten() {
            if let Some(known) = schema["properties"].get(key) {
                let path = format!("{path}.{key}");
                keys.insert(path.clone());
                keys_of(inner, known, &path, keys);
            } else if schema["additionalProperties"].is_object() {
                keys_of(inner, &schema["additionalProperties"], &format!("{path}.*"), keys);
            }
        }
        for inner in file.as_array().into_iter().flatten().filter(|_| schema["items"].is_object()) {
            keys_of(inner, &schema["items"], &format!("{path}.*"), keys);
        }
    }
}

/// Returns the keys that no file has, except those below `but`.
fn missing(kind: &Kind, but: &str) -> Vec<String> {
    let (mut known, mut had) = (BTreeSet::new(), BTreeSet::new());
    all_keys(&kind.schema, "", &mut known);
    assert!(known.len() > 20, "{known:?}");
    for (_, file) in &kind.files {
        keys_of(&serde_json::to_value(file).expect("JSON"), &kind.schema, "", &mut had);
    }
    known.difference(&had).filter(|key| !key.starts_with(but)).cloned().collect()
}

#[test]
fn the_files_of_these_tests_have_every_key() {
    // A plan sets a few fields of a GPU; the GPU files contain all of them.
    assert_eq!(missing(&plan(), ".experiment.*.gpu-settings."), [""; 0]);
    assert_eq!(missing(&gpu(), "nothing"), [""; 0]);
    // Only the simulator's own kernels have one.
    assert_eq!(missing(&kernel(), ".reference"), [""; 0]);
}
