//! Tables of a block: end-to-end results, decisions, and the best static choice of every mix.

use super::super::page::Page;
use crate::evaluation::decisions::{BROUGHT, DECIDED, best, brought, decided, ends, name};
use mias_lab::evaluate::decisions::{Choice, Judgment, Mix, Objective, Static};
use mias_lab::table::{DASH, config, number};

/// Draws all three tables.
pub(super) fn tables(page: &mut Page, judgment: &Judgment<'_>) {
    let lines = &judgment.lines;
    page.paragraph(ends(judgment));
    page.heading("Results over the window");
    let rows: Vec<Vec<String>> = lines.iter().map(brought).chain([best(judgment)]).collect();
    page.table(&BROUGHT, &rows, true);
    page.heading("Quality of the decisions");
    page.table(&DECIDED, &lines.iter().map(decided).collect::<Vec<_>>(), true);
    page.heading("Results by mix");
    mixes(page, judgment);
}

/// Formats a static choice: TBs of each kernel on every SM, or SMs of each.
fn choice(one: &Static) -> String {
    let chosen = match &one.choice {
        Choice::Config(tbs) => format!("{} TBs", config(Some(tbs))),
        Choice::Split(sms) => format!("{} SMs", config(Some(sms))),
    };
    if one.with.is_empty() { chosen } else { format!("{chosen}, {}", one.with) }
}

fn mixes(page: &mut Page, judgment: &Judgment<'_>) {
    let base = judgment.base.as_ref();
    let line = |mix: &Mix| {
        let stp = base.and_then(|base| Objective::Stp.of(&mix.run(base)?.values));
        let (value, one) = mix.best(Objective::Stp, None).map_or((None, DASH.to_owned()), |(value, one)| (Some(value), choice(one)));
        vec![mix.kernels.join(" + "), mix.class.clone(), mix.statics.len().to_string(), number(stp, 3), number(value, 3), one]
    };
    let rows: Vec<Vec<String>> = judgment.block.mixes.iter().map(line).collect();
    let of_base = base.map_or_else(|| "B".to_owned(), name);
    page.table(&["kernels", "class", "static choices", &format!("STP of {of_base}"), "best static STP", "which"], &rows, false);
}
