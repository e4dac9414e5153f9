//! Static check of all figures of random evaluations, at the widths of a page and of a paper's
//! columns. Every text, mark, bar and line is within its drawing, and texts do not overlap, in any
//! of the fonts of drawings.

use crate::random;
use mias_lab::evaluate::blocks::{Block, Kind};
use mias_report::evaluation::figure::{Drawing, Figure, Point, Size};
use mias_report::evaluation::html;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Tolerance of a corner beyond an edge: numbers are written with two decimals.
const TOLERANCE: f64 = 0.01;

/// Widths in millimeters and sizes of text in points.
const SIZES: [(f64, f64); 4] = [(84.0, 8.0), (174.0, 8.0), (60.0, 8.0), (84.0, 6.0)];

/// Returns whether two convex quadrilaterals overlap: no side of either separates them (separating
/// axis theorem).
fn overlap(a: &[Point; 4], b: &[Point; 4]) -> bool {
    let parts = |one: &[Point; 4], other: &[Point; 4]| {
        (0..4).any(|at| {
            let ((x1, y1), (x2, y2)) = (one[at], one[(at + 1) % 4]);
            let (nx, ny) = (y2 - y1, x1 - x2);
            let length = nx.hypot(ny).max(1e-9);
            let along = |corners: &[Point; 4]| {
                let places = corners.map(|(x, y)| (x * nx + y * ny) / length);
                places.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| (low.min(place), high.max(place)))
            };
            let ((low, high), (other_low, other_high)) = (along(one), along(other));
            high <= other_low + TOLERANCE || other_high <= low + TOLERANCE
        })
    };
    !parts(a, b) && !parts(b, a)
}

/// Returns the faults of a drawing.
fn faults(drawing: &Drawing) -> Vec<String> {
    let (width, height) = drawing.size();
    let inside = |(x, y): Point| (-TOLERANCE..=width + TOLERANCE).contains(&x) && (-TOLERANCE..=height + TOLERANCE).contains(&y);
    let mut faults = Vec::new();
    let texts: Vec<(&str, [Point; 4])> = drawing.texts().collect();
    for (at, (text, corners)) in texts.iter().enumerate() {
        if !corners.iter().all(|corner| inside(*corner)) {
            faults.push(format!("`{text}` is not within {width:.0} x {height:.0}: {corners:.1?}"));
        }
        let over = texts[at + 1..].iter().filter(|(_, other)| overlap(corners, other));
        faults.extend(over.map(|(other, place)| format!("`{text}` at {corners:.1?} and `{other}` at {place:.1?} overlap")));
    }
    faults.extend(drawing.corners().into_iter().find(|corner| !inside(*corner)).map(|corner| format!("{corner:.1?} is not within")));
    faults
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn figures_are_within_and_apart(seed: u64) {
        figures_of(mias_plans::ALL.iter().filter(|(plan, _)| FEW.contains(plan)), seed)?;
    }
}

/// Small plans with figures of most kinds, for `cargo xtask test`; `cargo xtask ci` has all.
const FEW: [&str; 2] = ["quick", "lin"];

mod slow {
    use super::{figures_of, proptest};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1, max_shrink_iters: 0, ..ProptestConfig::default() })]

        #[test]
        fn figures_of_every_plan_are_within_and_apart(seed: u64) {
            figures_of(mias_plans::ALL.iter(), seed)?;
        }
    }
}

/// Checks the figures of these plans. Nothing extends over an edge or overlaps. Figures have
/// distinct names, and numbers have units and tables. The report contains every declared figure and
/// title.
fn figures_of(plans: impl Iterator<Item = &'static (&'static str, &'static str)>, seed: u64) -> Result<(), TestCaseError> {
    for (plan, _) in plans {
        let evaluation = random::of_quick(plan, seed);
        let figures = html::figures(&evaluation);
        let ids: BTreeSet<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
        prop_assert!(ids.len() == figures.len() && !ids.is_empty(), "{}: {:?}", plan, ids);
        // A single group may have no number at all.
        let many = evaluation.studies.iter().all(|study| study.groups.len() != 1);
        for figure in &figures {
            for drawing in SIZES.iter().flat_map(|&(width_mm, text_pt)| figure.drawings(Size { width_mm, text_pt })) {
                let faults = faults(&drawing);
                prop_assert!(faults.is_empty(), "{}, figure {}: {}", plan, figure.id, faults.join("\n"));
            }
            if many {
                has_numbers(plan, figure)?;
            }
        }
        let page = html::render(&evaluation);
        // The quick form may leave experiments out, so that no row of a figure has its number.
        let drawn = |block: &&Block| match block.kind {
            Kind::Section => !block.studies(&evaluation).is_empty(),
            Kind::Bars | Kind::Stacks => {
                let rows = block.rows(&evaluation);
                !block.bars(&evaluation.plan.report.published, &rows.iter().collect::<Vec<_>>()).1.is_empty()
            }
            _ => !block.rows(&evaluation).is_empty(),
        };
        for block in evaluation.plan.report.blocks.iter().filter(drawn) {
            prop_assert!(
                matches!(block.kind, Kind::Table | Kind::Claims) || block.figure.is_empty() || ids.contains(block.figure.as_str()),
                "{}: figure {}",
                plan,
                block.figure
            );
            prop_assert!(page.contains(&maud::html! { (block.title) }.into_string()), "{}: {}", plan, block.title);
        }
    }
    Ok(())
}

fn has_numbers(plan: &str, figure: &Figure) -> Result<(), TestCaseError> {
    let table = figure.csv().unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    prop_assert!(reader.headers().unwrap().iter().any(|heading| heading.ends_with(')')), "{} {}: {}", plan, figure.id, table);
    let records: Vec<_> = reader.records().collect();
    prop_assert!(!records.is_empty() && records.iter().all(Result::is_ok), "{} {}", plan, figure.id);
    Ok(())
}

/// The check detects overlaps.
#[test]
fn overlaps_are_found() {
    let square = |x: f64, y: f64, side: f64| [(x, y), (x + side, y), (x + side, y + side), (x, y + side)];
    assert!(overlap(&square(0.0, 0.0, 10.0), &square(9.0, 9.0, 10.0)));
    assert!(!overlap(&square(0.0, 0.0, 10.0), &square(10.0, 0.0, 10.0)));
    // A diamond's corner may be next to a square's.
    let diamond = [(15.0, 10.0), (20.0, 15.0), (15.0, 20.0), (10.0, 15.0)];
    assert!(!overlap(&square(0.0, 0.0, 12.0), &diamond) && overlap(&square(0.0, 0.0, 13.0), &diamond));
}
