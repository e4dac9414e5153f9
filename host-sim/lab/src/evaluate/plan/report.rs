//! `[[report]]` and `published`: what the report shows ([`blocks`](crate::evaluate::blocks)).

use super::reader::{Source, Table};
use super::{PlanError, names, published_names, text_of};
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
    #[serde(default)]
    published: Vec<String>,
}

/// The blocks of a plan's text.
fn blocks(source: Source<'_>) -> Result<Blocks, PlanError> {
    toml::from_str(source.text).map_err(|error| PlanError(parse_error(source.file, source.text, &error)))
}

/// Adds the blocks of a plan whose experiments are `known`, and the published numbers that they stand beside.
pub(super) fn read(source: Source<'_>, plan: &Table<'_>, known: &[&str], report: &mut Report) -> Result<(), PlanError> {
    if let Some(other) = plan.get("report-as") {
        let (file, text) = text_of(&other.beside(other.text()?, &names())).map_err(|message| other.fail(&message))?;
        let theirs = blocks(Source { file: &file, text: &text })?;
        for name in &theirs.published {
            let text =
                mias_plans::published(name).ok_or_else(|| other.fail(&suggest::unknown("file of numbers", name, &published_names())))?;
            report.published.read(text).map_err(|message| other.fail(&format!("{name}: {message}")))?;
        }
        report.blocks.extend(theirs.report);
    }
    for name in plan.get("published").map(|list| list.list()).transpose()?.unwrap_or_default() {
        let word = name.beside(name.text()?, &published_names());
        let text = match mias_plans::published(&word) {
            Some(text) => text.to_owned(),
            None => file::text(Path::new(&word)).map_err(|error| name.fail(&format!("cannot read {word}: {error}")))?,
        };
        report.published.read(&text).map_err(|message| name.fail(&format!("{word}: {message}")))?;
    }
    let Some(written) = plan.get("report") else { return Ok(()) };
    let parsed = blocks(source)?;
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
