//! Claims of a paper, each with the paper's number, the number of these results, and a verdict that
//! follows from them.

use super::{Block, Expression, Join, Row, Source, Template};
use crate::evaluate::results::Evaluation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Claim {
    /// The claim, in one phrase.
    pub claim: String,
    /// Section, figure or table of the paper.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// The paper's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<Template>,
    /// The number of these results.
    pub here: Template,
    /// Condition under which the claim is reproduced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<Expression>,
    /// Condition under which its direction is reproduced and its size is not; asked where `holds`
    /// does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_kind: Option<Expression>,
    /// Why the verdict is what it is, or what confounds it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Rows that the expressions are over; the block's if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Source>,
    /// Experiments; the block's if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub experiments: Vec<String>,
    /// Policies; the block's if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    /// Condition on the rows, in addition to the block's.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Expression>,
    /// Rows to compare with, in addition to the block's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub join: BTreeMap<String, Join>,
}

/// Whether results agree with a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The condition of the claim holds.
    Reproduced,
    /// The direction is the claimed one, the size is not.
    InKind,
    /// The condition does not hold.
    NotReproduced,
    /// The claim has no condition: these results cannot decide it.
    Inconclusive,
    /// The results lack the claim's experiments.
    NotRun,
}

impl Verdict {
    /// Returns the term of the verdict on a page.
    pub fn term(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::InKind => "in kind",
            Verdict::NotReproduced => "not reproduced",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotRun => "not run",
        }
    }
}

/// A claim and its verdict for some results.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgment {
    /// The claim, with its section in parentheses.
    pub claim: String,
    /// The paper's number; empty where the paper gives none.
    pub paper: String,
    /// The number of these results.
    pub here: String,
    /// Whether the paper's number and the number of these results agree.
    pub verdict: Verdict,
    /// Reason for the verdict.
    pub reason: String,
    /// Experiments that the judgment is from.
    pub experiments: String,
}

impl Judgment {
    /// Columns of a table of judgments.
    pub const HEADINGS: [&str; 6] = ["claim", "paper", "here", "verdict", "reason", "experiment"];

    /// Returns the cells of the judgment, in the order of [`Judgment::HEADINGS`].
    pub fn cells(&self) -> Vec<String> {
        let Judgment { claim, paper, here, verdict, reason, experiments } = self.clone();
        vec![claim, paper, here, verdict.term().to_owned(), reason, experiments]
    }
}

impl Block {
    /// Returns a claim's block: this one with the rows that the claim is over.
    pub(crate) fn of_claim(&self, claim: &Claim) -> Block {
        let or = |own: &[String], other: &[String]| if own.is_empty() { other.to_vec() } else { own.to_vec() };
        let mut block = self.clone();
        block.claims = Vec::new();
        block.rows = claim.rows.unwrap_or(self.rows);
        block.experiments = or(&claim.experiments, &self.experiments);
        block.policies = or(&claim.policies, &self.policies);
        block.join.extend(claim.join.clone());
        block
    }

    /// Returns the judgments of the block's claims.
    pub fn judgments(&self, evaluation: &Evaluation) -> Vec<Judgment> {
        self.claims.iter().map(|claim| self.judgment(claim, evaluation)).collect()
    }

    fn judgment(&self, claim: &Claim, evaluation: &Evaluation) -> Judgment {
        let block = self.of_claim(claim);
        let mut rows = block.rows(evaluation);
        rows.retain(|row| claim.condition.as_ref().is_none_or(|condition| condition.holds(row)));
        let rows: Vec<&Row<'_>> = rows.iter().collect();
        let holds = |condition: &Expression| condition.of(&rows, &rows).is_some_and(|value| value.holds());
        let verdict = match (&claim.holds, &claim.in_kind) {
            _ if rows.is_empty() => Verdict::NotRun,
            (None, None) => Verdict::Inconclusive,
            (Some(condition), _) if holds(condition) => Verdict::Reproduced,
            (_, Some(condition)) if holds(condition) => Verdict::InKind,
            _ => Verdict::NotReproduced,
        };
        let section = if claim.section.is_empty() { String::new() } else { format!(" ({})", claim.section) };
        Judgment {
            claim: format!("{}{section}", claim.claim),
            paper: claim.paper.as_ref().map_or_else(String::new, |paper| paper.of(&rows)),
            here: if rows.is_empty() { String::new() } else { claim.here.of(&rows) },
            verdict,
            reason: claim.reason.clone(),
            experiments: block.experiments.join(", "),
        }
    }
}

impl Claim {
    /// Returns every expression over the claim's rows.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let conditions = [&self.holds, &self.in_kind, &self.condition].into_iter().flatten();
        let templates = self.paper.iter().chain([&self.here]);
        conditions.chain(templates.flat_map(Template::expressions))
    }
}
