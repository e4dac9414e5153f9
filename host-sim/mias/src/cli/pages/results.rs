//! Tables of every field in `docs/reference/results.md`, from the types that are written.

use super::fields::{Objects, objects};
use super::markdown::{self, code, table};
use super::quantities;
use mias_hw_model::sm::IssueClass;
use mias_lab::evaluate::results::Evaluation;
use mias_lab::evaluate::store::Record;
use mias_lab::evaluate::summary;
use mias_report::evaluation::csv::COLUMNS;
use mias_workloads::input::schema::written;

const TYPES: &str = "*Optional* fields can be absent. The other fields are always present.";

pub(super) fn spliced(before: &str) -> Result<String, String> {
    let results = written::<Evaluation>();
    let listed = |names: Vec<&str>| names.into_iter().map(code).collect::<Vec<_>>().join(", ");
    let classes = listed(IssueClass::ALL.map(IssueClass::name).to_vec());
    let means = listed(summary::quantities().collect());
    let mut text = format!("## All fields of `results.json`\n\n{TYPES}\n\n");
    text +=
        &sections(&objects(&results, "`results.json`", |path| (path == "plan.report").then_some("[blocks of the plan](plan.md#report)")));
    text += &format!("Classes of `issue_slots`, in order: {classes}.\n\nQuantities of `means`: {means}.\n\n");
    text += &format!("## All names of `results.csv`\n\nColumns: {}.\n\n", listed(COLUMNS.to_vec()));
    let rows: Vec<Vec<String>> = quantities::by_subject(&results)?
        .into_iter()
        .map(|(subject, names)| vec![code(&subject), listed(names.iter().map(String::as_str).collect())])
        .collect();
    text += &table(&["subject", "quantities"], &rows);
    text += "\n## All fields of `runs/KEY.json`\n\n";
    text += &sections(&objects(&written::<Record>(), "`runs/KEY.json`", |_| None));
    markdown::spliced(before, "fields", &text)
}

fn sections(objects: &Objects) -> String {
    let section = |(paths, rows): &(Vec<String>, Vec<Vec<String>>)| {
        let also = match &paths[1..] {
            [] => String::new(),
            others => format!("Also at {}.\n\n", others.join(", ")),
        };
        format!("### {}\n\n{also}{}\n", paths[0], table(&["field", "type", "description"], rows))
    };
    objects.iter().map(section).collect()
}
