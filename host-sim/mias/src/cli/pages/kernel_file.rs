//! Tables of all keys in `docs/reference/kernel-file.md`, from the schema of kernel files.

use super::keys;
use super::markdown;
use mias_workloads::kernels::file;

pub(super) fn spliced(before: &str) -> Result<String, String> {
    let sections = keys::sections(&keys::tables(&file::schema(), "Top level", |_| None));
    markdown::spliced(before, "keys", &sections.replace("## ", "### "))
}
