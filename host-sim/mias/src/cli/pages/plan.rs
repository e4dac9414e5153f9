//! `docs/reference/plan.md`, from the schema of plans.

use super::keys;
use super::markdown;
use mias_lab::evaluate::plan;
use mias_lab::experiment::policies::Policies;
use serde_json::Value;

const ABOUT: &str = "This page lists every key of a plan for `mias evaluate`. [Your plan](../start/own-plan.md) describes
how to write one, [A paper's evaluation](../start/own-paper.md) the blocks of a report.";

pub(super) fn page() -> String {
    let schema = plan::schema(&Policies::default());
    let mut tables = keys::tables(&schema, "Top level", elsewhere);
    let cycles = &schema["properties"]["experiment"]["items"]["properties"]["parameters"]["properties"]["cycles"];
    let range = cycles["anyOf"].as_array().into_iter().flatten().find(|alternative| alternative["type"] == "object");
    let mut range = range.cloned().unwrap_or_default();
    // The bounds are those of the parameter.
    range["properties"]["from"]["maximum"] = Value::Null;
    range["properties"]["from"]["minimum"] = Value::Null;
    tables.extend(keys::tables(&range, "Ranges", |_| None));
    markdown::page("Plan files", ABOUT, &keys::sections(&tables))
}

/// Returns the values of the keys that another page lists.
fn elsewhere(key: &str) -> Option<&'static str> {
    match key {
        "experiment.kernels" => Some("list of [kernels](kernels.md) or [kernel files](kernel-file.md)"),
        "experiment.policies" => Some("list of [policies](policies.md)"),
        "experiment.parameters" => Some("[parameters](options.md); each a value, a list or a [range](#ranges)"),
        "experiment.gpu-settings" => Some("[keys of a GPU file](gpu.md); each a value, a list or a [range](#ranges)"),
        _ => None,
    }
}
