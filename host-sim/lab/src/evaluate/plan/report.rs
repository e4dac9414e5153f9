//! `[[report]]` and `published`: what the report shows ([`blocks`](crate::evaluate::blocks)).

use super::reader::{Source, Table};
use super::{PlanError, published_names};
use crate::evaluate::blocks::{Block, Report};
use mias_workloads::input::toml_text::parse_error;
use mias_workloads::input::{file, suggest};
use serde::Deserialize;
use std::path::Path;

/// The part of a plan that is read as it is written.
#[derive(Deserialize)]
struct Blocks {
    #[serde(default)]
    report: Vec<Block>,
}

/// Adds the blocks of a plan whose experiments are `known`, and the published numbers that they stand beside.
pub(super) fn read(source: Source<'_>, plan: &Table<'_>, known: &[&str], report: &mut Report) -> Result<(), PlanError> {
    for name in plan.get("published").map(|list| list.list()).transpose()?.unwrap_or_default() {
        let word = name.beside(name.text()?, &published_names());
        let text = match mias_plans::published(&word) {
            Some(text) => text.to_owned(),
            None => file::text(Path::new(&word)).map_err(|error| name.fail(&format!("cannot read {word}: {error}")))?,
        };
        report.published.read(&text).map_err(|message| name.fail(&format!("{word}: {message}")))?;
    }
    let Some(written) = plan.get("report") else { return Ok(()) };
    let parsed: Blocks = toml::from_str(source.text).map_err(|error| PlanError(parse_error(source.file, source.text, &error)))?;
    for (place, block) in written.list()?.iter().zip(&parsed.report) {
        if let Some(key) = block.lacks() {
            return Err(place.fail(&format!("a block of this kind has a key `{key}`")));
        }
        let named = block.experiments.iter().chain(block.join.values().flat_map(|join| &join.experiments));
        if let Some(name) = { named }.find(|name| !known.contains(&name.as_str())) {
            return Err(place.fail(&suggest::unknown("experiment", name, known)));
        }
    }
    report.blocks.extend(parsed.report);
    Ok(())
}
