//! Dependencies of reports.

use crate::random;
use mias_lab::evaluate::plan;
use mias_lab::experiment::policies::Policies;
use mias_lab::table::DASH;
use mias_report::evaluation::html;
use std::collections::BTreeSet;

/// Renaming or copying any plan changes nothing in its report except the name.
#[test]
fn a_copy_has_the_same_report() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    for (name, text) in mias_plans::ALL {
        let copy = text.replacen(&format!("name = \"{name}\""), "name = \"a-copy\"", 1);
        let page = |text: &str| {
            std::fs::write(&file, text).unwrap();
            html::render(&random::of_quick(file.to_str().unwrap(), 1))
        };
        let (original, copied) = (page(text), page(&copy));
        // Its title, its closing description, and a line for a protocol.
        let said = |name: &str| [format!("mias evaluate {name}-quick<"), format!("plan {name}-quick ("), format!("| {name}-quick h |")];
        let renamed = |page: &str, name: &str| said(name).iter().fold(page.to_owned(), |page, said| page.replace(said, ""));
        assert_eq!(renamed(&original, name), renamed(&copied, "a-copy"), "{name}");
        assert!(original.contains(&format!("mias evaluate {name}-quick<")) && copied.contains("mias evaluate a-copy-quick<"));
    }
}

/// Every line of the field's table has a distinct name, a kind that others share, and an author.
/// Its storage is known, and there are ten combinations.
#[test]
fn every_line_of_the_field_is_told() {
    let plan = plan::load("field", &Policies::default()).unwrap();
    let evaluation = random::of_plan(&plan, 1);
    let block = plan.report.blocks.iter().find(|block| block.print).unwrap();
    let rows = block.rows(&evaluation);
    let lines = block.table(&rows.iter().collect::<Vec<_>>());
    let mut names = BTreeSet::new();
    for line in &lines {
        assert!(line[..3].iter().all(|cell| !cell.is_empty() && cell != DASH) && line[12..].iter().all(|cell| cell != DASH), "{line:?}");
        assert!(names.insert((line[0].clone(), line[1].clone())), "{line:?} twice");
    }
    assert_eq!(lines.iter().filter(|line| line[0] == "combinations").count(), 10);
    let family = |name: &str| lines.iter().find(|line| line[1] == name).map(|line| line[0].as_str());
    for (name, expected) in [
        ("left-over", "in turn"),
        ("spatial", "SMs of their own"),
        ("coordinated", "shared SMs"),
        ("warped-slicer+dmil", "shared SMs, held back"),
        ("warped-slicer + UCP of the L2", "shared SMs, held back"),
        ("maestro", "one or the other"),
        ("spatial + GPUDuet", "more TBs than fit"),
        ("mias-ipm-ipc, preempt:shieh", "transitions"),
        ("mias-ipm-ipc + DMIL, preempt:shieh", "combinations"),
        ("warped-slicer+dmil + UCP of the L1", "combinations"),
    ] {
        assert_eq!(family(name), Some(expected), "{name}");
    }
}

/// Every mix and every queue of the stack runs under each of the sixteen combinations, once.
#[test]
fn the_stack_has_every_combination() {
    for load in [plan::load, plan::load_quick] {
        let plan = load("stack", &Policies::default()).unwrap();
        let evaluation = random::of_plan(&plan, 1);
        for block in plan.report.blocks.iter().filter(|block| block.print) {
            let rows = block.rows(&evaluation);
            let all = block.factorial(&rows);
            assert_eq!(all[0].combinations(), 16);
            // Check the first quantity, which is always known.
            assert!(all[0].cases.len() > 1 && rows.len() == 16 * all[0].cases.len(), "{}: {}", block.title, rows.len());
        }
    }
}

/// A series looks the same in every panel of a figure, and its key has all of them. The schemes of
/// Shieh 2016 differ between experiments.
#[test]
fn keys_have_the_series_of_all_panels() {
    let page = html::render(&random::of_quick("shieh", 1));
    let figure = page.split("<figure ").find(|figure| figure.contains("Figure 4.1.</b>")).unwrap();
    let key = figure.split("</ul>").next().unwrap();
    for scheme in ["chimera", "chimera-plus", "shieh", "oracle", "switch"] {
        assert_eq!(key.matches(&format!("</svg>{scheme}</li>")).count(), 1, "{scheme}: {key}");
    }
    let fills = |scheme: &str| {
        let bars = figure.split("<rect ").filter(|bar| bar.contains(&format!("<title>hs {scheme}: ")));
        bars.map(|bar| bar.split("fill=\"").nth(1).and_then(|fill| fill.split('"').next()).unwrap()).collect::<BTreeSet<_>>()
    };
    assert!(["chimera", "shieh"].iter().all(|scheme| fills(scheme).len() == 1));
    assert_ne!(fills("chimera"), fills("shieh"));
}
