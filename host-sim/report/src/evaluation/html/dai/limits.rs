//! Figure 9: weighted speedup over the static limits of both kernels.

use super::super::means::{joined, of, plain};
use super::super::page::Page;
use crate::evaluation::figure::{Chart, Figure, Key, Panel, Surface};
use mias_lab::evaluate::results::{GroupResult, StudyResult};

/// The fields that are varied, by kernel.
const LIMITS: [&str; 2] = ["sm.memory_issue.limits.0", "sm.memory_issue.limits.1"];

/// What the paper says of each pair.
const SAYS: [(&str, &str); 3] = [
    ("pf+bp", "The paper: more with every instruction that either may have in flight."),
    ("bp+ks", "The paper: low where ks may have 8 or more; below that more with every instruction of bp."),
    ("sv+ks", "The paper: low where ks may have 8 or more; below that first more, then less with sv's; best at 3 of sv and 1 of ks."),
];

fn limit<'s>(study: &'s StudyResult, field: &str) -> Option<&'s str> {
    study.setting.iter().find(|(key, _)| key == field).map(|(_, value)| value.as_str())
}

/// The values of a field over some studies, in the order in which they come.
fn axis(studies: &[&StudyResult], field: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for value in studies.iter().filter_map(|study| limit(study, field)) {
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    values
}

/// A surface for every pair.
pub(super) fn figure_9(page: &mut Page, studies: &[&StudyResult]) {
    let [columns, rows] = LIMITS.map(|field| axis(studies, field));
    let Some(first) = studies.first() else { return };
    if columns.is_empty() || rows.is_empty() {
        return;
    }
    page.heading("Figure 9: static limits");
    for (place, group) in first.groups.iter().enumerate() {
        let letter = char::from(b'a' + (place % 26) as u8);
        let surface = surface(studies, group, &columns, &rows);
        let says = SAYS.iter().find(|(pair, _)| *pair == joined(group)).map_or("", |(_, says)| says);
        let best = surface.best().map_or_else(String::new, |(row, column, value)| {
            format!(" Here the best is {value:.3}, at {} of {} and {} of {}.", columns[column], name(group, 0), rows[row], name(group, 1))
        });
        let caption = format!(
            "Weighted speedup of {} under Warped-Slicer by the off-chip memory instructions that either kernel may have in flight on an SM. {says}{best}",
            joined(group)
        );
        let panels = vec![Panel::untitled(Chart::Surface(surface))];
        page.figure(Figure { id: format!("9{letter}"), caption, key: Key::default(), panels });
    }
}

fn name(group: &GroupResult, kernel: usize) -> String {
    group.kernels.get(kernel).map_or_else(String::new, |name| plain(name).into_owned())
}

fn surface(studies: &[&StudyResult], group: &GroupResult, columns: &[String], rows: &[String]) -> Surface {
    let value = |column: &str, row: &str| {
        let at = |study: &&&StudyResult| limit(study, LIMITS[0]) == Some(column) && limit(study, LIMITS[1]) == Some(row);
        let study = studies.iter().find(at)?;
        let group = study.groups.iter().find(|other| other.kernels == group.kernels)?;
        of(group, "warped-slicer")?.metrics.stp
    };
    Surface {
        label: format!("Weighted speedup of {} over both limits", joined(group)),
        quantity: "weighted speedup".to_owned(),
        x_label: format!("limit of {}", name(group, 0)),
        y_label: format!("limit of {}", name(group, 1)),
        columns: columns.to_vec(),
        rows: rows.to_vec(),
        values: rows.iter().map(|row| columns.iter().map(|column| value(column, row)).collect()).collect(),
    }
}
