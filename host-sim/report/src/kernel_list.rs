//! The list of kernels: what each asks of an SM. Nothing here is executed.

use mias_hw_model::config::GpuConfig;
use mias_lab::characterise::occupancy::Occupancy;
use mias_lab::table::{self, DASH, grouped};
use mias_warp_trace::KernelInfo;
use mias_workloads::kernels::{KernelType, Setting};
use serde::Serialize;

/// A kernel of the list.
#[derive(Clone, Debug, Serialize)]
pub struct KernelRow {
    /// As the user typed it.
    pub name: String,
    /// What else it is called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_names: Vec<&'static str>,
    /// The collection that it is from, if one is named.
    pub suite: Option<String>,
    /// One line.
    pub description: String,
    /// `C` or `M` as the thesis has it; none for kernels that it does not have.
    #[serde(rename = "type")]
    pub kernel_type: Option<&'static str>,
    /// Problem size; none where an input file or the launch decides.
    pub size: Option<u64>,
    /// What the size counts.
    pub size_unit: String,
    /// What can be set besides size and seed.
    pub settings: Vec<Setting>,
    /// TBs in the grid.
    pub tbs: u64,
    /// TBs in x, y, z.
    pub grid: [u32; 3],
    /// Threads per TB in x, y, z.
    pub block: [u32; 3],
    /// Threads per TB.
    pub threads: u32,
    /// Registers per thread.
    pub registers_per_thread: u32,
    /// Shared memory per TB in bytes.
    pub shared_bytes: u32,
    /// Most TBs per SM.
    pub max_tbs: u32,
    /// What one more would lack.
    pub limited_by: Vec<&'static str>,
}

/// `C` or `M`, as the papers write it.
pub fn letter(kernel_type: KernelType) -> &'static str {
    match kernel_type {
        KernelType::Compute => "C",
        KernelType::Memory => "M",
    }
}

/// `4x2`: extents without the ones at the end.
pub fn extents(extents: [u32; 3]) -> String {
    let axes = extents.iter().rposition(|&extent| extent != 1).map_or(1, |last| last + 1);
    extents[..axes].iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

impl KernelRow {
    /// What geometry and machine say; name, description, type and size are the caller's.
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

    /// The row's cells, in the order of [`HEADINGS`].
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

/// What a row shows.
pub const HEADINGS: [&str; 9] = ["kernel", "type", "grid", "block", "TBs", "regs/thread", "shared B/TB", "max TBs/SM", "limited by"];

/// The table alone.
pub fn table(rows: &[KernelRow]) -> String {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.cells().to_vec()).collect();
    table::text(&table::of(&HEADINGS.map(str::to_owned), &rows))
}

/// For people.
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

/// For programs.
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
