//! What a report shows, as a plan declares it: blocks in order, each of which names the results that it draws and the published numbers next to them.
//! Nothing else decides what is in a report: not the plan's name, and no paper's.
//!
//! ```text
//! blocks (plan) + results -> rows -> cells -> drawn as bars, lines, ... by whoever writes the page
//! ```
//!
//! docs/guide/own-paper.md shows how a paper is written down.

mod alternatives;
mod cells;
mod expression;
mod factorial;
mod published;
mod rows;
mod template;

pub use alternatives::{Attained, Case, Judged};
pub use cells::{Cell, Cluster, Dot, Grid, Line, Placed};
pub use expression::{Expression, Value};
pub use factorial::{Effect, Factorial};
pub use published::{Number, Published};
pub use rows::{Row, plain};
pub use template::Template;

use super::results::{Evaluation, StudyResult};
use rows::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a report shows, and the published numbers that it names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// In order.
    pub blocks: Vec<Block>,
    /// Values that blocks call by a name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub define: BTreeMap<String, Expression>,
    /// Of all files that the blocks name.
    #[serde(default, skip_serializing_if = "Published::is_empty")]
    pub published: Published,
}

impl Report {
    /// Whether a block is of this kind.
    pub fn has(&self, kind: Kind) -> bool {
        self.blocks.iter().any(|block| block.kind == kind)
    }

    /// Whether the plan declares nothing. Without blocks the report is the usual one.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.published.is_empty()
    }
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A heading, with the conditions of the first of its experiments under it.
    Section,
    /// The usual figures and tables of experiments, as a report has them whose plan declares nothing.
    Usual,
    /// Every group under every policy.
    Groups,
    /// How near policies come to the best static configuration, by how well they knew the kernels.
    DecisionQuality,
    /// Bars in clusters, with means and published numbers.
    Bars,
    /// Stacked shares.
    Stacks,
    /// Lines over a quantity.
    Lines,
    /// Dots in a plane.
    Scatter,
    /// A quantity over two others, as a grid.
    Matrix,
    /// Ratios of means one under the other, each a dot with its interval; a panel for each of `values`.
    Ranked,
    /// Which of the first two values of `series` is better for each group, and a rule that says so beforehand from `factors`, counters of the kernels alone.
    Alternatives,
    /// What each of several factors does that are on or off in every combination, and which of them meet: a figure of the first of `values`, and tables.
    Factorial,
    /// A table.
    Table,
}

/// Which of the results a block is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Kernels alone.
    Kernels,
    /// Groups of kernels under a policy.
    #[default]
    Policies,
    /// Each kernel of these.
    Members,
    /// Machines, one of each experiment's settings.
    Gpus,
    /// Groups, whatever the policy.
    Groups,
    /// Static runs of every maximal configuration.
    Configurations,
    /// Requests for room.
    Requests,
    /// Queues of launches.
    Queue,
    /// Means by class and policy.
    Summary,
    /// What preemption stores, whatever ran: `what`, and bits of an SM in `hardware` and in `firmware`.
    PreemptionStorage,
}

/// Which mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mean {
    /// The sum over the number.
    #[default]
    Arithmetic,
    /// Of ratios.
    Geometric,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// As they are.
    #[default]
    Ratio,
    /// In hundredths.
    Percent,
    /// A ratio as a change.
    Change,
    /// In groups of three digits, without decimals.
    Grouped,
}

/// Rows that those of a block are compared with: `NAME.ipc` is the IPC of the one of them that agrees in all of `on`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Join {
    /// What they are of; the same as the block's if left out.
    pub rows: Option<Source>,
    /// A list in them whose points they are.
    pub points: Option<String>,
    /// Their experiments; the block's if left out.
    pub experiments: Vec<String>,
    /// Which of them.
    #[serde(rename = "where")]
    pub condition: Option<Expression>,
    /// What both have in common.
    pub on: Vec<Expression>,
    /// Of several the one in which this is largest; the first if left out.
    pub best: Option<Expression>,
    /// What that is called in the other rows, where it is not called the same.
    pub with: Vec<Expression>,
}

/// A series, a column, or a mean over some rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// What it is called.
    pub name: String,
    /// Its value.
    pub value: Expression,
    /// Decimals; of a number that is not whole 3 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digits: Option<usize>,
    /// How it is written.
    #[serde(default)]
    pub unit: Unit,
}

/// A mean over the rows of a chart, as a cluster of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Over {
    /// What it is called, and the key of its published numbers.
    pub name: String,
    /// Which rows; all if left out.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Expression>,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// Heading.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Number of a figure, and that of its published numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub figure: String,
    /// What a figure says below it, or a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caption: Option<Template>,
    /// What of the results: kernels, policies, ...; policies if left out.
    #[serde(default)]
    pub rows: Source,
    /// A list in them whose points are rows, with `at` and `value`: `curve`, `scalability`, `series.l1_accesses`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<String>,
    /// Of which experiments; all if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub experiments: Vec<String>,
    /// Of which policies, in this order; all in the plan's order if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    /// Which rows.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Expression>,
    /// What rows are compared with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub join: BTreeMap<String, Join>,
    /// A panel for each value of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panels: Option<Expression>,
    /// The title of a panel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel_title: Option<Template>,
    /// A cluster of bars for each value of this, a row of a table, a row of a matrix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<Expression>,
    /// What a cluster is called; the value of `by` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Expression>,
    /// Which rows have a cluster of their own; all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Expression>,
    /// A series for each value of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Expression>,
    /// Abscissa of lines, dots and grids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Expression>,
    /// What is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Expression>,
    /// What is drawn, a series each; the columns of a table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Named>,
    /// Which mean, where several rows are one bar or point.
    #[serde(default)]
    pub mean: Mean,
    /// Means as clusters of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub means: Vec<Over>,
    /// A point that all lines begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<[f64; 2]>,
    /// What axes say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub x_label: String,
    /// What axes say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub y_label: String,
    /// What the rows of a grid are.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by_label: String,
    /// How values are written.
    #[serde(default)]
    pub unit: Unit,
    /// What clusters, or the rows of a table, are sorted by, least first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<Expression>,
    /// What is on or off, each holding in half of the rows of a case, which have the same `by`; or the counters of kernels that a rule may ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<Named>,
    /// The published number of a bar; of this block's figure, by cluster and series, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<Expression>,
    /// Both ends of the interval of a bar that is one row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[Expression; 2]>,
    /// Half of the interval of a bar that is one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<Expression>,
    /// A line at 1.
    #[serde(default)]
    pub one: bool,
    /// A line where both axes are equal.
    #[serde(default)]
    pub diagonal: bool,
    /// Values on bars.
    #[serde(default)]
    pub numbers: bool,
    /// A table on its side: a line for each of `values`, with its published number (of the series of that name, of whatever key) beside it.
    #[serde(default)]
    pub across: bool,
    /// Whether `mias evaluate` prints the table, too, and then no other.
    #[serde(default)]
    pub print: bool,
}

impl Block {
    /// Its rows.
    pub fn rows<'e>(&self, evaluation: &'e Evaluation) -> Vec<Row<'e>> {
        let wanted =
            Wanted { rows: self.rows, points: self.points.as_deref(), experiments: &self.experiments, condition: self.condition.as_ref() };
        let mut rows = rows::rows(evaluation, &evaluation.plan.report.published, wanted, &self.join);
        if !self.policies.is_empty() {
            let place = |row: &Row<'_>| {
                let policy = row.get("policy").map(|policy| policy.to_string());
                self.policies.iter().position(|known| policy.as_ref() == Some(known))
            };
            rows.retain(|row| place(row).is_some());
            rows.sort_by_key(place);
        }
        rows
    }

    /// The studies that it is of: of a block of whole studies, those of its experiments for whose machine and settings `where` holds.
    pub fn studies<'e>(&self, evaluation: &'e Evaluation) -> Vec<&'e StudyResult> {
        let whole = matches!(self.kind, Kind::Section | Kind::Usual | Kind::Groups);
        let condition = self.condition.as_ref().filter(|_| whole);
        let wanted = Wanted { rows: Source::Gpus, points: None, experiments: &self.experiments, condition };
        rows::rows(evaluation, &evaluation.plan.report.published, wanted, &BTreeMap::new()).iter().map(Row::study).collect()
    }

    /// What it lacks to be drawn; none if nothing.
    pub(crate) fn lacks(&self) -> Option<&'static str> {
        let value = self.value.is_some() || !self.values.is_empty();
        let needs = match self.kind {
            Kind::Bars | Kind::Stacks => vec![(self.figure.is_empty(), "figure"), (!value, "value"), (self.by.is_empty(), "by")],
            Kind::Lines | Kind::Scatter => vec![(self.figure.is_empty(), "figure"), (!value, "value"), (self.x.is_none(), "x")],
            Kind::Matrix => vec![
                (self.figure.is_empty(), "figure"),
                (self.value.is_none(), "value"),
                (self.x.is_none(), "x"),
                (self.by.is_empty(), "by"),
            ],
            Kind::Table => vec![(self.values.is_empty(), "values")],
            Kind::Ranked => {
                vec![(self.figure.is_empty(), "figure"), (self.values.is_empty(), "values"), (self.by.is_empty(), "by")]
            }
            Kind::Alternatives => vec![
                (self.series.is_none(), "series"),
                (self.values.is_empty(), "values"),
                (self.by.is_empty(), "by"),
                (self.factors.is_empty(), "factors"),
            ],
            Kind::Factorial => vec![
                (self.figure.is_empty(), "figure"),
                (self.values.is_empty(), "values"),
                (self.by.is_empty(), "by"),
                (self.factors.is_empty(), "factors"),
            ],
            _ => vec![],
        };
        needs.into_iter().find(|(missing, _)| *missing).map(|(_, key)| key)
    }
}
