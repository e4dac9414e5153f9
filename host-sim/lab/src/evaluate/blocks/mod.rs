//! Content of a report, as a plan declares it: blocks in order, each with its results and published
//! numbers. The plan's blocks alone determine the report, not the plan's name or a paper.
//!
//! ```text
//! blocks (plan) + results -> rows -> cells -> drawn as bars, lines, ... by a page writer
//! ```
//!
//! docs/start/own-paper.md shows how to describe a paper.

mod alternatives;
mod cells;
mod claims;
mod expression;
mod factorial;
mod fields;
mod published;
mod rows;
mod template;

pub use alternatives::{Attained, Case, Judged};
pub use cells::{Cell, Cluster, Dot, Grid, Line, Placed};
pub use claims::{Claim, Judgment, Verdict};
pub use expression::{Expression, Value};
pub use factorial::{Effect, Factorial};
pub use published::{Number, Published};
pub use rows::{Row, plain};
pub use template::Template;

use super::results::{Evaluation, StudyResult};
pub(crate) use fields::unknown;
use rows::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Declared content of a report, with the published numbers it uses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Blocks in order.
    pub blocks: Vec<Block>,
    /// Named expressions for use in blocks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub define: BTreeMap<String, Expression>,
    /// Published numbers of all files that the blocks name.
    #[serde(default, skip_serializing_if = "Published::is_empty")]
    pub published: Published,
}

impl Report {
    /// Returns whether any block is of this kind.
    pub fn has(&self, kind: Kind) -> bool {
        self.blocks.iter().any(|block| block.kind == kind)
    }

    /// Returns whether the plan declares no blocks; then the report has its default content.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.published.is_empty()
    }
}

/// Kind of a report block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Heading, followed by the conditions of the first of its experiments.
    Section,
    /// Default figures and tables of experiments, as in a report of a plan without blocks; without
    /// `experiments` that whole report.
    Usual,
    /// Every group under every policy.
    Groups,
    /// Results of policies relative to the best static configuration, by their knowledge of the
    /// kernels.
    DecisionQuality,
    /// Bars in clusters, with means and published numbers.
    Bars,
    /// Stacked shares.
    Stacks,
    /// Lines over a quantity.
    Lines,
    /// Scatter plot of two quantities.
    Scatter,
    /// A quantity over two others, as a grid.
    Matrix,
    /// Ratios of means as a ranked list of dots with intervals; a panel for each of `values`.
    Ranked,
    /// Comparison of the first two values of `series` for each group, and a rule that predicts the
    /// better one from `factors`, counters of isolated runs.
    Alternatives,
    /// Effects and interactions of factors that are on or off in every combination: a figure of the
    /// first of `values`, and tables.
    Factorial,
    /// Table of values.
    Table,
    /// Claims of a paper, with a verdict for each.
    Claims,
}

/// Type of results that form the rows of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Isolated kernels.
    Kernels,
    /// Groups of kernels under a policy.
    #[default]
    Policies,
    /// Kernels of these groups.
    Members,
    /// Machines, one for each setting of an experiment.
    Gpus,
    /// Groups, independent of the policy.
    Groups,
    /// Static runs of every maximal configuration.
    Configurations,
    /// Placement requests.
    Requests,
    /// Queues of launches.
    Queue,
    /// Means by class and policy.
    Summary,
    /// Storage for preemption, independent of the runs: `what`, and bits of an SM in `hardware` and
    /// in `firmware`.
    PreemptionStorage,
}

/// Type of mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mean {
    /// Arithmetic mean.
    #[default]
    Arithmetic,
    /// Geometric mean, for ratios.
    Geometric,
}

/// Format of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Number without a unit.
    #[default]
    Ratio,
    /// Percentage.
    Percent,
    /// Ratio as a change in percent.
    Change,
    /// Groups of three digits, without decimals.
    Grouped,
}

/// Rows for comparison with a block's rows: `NAME.ipc` is the IPC of the row that agrees in all of
/// `on`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Join {
    /// Type of these rows; that of the block if left out.
    pub rows: Option<Source>,
    /// List in these rows whose points are used as rows.
    pub points: Option<String>,
    /// Experiments of these rows; those of the block if left out.
    pub experiments: Vec<String>,
    /// Filter of these rows.
    #[serde(rename = "where")]
    pub condition: Option<Expression>,
    /// Expressions that must have equal values in both rows.
    pub on: Vec<Expression>,
    /// Expression by which the row with the largest value is chosen among several; the first if
    /// left out.
    pub best: Option<Expression>,
    /// Expressions for `on` in the other rows, if they differ.
    pub with: Vec<Expression>,
}

/// Series, column, or mean over some rows, with a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Name in the report.
    pub name: String,
    /// Expression for the value.
    pub value: Expression,
    /// Number of decimals; 3 for fractional numbers if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digits: Option<usize>,
    /// Format of the value.
    #[serde(default)]
    pub unit: Unit,
}

/// Mean over the rows of a chart, as a cluster of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Over {
    /// Name of the cluster, and key of its published numbers.
    pub name: String,
    /// Filter of the rows; all if left out.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Expression>,
}

/// Block of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Block {
    /// Kind of the block.
    pub kind: Kind,
    /// Heading of the block.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Number of a figure, which also selects its published numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub figure: String,
    /// Caption below a figure or a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caption: Option<Template>,
    /// Type of results that form the rows: kernels, policies, ...; policies if left out.
    #[serde(default)]
    pub rows: Source,
    /// List whose points become the rows, with `at` and `value`: `curve`, `scalability`,
    /// `series.l1_accesses`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<String>,
    /// Experiments of the rows; all if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub experiments: Vec<String>,
    /// Policies of the rows, in this order; all in the plan's order if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    /// Filter of the rows.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Expression>,
    /// Other rows for comparison, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub join: BTreeMap<String, Join>,
    /// Expression with one panel per value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panels: Option<Expression>,
    /// Title of a panel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel_title: Option<Template>,
    /// Expressions whose values identify a cluster of bars, a row of a table or a row of a matrix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<Expression>,
    /// Label of a cluster; the value of `by` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Expression>,
    /// Filter of the rows with a cluster of their own; all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Expression>,
    /// Expression with one series per value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Expression>,
    /// Abscissa of lines, dots and grids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Expression>,
    /// Expression that is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Expression>,
    /// Named expressions that are drawn, a series each; the columns of a table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Named>,
    /// Mean for bars or points of several rows.
    #[serde(default)]
    pub mean: Mean,
    /// Means as clusters of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub means: Vec<Over>,
    /// First point of all lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<[f64; 2]>,
    /// Label of the abscissa.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub x_label: String,
    /// Label of the ordinate.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub y_label: String,
    /// Label of the rows of a grid.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by_label: String,
    /// Format of the values.
    #[serde(default)]
    pub unit: Unit,
    /// Sort key of clusters, or of the rows of a table, in ascending order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<Expression>,
    /// Factors that are on or off, each on in half of the rows of a case (equal `by`); or counters
    /// of kernels for a rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<Named>,
    /// Published number of a bar; if left out, that of this block's figure, by cluster and series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<Expression>,
    /// Ends of the interval of a bar of a single row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[Expression; 2]>,
    /// Half-width of the interval of a bar of a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<Expression>,
    /// Whether a line is drawn at 1.
    #[serde(default)]
    pub one: bool,
    /// Whether a line is drawn where both axes are equal.
    #[serde(default)]
    pub diagonal: bool,
    /// Whether bars show their values.
    #[serde(default)]
    pub numbers: bool,
    /// Claims, for the kind `claims`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// A table on its side: a line for each of `values`, with its published number (of the series
    /// of that name, of whatever key) beside it.
    #[serde(default)]
    pub across: bool,
    /// Whether `mias evaluate` also prints the table, and then no other.
    #[serde(default)]
    pub print: bool,
}

impl Block {
    /// Returns the rows of the block.
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

    /// Returns the studies of the block. For blocks of whole studies, `where` filters them by
    /// machine and settings.
    pub fn studies<'e>(&self, evaluation: &'e Evaluation) -> Vec<&'e StudyResult> {
        let whole = matches!(self.kind, Kind::Section | Kind::Usual | Kind::Groups);
        let condition = self.condition.as_ref().filter(|_| whole);
        let wanted = Wanted { rows: Source::Gpus, points: None, experiments: &self.experiments, condition };
        rows::rows(evaluation, &evaluation.plan.report.published, wanted, &BTreeMap::new()).iter().map(Row::study).collect()
    }

    /// Returns every expression over the block's rows.
    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let one = [&self.condition, &self.panels, &self.label, &self.shown, &self.series, &self.x, &self.value, &self.sort, &self.paper];
        let named = self.values.iter().chain(&self.factors).map(|named| &named.value);
        let means = self.means.iter().filter_map(|mean| mean.condition.as_ref());
        let captions = self.caption.iter().chain(&self.panel_title).flat_map(Template::expressions);
        let ends = self.interval.iter().flatten().chain(&self.half_width);
        one.into_iter().flatten().chain(&self.by).chain(named).chain(means).chain(captions).chain(ends)
    }

    /// Returns a missing key without which the block cannot be drawn, if any.
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
            Kind::Claims => vec![(self.claims.is_empty(), "claims")],
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
