//! Names allowed in expressions of a block: fields of its rows, from the JSON Schemas of the
//! results, and names of every row.

use super::expression::Expression;
use super::{Block, Join, Report, Source};
use crate::evaluate::preemption_storage;
use crate::evaluate::queue::QueueResult;
use crate::evaluate::requests::RequestsResult;
use crate::evaluate::results::{AloneResult, ConfigurationResult, GroupResult, PolicyResult, SummaryRow};
use crate::gpus;
use mias_workloads::input::schema::written;
use serde_json::Value as Json;
use std::sync::LazyLock;

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

    /// Returns the schema of the rows' part of `results.json`.
    fn schema(self) -> &'static Json {
        static SCHEMAS: LazyLock<[(Source, Json); 9]> = LazyLock::new(|| {
            [
                (Source::Kernels, written::<AloneResult>()),
                (Source::Policies, written::<PolicyResult>()),
                (Source::Groups, written::<GroupResult>()),
                (Source::Configurations, written::<ConfigurationResult>()),
                (Source::Requests, written::<RequestsResult>()),
                (Source::Queue, written::<QueueResult>()),
                (Source::Summary, written::<SummaryRow>()),
                (Source::PreemptionStorage, written::<preemption_storage::Stored>()),
                (Source::Gpus, Json::Null),
            ]
        });
        let of = if self == Source::Members { Source::Policies } else { self };
        SCHEMAS.iter().find(|(source, _)| *source == of).map_or(&Json::Null, |(_, schema)| schema)
    }
}

/// Returns the schema of member `part` in `schema`.
fn member<'s>(schema: &'s Json, part: &str) -> Option<&'s Json> {
    if let Some(found) = schema["properties"].get(part) {
        return Some(found);
    }
    let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    if let Some(found) = { alternatives }.find_map(|alternative| member(alternative, part)) {
        return Some(found);
    }
    let index = part.parse::<usize>().ok();
    match (&schema["items"], index) {
        (Json::Array(parts), Some(index)) => parts.get(index),
        (items @ Json::Object(_), Some(_)) => Some(items),
        // A list stands for the element of the row's kernel.
        (items @ Json::Object(_), None) => member(items, part),
        _ => Some(&schema["additionalProperties"]).filter(|rest| rest.is_object()),
    }
}

fn has(schema: &Json, path: &str) -> bool {
    path.split('.').try_fold(schema, member).is_some()
}

/// Names in the rows of a block or of a join.
#[derive(Clone, Copy)]
struct Names<'r> {
    report: &'r Report,
    source: Source,
    points: bool,
    /// Joins of these rows. A joined row knows the joins before its own.
    joins: &'r [(&'r String, &'r Join)],
}

impl<'r> Names<'r> {
    /// Returns the names of the rows that a join finds.
    fn joined(self, name: &str) -> Option<Self> {
        let at = self.joins.iter().position(|(known, _)| *known == name)?;
        let join = self.joins[at].1;
        Some(Names { source: join.rows.unwrap_or(self.source), points: join.points.is_some(), joins: &self.joins[..at], ..self })
    }

    fn known(self, name: &str) -> bool {
        static GPU: LazyLock<Json> = LazyLock::new(gpus::schema::schema);
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        if let Some(defined) = self.report.define.get(name) {
            return defined.names().into_iter().all(|name| self.known(name));
        }
        if let Some(join) = self.joined(first) {
            return join.known(rest);
        }
        EVERYWHERE.contains(&name)
            || self.source.names().contains(&name)
            || self.points && ["at", "value", "most"].contains(&name)
            || match first {
                first if OPEN.contains(&first) => !rest.is_empty(),
                "study" => OF_STUDY.contains(&rest),
                "stored" => STORED.contains(&rest),
                "gpu" => has(&GPU, rest),
                "paper" => self.report.published.has_series(rest),
                _ => has(self.source.schema(), name),
            }
    }

    fn unknown<'e>(self, expressions: impl IntoIterator<Item = &'e Expression>) -> Option<&'e str> {
        expressions.into_iter().flat_map(Expression::names).find(|name| !self.known(name))
    }

    /// Returns the valid names.
    fn list(self) -> Vec<String> {
        let fields = self.source.schema()["properties"].as_object().into_iter().flat_map(|fields| fields.keys().cloned());
        let prefixes = ["gpu.KEY", "study.NAME", "setting.KEY", "levels.NAME", "paper.SERIES"];
        let named = { EVERYWHERE }.into_iter().chain(self.source.names()).chain(prefixes).map(str::to_owned);
        let joins = self.joins.iter().map(|(name, _)| format!("{name}.NAME"));
        named.chain(joins).chain(self.report.define.keys().cloned()).chain(fields).collect()
    }
}

/// Returns a name that a block uses and its rows lack, with the valid names.
pub(crate) fn unknown(report: &Report, block: &Block) -> Option<(String, Vec<String>)> {
    let of_claims =
        || block.claims.iter().find_map(|claim| unknown_of(report, &block.of_claim(claim), &claim.expressions().collect::<Vec<_>>()));
    unknown_of(report, block, &block.expressions().collect::<Vec<_>>()).or_else(of_claims)
}

/// Returns a name in the expressions over a block's rows, or in its joins, that these rows lack.
fn unknown_of(report: &Report, block: &Block, expressions: &[&Expression]) -> Option<(String, Vec<String>)> {
    let joins: Vec<(&String, &Join)> = block.join.iter().collect();
    let names = Names { report, source: block.rows, points: block.points.is_some(), joins: &joins };
    // A join of the whole plan need not fit the blocks that do not use it.
    let taken = || expressions.iter().copied().chain(report.define.values()).flat_map(Expression::names);
    let is_used = |name: &str| taken().any(|taken| taken.split_once('.').is_some_and(|(first, _)| first == name));
    let joined = || {
        joins.iter().filter(|(name, _)| is_used(name)).find_map(|(name, join)| {
            // `on` uses names of this row before the join; `with` those of the other rows.
            let theirs = names.joined(name)?;
            let on = names.unknown(&join.on).map(|name| (names, name));
            let other = if join.with.is_empty() { &join.on } else { &join.with };
            on.or_else(|| theirs.unknown(other.iter().chain(&join.condition).chain(&join.best)).map(|name| (theirs, name)))
        })
    };
    let found = names.unknown(expressions.iter().copied()).map(|name| (names, name)).or_else(joined);
    found.map(|(of, name)| (name.to_owned(), of.list()))
}
