//! The list of machines: a line each.

use super::SCHEMA_VERSION;
use mias_hw_model::config::GpuConfig;
use mias_lab::table;
use serde_json::json;

/// For people.
pub fn text(machines: &[GpuConfig]) -> String {
    let mut table = table::new(&["name", "SMs", "description"]);
    for gpu in machines {
        table.add_row([gpu.name.clone(), gpu.sm.count.to_string(), gpu.description.clone()]);
    }
    table::text(&table)
}

/// For programs.
///
/// # Errors
/// None in practice: every value has a JSON form.
pub fn json(machines: &[GpuConfig]) -> Result<String, serde_json::Error> {
    let rows: Vec<_> =
        machines.iter().map(|gpu| json!({ "name": gpu.name, "sms": gpu.sm.count, "description": gpu.description })).collect();
    Ok(serde_json::to_string_pretty(&json!({ "schema_version": SCHEMA_VERSION, "machines": rows }))? + "\n")
}
