//! List of GPUs, a line each.

use super::SCHEMA_VERSION;
use comfy_table::CellAlignment;
use mias_hw_model::config::GpuConfig;
use mias_lab::table;
use serde_json::json;

/// Formats the list as text.
pub fn text(gpus: &[GpuConfig]) -> String {
    let headings = ["name", "SMs", "description"].map(str::to_owned);
    let row = |gpu: &GpuConfig| vec![gpu.name.clone(), gpu.sm.count.to_string(), gpu.description.clone()];
    let mut table = table::of(&headings, &gpus.iter().map(row).collect::<Vec<_>>());
    // Some begin with a number, which would right-align them.
    table.column_iter_mut().skip(2).for_each(|column| column.set_cell_alignment(CellAlignment::Left));
    table::text(&table)
}

/// Formats the list as JSON.
///
/// # Errors
/// None in practice: every value has a JSON form.
pub fn json(gpus: &[GpuConfig]) -> Result<String, serde_json::Error> {
    let rows: Vec<_> = gpus.iter().map(|gpu| json!({ "name": gpu.name, "sms": gpu.sm.count, "description": gpu.description })).collect();
    Ok(serde_json::to_string_pretty(&json!({ "schema_version": SCHEMA_VERSION, "gpus": rows }))? + "\n")
}
