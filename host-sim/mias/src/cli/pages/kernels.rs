//! Table of the built-in kernels in `docs/reference/kernels.md`, from their files.

use super::markdown::{self, code, table};
use mias_lab::table::grouped;
use mias_report::kernel_list::extents;
use mias_workloads::kernels::{Setting, Spec, names};

const ABOUT: &str = "Geometry and resources at the default size. `mias kernels NAME` prints what each setting takes.";

pub(super) fn spliced(before: &str) -> Result<String, String> {
    let mut rows: Vec<Vec<String>> = names().map(row).collect::<Result<_, String>>()?;
    rows.sort();
    let headings = ["kernel", "grid", "block", "registers per thread", "shared bytes per TB", "settings"];
    markdown::spliced(before, "kernels", &format!("{ABOUT}\n\n{}", table(&headings, &rows)))
}

fn row(name: &str) -> Result<Vec<String>, String> {
    let spec = Spec::parse(name).map_err(|error| error.to_string())?;
    let (_, info) = spec.compile().map_err(|error| error.to_string())?;
    let settings: Vec<String> = spec.kernel.settings().iter().map(|Setting { key, .. }| code(key)).collect();
    let [registers, shared] = [info.registers_per_thread, info.shared_bytes].map(|count| grouped(count.into()));
    Ok(vec![code(name), extents(info.grid), extents(info.block), registers, shared, settings.join(", ")])
}
