//! `docs/reference/gpu.md`, from the schema of GPU files.

use super::keys;
use super::markdown;
use mias_lab::gpus::schema::{fields, schema};

const ABOUT: &str = "This page lists every key of a GPU file. [Your GPU](../start/own-gpu.md) describes how to write one.
`mias gpu show` prints a built-in GPU as a file. `--set KEY=VALUE` sets a key of any GPU, with dots between tables and
key, as in `l1.mshrs`.

A file with `base` needs only the keys that differ from its base. \"required\" applies to files without one, and in an
optional table only if the table is present.";

pub(super) fn page() -> String {
    let mut all = fields();
    // A file has keys that are no field of the GPU: `base`.
    if let (Some(known), Some(of_file)) = (all["properties"].as_object_mut(), schema()["properties"].as_object()) {
        for (key, value) in of_file {
            known.entry(key.as_str()).or_insert_with(|| value.clone());
        }
    }
    markdown::page("GPU files", ABOUT, &keys::sections(&keys::tables(&all, "Top level", |_| None)))
}
