//! Inside or beside: what sharing SMs and dividing them are worth for each group, who chooses the better, and by what it could be known
//! ([`mias_lab::evaluate::sides`]).

use super::means::plain;
use super::page::Page;
use crate::evaluation::sides::{HEADINGS, WHAT, rows};
use mias_lab::evaluate::results::StudyResult;
use mias_lab::evaluate::sides::{Group, Judged, Objective, Side, is_of, judge};
use mias_lab::table::{DASH, number, percent};

/// Both tables, if the plan has policies of all sides.
pub(super) fn draw(page: &mut Page, studies: &[StudyResult]) {
    if !is_of(studies) {
        return;
    }
    page.section("Inside or beside");
    page.paragraph(WHAT);
    let judged = Objective::ALL.map(|objective| (objective, judge(studies, objective)));
    let chosen: Vec<Vec<String>> = judged.iter().flat_map(|(objective, judged)| rows(*objective, judged)).collect();
    page.table(&HEADINGS, &chosen, false);
    for (objective, judged) in &judged {
        page.heading(&format!("Each group by {}", objective.name()));
        groups(page, judged);
    }
}

fn groups(page: &mut Page, judged: &Judged) {
    let row = |group: &Group| {
        let side = |side: Side| match group.best[side as usize] {
            Some((policy, value)) => [plain(policy).into_owned(), number(Some(value), 3)],
            None => [DASH.to_owned(), DASH.to_owned()],
        };
        let better = group.share(if group.right() == Side::Inside { Side::Beside } else { Side::Inside });
        let lead = percent(better.map(|share| 1.0 - share));
        let first = [group.experiment.clone(), group.kernels.iter().map(|name| plain(name).into_owned()).collect::<Vec<_>>().join(" + ")];
        first.into_iter().chain(Side::ALL.into_iter().flat_map(side)).chain([group.right().name().to_owned(), lead]).collect()
    };
    let rows: Vec<Vec<String>> = judged.groups.iter().map(row).collect();
    let headings = ["experiment", "kernels", "inside", "worth", "beside", "worth", "both", "worth", "better", "the other loses"];
    page.table(&headings, &rows, true);
}
