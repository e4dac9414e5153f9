//! Table of faults in `docs/reference/errors.md`, from the messages of runs.

use super::markdown::{self, cell, code, table};
use mias_lab::experiment::faults;

pub(super) fn spliced(before: &str) -> Result<String, String> {
    let rows: Vec<Vec<String>> =
        faults::named(u32::MAX).map(|fault| vec![code(fault.name), cell(fault.meaning), cell(fault.remedy)]).collect();
    markdown::spliced(before, "faults", &table(&["fault", "meaning", "remedy"], &rows))
}
