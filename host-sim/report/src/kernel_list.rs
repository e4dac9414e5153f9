//! List of kernels with their demand on an SM. No kernel is executed.

use mias_hw_model::config::GpuConfig;
use mias_lab::characterise::occupancy::Occupancy;
use mias_lab::table::{self, DASH, grouped};
use mias_warp_trace::KernelInfo;
use mias_workloads::kernels::{KernelType, Setting};
use serde::Serialize;

/// Kernel of the list.
#[derive(Clone, Debug, Serialize)]
pub struct KernelRow {
    /// Name as the user typed it.
    pub name: String,
    /// Aliases of the name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_names: Vec<&'static str>,
    /// Benchmark suite of its origin, if named.
    pub suite: Option<String>,
    /// One-line description.
    pub description: String,
    /// Type `C` or `M` by the thesis; `None` for kernels that it does not have.
    #[serde(rename = "type")]
    pub kernel_type: Option<&'static str>,
    /// Problem size; `None` if an input file or the launch determines it.
    pub size: Option<u64>,
    /// Unit of the size.
    pub size_unit: String,
    /// Parameters in addition to size and seed.
    pub settings: Vec<Setting>,
    /// Number of TBs in the grid.
    pub tbs: u64,
    /// Number of TBs in x, y, z.
    pub grid: [u32; 3],
    /// Number of threads per TB in x, y, z.
    pub block: [u32; 3],
    /// Number of threads per TB.
    pub threads: u32,
    /// Number of registers per thread.
    pub registers_per_thread: u32,
    /// Shared memory per TB in bytes.
    pub shared_bytes: u32,
    /// Maximum number of TBs per SM.
    pub max_tbs: u32,
    /// Resources that one more TB would lack.
    pub limited_by: Vec<&'static str>,
}

/// Returns `C` or `M`, as in the papers.
pub fn letter(kernel_type: KernelType) -> &'static str {
    match kernel_type {
        KernelType::Compute => "C",
        KernelType::Memory => "M",
    }
}

/// Formats extents without trailing ones: `4x2`.
pub fn extents(extents: [u32; 3]) -> String {
    let axes = extents.iter().rposition(|&extent| extent != 1).map_or(1, |last| last + 1);
    extents[..axes].iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

impl KernelRow {
    /// Fills the columns that depend on geometry and GPU; the caller sets name, description,
    /// type and size.
    pub fn of(info: &KernelInfo, gpu: &GpuConfig) -> Self {
        let Occupancy { max_tbs, limits } = Occupancy::of(info, gpu);
        KernelRow {
            name: info.name.clone(),
            other_names: Vec::new(),
            suite: None,
            description: String::new(),
            kernel_type: None,
            size: None,
            size_unit: String::new(),
            settings: Vec::new(),
            tbs: info.tbs(),
            grid: info.grid,
            block: info.block,
            threads: info.threads(),
            registers_per_thread: info.registers_per_thread,
            shared_bytes: info.shared_bytes,
            max_tbs,
            limited_by: limits,
        }
    }

    /// Returns the row's cells, in the order of [`HEADINGS`].
    pub fn cells(&self) -> [String; 9] {
        [
            self.name.clone(),
            self.kernel_type.unwrap_or(DASH).to_owned(),
            extents(self.grid),
            extents(self.block),
            grouped(self.tbs),
            grouped(self.registers_per_thread.into()),
            grouped(self.shared_bytes.into()),
            grouped(self.max_tbs.into()),
            self.limited_by.join(", "),
        ]
    }
}

/// Headings of a row.
pub const HEADINGS: [&str; 9] = ["kernel", "type", "grid", "block", "TBs", "regs/thread", "shared B/TB", "max TBs/SM", "limited by"];

/// Formats the table alone.
pub fn table(rows: &[KernelRow]) -> String {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.cells().to_vec()).collect();
    table::text(&table::of(&HEADINGS.map(str::to_owned), &rows))
}

/// Formats the list as text.
pub fn text(rows: &[KernelRow]) -> String {
    let size = |row: &KernelRow| row.size.map_or_else(String::new, |size| format!("; {size} {}", row.size_unit));
    let setting = |setting: &Setting| match setting.description.as_ref() {
        "" => format!("    {}\n", setting.key),
        description => format!("    {}: {description}\n", setting.key),
    };
    let settings = |row: &KernelRow| row.settings.iter().map(setting).collect::<String>();
    let also = |row: &KernelRow| match row.other_names[..] {
        [] => String::new(),
        _ => format!(", also {}", row.other_names.join(", ")),
    };
    let about = rows.iter().map(|row| format!("{}{}: {}{}\n{}", row.name, also(row), row.description, size(row), settings(row)));
    format!("{}\n{}", table(rows), about.collect::<String>())
}

/// Formats the list as JSON.
///
/// # Errors
/// None in practice: every value has a JSON form.
pub fn json(rows: &[KernelRow]) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(rows)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_end_at_the_last_that_counts() {
        assert_eq!([[4, 2, 1], [7, 1, 1], [1, 1, 1], [2, 1, 3]].map(extents), ["4x2", "7", "1", "2x1x3"]);
    }
}
