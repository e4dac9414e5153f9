//! Names allowed in expressions of a block: fields of its rows, from the JSON Schemas of the
//! results, and names of every row.

use super::expression::Expression;
use super::{Block, Join, Report, Source};
use crate::evaluate::preemption_storage;
use crate::evaluate::queue::QueueResult;
use crate::evaluate::requests::RequestsResult;
use crate::evaluate::results::{AloneResult, ConfigurationResult, GroupResult, PolicyResult, SummaryRow};
use crate::gpus;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Names in every row.
const EVERYWHERE: [&str; 1] = ["experiment"];
/// First parts of names whose remainder depends on the plan or the policy.
const OPEN: [&str; 2] = ["setting", "levels"];
/// Names after `study.`.
pub(super) const OF_STUDY: [&str; 10] =
    ["title", "gpu", "cycles", "arrive", "profile_cycles", "transition", "latency", "ipc_unit", "precision", "levels"];
/// Names after `stored.`.
const STORED: [&str; 3] = ["sm", "chip", "preemption"];
/// Names in rows of a policy.
const UNDER_A_POLICY: [&str; 7] = ["group", "class", "policy", "base", "measures", "searched_for", "promised_stp"];

impl Source {
    /// Returns the names that identify rows, and derived names.
    fn names(self) -> Vec<&'static str> {
        match self {
            Source::Kernels => vec!["kernel", "input"],
            Source::Policies => UNDER_A_POLICY.to_vec(),
            Source::Members => [&["kernel", "input", "place"], &UNDER_A_POLICY[..]].concat(),
            Source::Gpus => vec!["gpu"],
            Source::Groups | Source::Configurations => vec!["group", "class"],
            Source::Requests => vec!["kernel", "scheme"],
            Source::Queue => vec!["group", "policy", "base", "measures"],
            Source::Summary => vec!["class", "policy", "base", "measures"],
            Source::PreemptionStorage => Vec::new(),
        }
    }

    /// Returns the schema of its part of `results.json`.
    fn schema(self) -> Json {
        fn of<T: JsonSchema>() -> Json {
            SchemaGenerator::default().into_root_schema_for::<T>().into()
        }
        match self {
            Source::Kernels => of::<AloneResult>(),
            Source::Policies | Source::Members => of::<PolicyResult>(),
            Source::Gpus => Json::Null,
            Source::Groups => of::<GroupResult>(),
            Source::Configurations => of::<ConfigurationResult>(),
            Source::Requests => of::<RequestsResult>(),
            Source::Queue => of::<QueueResult>(),
            Source::Summary => of::<SummaryRow>(),
            Source::PreemptionStorage => of::<preemption_storage::Stored>(),
        }
    }
}

/// Returns the schema of member `part` in `schema`.
fn member<'s>(root: &'s Json, schema: &'s Json, part: &str) -> Option<&'s Json> {
    if let Some(elsewhere) = schema["$ref"].as_str() {
        return member(root, root.pointer(elsewhere.trim_start_matches('#'))?, part);
    }
    if let Some(found) = schema["properties"].get(part) {
        return Some(found);
    }
    let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    if let Some(found) = { alternatives }.find_map(|alternative| member(root, alternative, part)) {
        return Some(found);
    }
    let index = part.parse::<usize>().ok();
    if let (Some(index), Some(parts)) = (index, schema["prefixItems"].as_array()) {
        return parts.get(index);
    }
    match (&schema["items"], &schema["additionalProperties"]) {
        (items @ Json::Object(_), _) if index.is_some() => Some(items),
        // A list stands for the element of the row's kernel.
        (items @ Json::Object(_), _) => member(root, items, part),
        (_, rest @ Json::Object(_)) => Some(rest),
        _ => None,
    }
}

fn has(schema: &Json, path: &str) -> bool {
    path.split('.').try_fold(schema, |found, part| member(schema, found, part)).is_some()
}

/// Names in the rows of a block or of a join.
struct Names<'r> {
    report: &'r Report,
    source: Source,
    points: bool,
    schema: Json,
    /// Schema of GPU files.
    gpu: &'r Json,
    joins: BTreeMap<&'r str, Names<'r>>,
}

impl<'r> Names<'r> {
    /// Collects the names of the rows of `source` with `joins`, each of which may use those before
    /// it.
    fn of(report: &'r Report, gpu: &'r Json, source: Source, points: bool, joins: &[(&'r String, &'r Join)]) -> Self {
        let joined = |(at, (name, join)): (usize, &(&'r String, &'r Join))| {
            let source = join.rows.unwrap_or(source);
            (name.as_str(), Names::of(report, gpu, source, join.points.is_some(), &joins[..at]))
        };
        Names { report, source, points, schema: source.schema(), gpu, joins: joins.iter().enumerate().map(joined).collect() }
    }

    fn known(&self, name: &str) -> bool {
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        if let Some(defined) = self.report.define.get(name) {
            return defined.names().into_iter().all(|name| self.known(name));
        }
        if let Some(join) = self.joins.get(first) {
            return join.known(rest);
        }
        EVERYWHERE.contains(&name)
            || self.source.names().contains(&name)
            || self.points && ["at", "value", "most"].contains(&name)
            || match first {
                first if OPEN.contains(&first) => !rest.is_empty(),
                "study" => OF_STUDY.contains(&rest),
                "stored" => STORED.contains(&rest),
                "gpu" => has(self.gpu, rest),
                "paper" => self.report.published.has_series(rest),
                _ => has(&self.schema, name),
            }
    }

    fn unknown<'e>(&self, expressions: impl IntoIterator<Item = &'e Expression>) -> Option<&'e str> {
        expressions.into_iter().flat_map(Expression::names).find(|name| !self.known(name))
    }

    /// Lists the valid names, for a message.
    fn list(&self) -> Vec<String> {
        let fields = self.schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys().cloned());
        let flattened = self.schema["allOf"].as_array().into_iter().flatten().filter_map(|part| part["properties"].as_object());
        let prefixes = ["gpu.KEY", "study.NAME", "setting.KEY", "levels.NAME", "paper.SERIES"];
        let named = { EVERYWHERE }.into_iter().chain(self.source.names()).chain(prefixes).map(str::to_owned);
        let joins = self.joins.keys().map(|name| format!("{name}.NAME"));
        let defined = self.report.define.keys().cloned();
        named.chain(joins).chain(defined).chain(fields).chain(flattened.flat_map(|fields| fields.keys().cloned())).collect()
    }
}

/// Returns a name that a block uses and its rows lack, with the valid names.
pub(crate) fn unknown(report: &Report, block: &Block) -> Option<(String, Vec<String>)> {
    let of_claims =
        || block.claims.iter().find_map(|claim| unknown_of(report, &block.of_claim(claim), &claim.expressions().collect::<Vec<_>>()));
    unknown_of(report, block, &block.expressions().collect::<Vec<_>>()).or_else(of_claims)
}

/// A name in the expressions over a block's rows, or in its joins, that these rows do not have.
fn unknown_of(report: &Report, block: &Block, expressions: &[&Expression]) -> Option<(String, Vec<String>)> {
    let gpu = gpus::schema::schema();
    let joins: Vec<(&String, &Join)> = block.join.iter().collect();
    let points = block.points.is_some();
    let names = Names::of(report, &gpu, block.rows, points, &joins);
    let told = |(of, name): (&Names<'_>, &str)| (name.to_owned(), of.list());
    // A join of the whole plan need not fit the blocks that do not use it.
    let taken = || expressions.iter().copied().chain(report.define.values()).flat_map(Expression::names);
    let is_used = |name: &str| taken().any(|taken| taken.split_once('.').is_some_and(|(first, _)| first == name));
    let joined = || {
        block.join.iter().filter(|(name, _)| is_used(name)).find_map(|(name, join)| {
            // `on` uses names of this row before the join; `with` those of the other rows.
            let theirs = names.joins.get(name.as_str())?;
            let on = names.unknown(&join.on).map(|name| (&names, name));
            let other = if join.with.is_empty() { &join.on } else { &join.with };
            on.or_else(|| theirs.unknown(other.iter().chain(&join.condition).chain(&join.best)).map(|name| (theirs, name)))
        })
    };
    names.unknown(expressions.iter().copied()).map(|name| (&names, name)).or_else(joined).map(told)
}
