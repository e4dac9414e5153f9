//! Crates of the workspace and their dependencies.
//!
//! The dependencies are those of the drawing in `docs/explanation/architecture.md`, which
//! `tests/arrows.rs` compares with cargo. The picture leaves out those that follow from others.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};

use super::canvas::{Anchor, Area, Canvas, Color, Point};
use crate::util::root;

const PAGE: &str = "docs/explanation/architecture.md";

/// Columns: left edge and width. Rows are of one height.
const COLUMNS: [(i32, i32); 4] = [(6, 142), (188, 184), (392, 184), (596, 198)];
const ROW: i32 = 78;
const HEIGHT: i32 = 46;

/// Each crate with its column, its row, its color and what it has.
const CRATES: [(&str, usize, i32, Color, &str); 15] = [
    ("mias", 1, 0, Color::Blue, "command line"),
    ("mias-report", 1, 1, Color::Blue, "tables, figures"),
    ("mias-lab", 1, 2, Color::Blue, "experiments, plans"),
    ("mias-workloads", 1, 3, Color::Blue, "kernels and inputs"),
    ("mias-trace", 1, 4, Color::Blue, "trace files"),
    ("mias-ptx", 1, 5, Color::Blue, "PTX interpreter"),
    ("mias-hw-model", 2, 3, Color::Green, "timing model"),
    ("mias-warp-trace", 2, 6, Color::Green, "warps' instructions"),
    ("mias-firmware-images", 3, 2, Color::Gold, "three boards"),
    ("mias-policies", 3, 3, Color::Gold, "other policies"),
    ("mias-firmware", 3, 4, Color::Gold, "scheduler, driver"),
    ("mias-registers", 3, 5, Color::Gold, "register map"),
    ("mias-plans", 0, 2, Color::Gray, "plans"),
    ("mias-gpus", 0, 3, Color::Gray, "GPU files"),
    ("mias-kernels", 0, 4, Color::Gray, "PTX kernels"),
];

/// Meaning of each color.
const KEY: [(Color, &str); 4] = [
    (Color::Blue, "host-sim/: traces, experiments, reports"),
    (Color::Green, "hw-model/: GPU model"),
    (Color::Gold, "firmware/: scheduler and register map"),
    (Color::Gray, "configs/, plans/, kernels/: data"),
];

type Arrow = (String, String);

pub(super) fn draw() -> Result<Canvas> {
    let page = fs::read_to_string(root().join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let drawn = without_implied(&arrows(&page).with_context(|| format!("{PAGE} has no flowchart of crates"))?);
    let routed: BTreeSet<Arrow> = routes().iter().map(|(from, to, _)| ((*from).to_owned(), (*to).to_owned())).collect();
    let (more, less): (Vec<_>, Vec<_>) = (drawn.difference(&routed).collect(), routed.difference(&drawn).collect());
    ensure!(more.is_empty() && less.is_empty(), "xtask/src/pictures/crates.rs lacks the arrows {more:?}, and has {less:?}");

    let mut canvas = Canvas::new(
        (800, 530),
        "Crates and their dependencies",
        "An arrow leads from a crate to a crate that it depends on; dependencies that follow from others are left out. mias, mias-report \
         and mias-lab form a chain. mias-lab depends on workloads, the hardware model, policies, plans and GPU files. Workloads depend on \
         traces, these on the PTX interpreter, and this on warp traces. Policies depend on the firmware, and the firmware on the register \
         map. The hardware model depends on warp traces and the register map, not on the firmware.",
    );
    for (name, _, _, color, content) in CRATES {
        canvas.labeled_box(place(name), color, name, &[content]);
    }
    for (_, _, points) in routes() {
        canvas.arrow(&points);
    }
    for ((color, meaning), y) in KEY.iter().zip((12..).step_by(24)) {
        canvas.swatch(Area::new(440, y, 16, 16), *color);
        canvas.label((464, y + 13), Anchor::Start, &[meaning]);
    }
    canvas.label((440, 125), Anchor::Start, &["An arrow is a dependency.", "Those that follow from others are left out."]);
    Ok(canvas)
}

fn place(name: &str) -> Area {
    let found = CRATES.iter().find(|(known, ..)| *known == name);
    let (column, row) = found.map_or((0, 0), |(_, column, row, ..)| (*column, *row));
    let (x, width) = COLUMNS[column];
    Area::new(x, 8 + row * ROW, width, HEIGHT)
}

/// Returns each arrow with its points.
fn routes() -> Vec<(&'static str, &'static str, Vec<Point>)> {
    let down = |from, to| (from, to, vec![place(from).bottom(50), place(to).top(50)]);
    // From the lower edge of `mias-lab` between two rows.
    let lab = place("mias-lab");
    let (lab_x, lab_y) = lab.bottom(50);
    let below = |to, (x, y): Point| ("mias-lab", to, vec![(lab_x, lab_y), (lab_x, lab_y + 14), (x, lab_y + 14), (x, y)]);
    let (gpus, kernels, workloads) = (place("mias-gpus").right(35), place("mias-kernels").right(50), place("mias-workloads").left(65));
    let (model, registers) = (place("mias-hw-model"), place("mias-registers").left(50));
    let (ptx, warp_trace) = (place("mias-ptx").bottom(50), place("mias-warp-trace"));
    vec![
        down("mias", "mias-report"),
        down("mias-report", "mias-lab"),
        down("mias-lab", "mias-workloads"),
        down("mias-workloads", "mias-trace"),
        down("mias-trace", "mias-ptx"),
        down("mias-firmware-images", "mias-policies"),
        down("mias-policies", "mias-firmware"),
        down("mias-firmware", "mias-registers"),
        down("mias-hw-model", "mias-warp-trace"),
        below("mias-hw-model", model.top(50)),
        below("mias-policies", place("mias-policies").top(20)),
        ("mias-lab", "mias-plans", vec![lab.left(50), place("mias-plans").right(50)]),
        ("mias-lab", "mias-gpus", vec![lab.left(50), (164, lab.left(50).1), (164, gpus.1), gpus]),
        ("mias-workloads", "mias-kernels", vec![workloads, (176, workloads.1), (176, kernels.1), kernels]),
        ("mias-hw-model", "mias-registers", vec![model.bottom(80), (model.bottom(80).0, registers.1), registers]),
        ("mias-ptx", "mias-warp-trace", vec![ptx, (ptx.0, warp_trace.left(50).1), warp_trace.left(50)]),
    ]
}

/// Returns the arrows of the page's flowchart, whose lines are `a --> b & c`.
fn arrows(page: &str) -> Option<BTreeSet<Arrow>> {
    let (_, drawing) = page.split_once("```mermaid\nflowchart")?;
    let (drawing, _) = drawing.split_once("```")?;
    let lines = drawing.lines().filter_map(|line| line.trim().split_once(" --> "));
    Some(lines.flat_map(|(from, to)| to.split(" & ").map(|to| (from.to_owned(), to.to_owned()))).collect())
}

/// Returns the arrows without those for which there is a path of several others.
fn without_implied(arrows: &BTreeSet<Arrow>) -> BTreeSet<Arrow> {
    let behind = |crate_: &str| -> BTreeSet<String> {
        let mut reached: BTreeSet<String> = BTreeSet::new();
        let mut rest = vec![crate_.to_owned()];
        while let Some(from) = rest.pop() {
            let next = arrows.iter().filter(|(known, _)| *known == from).map(|(_, to)| to.clone());
            rest.extend(next.filter(|to| reached.insert(to.clone())));
        }
        reached
    };
    let implied = |(from, to): &Arrow| arrows.iter().any(|(known, by)| known == from && by != to && behind(by).contains(to));
    arrows.iter().filter(|arrow| !implied(arrow)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implied_arrows_are_left_out() {
        let page = "text\n```mermaid\nflowchart TD\n    a --> b & c & d\n    b --> c\n    c --> d\n```\n";
        let arrow = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let all = arrows(page).unwrap();
        assert_eq!(all.len(), 5);
        assert_eq!(without_implied(&all), BTreeSet::from([arrow("a", "b"), arrow("b", "c"), arrow("c", "d")]));
    }

    #[test]
    fn a_dependency_is_below_or_next_to_what_depends_on_it() {
        for (from, to, _) in routes() {
            assert!(place(from).y <= place(to).y, "{from} -> {to}");
            assert!([from, to].iter().all(|name| CRATES.iter().any(|(known, ..)| known == name)), "{from} -> {to}");
        }
    }
}
