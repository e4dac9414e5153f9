//! Tables of all keys in `docs/reference/kernel-file.md`, from the schema of kernel files.

use super::keys;
use super::markdown;
use mias_workloads::kernels::file;

pub(super) fn spliced(before: &str) -> Result<String, String> {
    let sections = keys::sections(&keys::tables(&file::schema(), "Top level", |_| None));
    // An expression may stand for any whole number.
    let sections = sections.replace("more or text", "more, or an expression").replace(" or text |", ", or an expression |");
    markdown::spliced(before, "keys", &sections.replace("## ", "### "))
}
