//! Reads `[[report]]` and `published`: the content of the report
//! ([`blocks`](crate::evaluate::blocks)).

use super::reader::{Source, Table};
use super::{PlanError, names, published_names, text_of};
use crate::evaluate::blocks::{Block, Expression, Join, Report, unknown};
use crate::experiment::policies::Policies;
use mias_workloads::input::toml_text::parse_error;
use mias_workloads::input::{file, suggest};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of factors of a block: 256 combinations.
const MOST_FACTORS: usize = 8;

/// Part of a plan that is deserialized directly.
#[derive(Deserialize)]
struct Blocks {
    #[serde(default)]
    report: Vec<Block>,
    #[serde(default)]
    published: Vec<String>,
    #[serde(default)]
    define: BTreeMap<String, Expression>,
    #[serde(default)]
    join: BTreeMap<String, Join>,
}

impl Blocks {
    /// Returns the blocks of the plan, each with the joins of all.
    fn blocks(self) -> impl Iterator<Item = Block> {
        let join = self.join;
        self.report.into_iter().map(move |block| Block { join: join.clone().into_iter().chain(block.join).collect(), ..block })
    }
}

/// Returns a definition that depends on itself, directly or indirectly.
fn circular(define: &BTreeMap<String, Expression>) -> Option<&str> {
    let mut left: Vec<(&String, Vec<&str>)> = define.iter().map(|(name, of)| (name, of.names())).collect();
    loop {
        let before = left.len();
        let names: Vec<&str> = left.iter().map(|(name, _)| name.as_str()).collect();
        left.retain(|(_, of)| of.iter().any(|name| names.contains(name)));
        if left.len() == before {
            return left.first().map(|(name, _)| name.as_str());
        }
    }
}

/// Parses the blocks of a plan's text.
fn blocks(source: Source<'_>) -> Result<Blocks, PlanError> {
    toml::from_str(source.text).map_err(|error| PlanError(parse_error(source.file, source.text, &error)))
}

/// Adds the blocks of a plan whose experiments are `known`, and the published numbers that they
/// use.
pub(super) fn read(
    source: Source<'_>,
    plan: &Table<'_>,
    known: &[&str],
    policies: &Policies,
    report: &mut Report,
) -> Result<(), PlanError> {
    if let Some(other) = plan.get("report-as") {
        let (file, text) = text_of(&other.beside(other.text()?, &names())).map_err(|message| other.fail(&message))?;
        let theirs = blocks(Source { file: &file, text: &text })?;
        for name in &theirs.published {
            let text =
                mias_plans::published(name).ok_or_else(|| other.fail(&suggest::unknown("file of numbers", name, &published_names())))?;
            report.published.read(text).map_err(|message| other.fail(&format!("{name}: {message}")))?;
        }
        report.define.extend(theirs.define.clone());
        report.blocks.extend(theirs.blocks());
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
    let mut parsed = blocks(source)?;
    report.define.append(&mut parsed.define);
    if let Some(name) = circular(&report.define) {
        return Err(written.fail(&format!("the definition of `{name}` is circular")));
    }
    let parsed: Vec<Block> = parsed.blocks().collect();
    for (place, block) in written.list()?.iter().zip(&parsed) {
        if let Some(key) = block.lacks() {
            return Err(place.fail(&format!("a block of this kind has a key `{key}`")));
        }
        if block.factors.len() > MOST_FACTORS {
            return Err(place.fail(&format!("{} factors; the limit is {MOST_FACTORS}", block.factors.len())));
        }
        let joined = block.join.values().chain(block.claims.iter().flat_map(|claim| claim.join.values()));
        let claimed = block.claims.iter().flat_map(|claim| &claim.experiments);
        let named = block.experiments.iter().chain(claimed).chain(joined.flat_map(|join| &join.experiments));
        if let Some(name) = { named }.find(|name| !known.contains(&name.as_str())) {
            return Err(place.fail(&suggest::unknown("experiment", name, known)));
        }
    }
    for (place, block) in written.list()?.iter().zip(&parsed) {
        if let Some((name, known)) = unknown(report, block) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return Err(place.fail(&suggest::unknown("name", &name, &known)));
        }
        if let Some(message) =
            block.policies.iter().chain(block.claims.iter().flat_map(|claim| &claim.policies)).find_map(|name| policies.parse(name).err())
        {
            return Err(place.fail(&message));
        }
    }
    report.blocks.extend(parsed);
    Ok(())
}
