//! `mias evaluate` and `mias diff`, on small kernels and a GPU of two SMs.

use crate::support::evaluation::{PLAN, Place, documents, runs, wait_for_runs};
use crate::support::{mias, refused};
use predicates::prelude::*;
use predicates::str::contains;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// All properties of a finished evaluation in one test, since tests cannot share a folder, and
/// simulation takes time.
#[test]
fn an_evaluation_from_beginning_to_end() {
    let place = Place::new();
    let printed = place.evaluate("a", &["--jobs", "1"]);
    assert!(printed.contains("Pairs: 3 groups on rtx2060 sm.count=2, 20,000 cycles") && printed.contains("oracle-stp"), "{printed}");
    insta::assert_snapshot!("summary", printed.split("\nreport: ").next().expect("tables"));
    every_field_is_described(&place.path("a"));
    the_report_is_whole(&fs::read_to_string(place.path("a/report.html")).expect("the report"));
    the_report_is_made_anew(&place);
    figures_are_files_of_their_own(&place);
    the_notebook_reads_what_is_there(&place.path("a/results.csv"));

    // Another number of workers gives the same bytes; a second run has nothing left to do.
    place.evaluate("b", &["--jobs", "4"]);
    assert_eq!(documents(&place.path("a")), documents(&place.path("b")));
    assert_eq!(runs(&place.path("a")), runs(&place.path("b")));
    let before = documents(&place.path("b"));
    place.evaluate("b", &[]);
    assert_eq!(before, documents(&place.path("b")));

    // A lost run is executed again, and a lost document is written again.
    let lost = runs(&place.path("b")).into_iter().next().expect("a run").0;
    fs::remove_file(place.path("b/runs").join(&lost)).expect("the run");
    fs::remove_file(place.path("b/report.html")).expect("the report");
    let differ = mias(&["diff", &place.text("a"), &place.text("b")]).assert().code(1);
    differ.stdout(contains("only in the first: ")).stdout(contains("1 only in the first, 0 only in the second"));
    place.evaluate("b", &[]);
    assert_eq!(before, documents(&place.path("b")));
    mias(&["diff", &place.text("a"), &place.text("b")]).assert().code(0).stdout(contains(" 0 differ, 0 only in the first, 0 only in"));

    // An unreadable run equals no other, not even itself.
    fs::write(place.path("b/runs").join(&lost), "{").expect("the run");
    let damaged = mias(&["diff", &place.text("b"), &place.text("b")]).assert().code(1);
    damaged.stdout(contains("cannot read ").and(contains(&lost)));

    the_folder_is_of_this_plan_and_version(&place);
}

fn the_folder_is_of_this_plan_and_version(place: &Place) {
    let (plan, out) = (place.text("small.toml"), place.text("a"));
    refused(&["evaluate", "quick", "--out", &out], &["holds results of plan `small`", "set another folder with --out"]);
    the_runs_of_a_changed_plan_are_kept(place);
    let note = fs::read_to_string(place.path("a/evaluation.json")).expect("the note");
    fs::write(place.path("a/evaluation.json"), note.replacen("+", "-older+", 1)).expect("the note");
    refused(&["evaluate", &plan, "--out", &out], &["holds results of version", "-older+"]);
}

/// With another title and one policy less, nothing is run. With a mistake, nothing changes. With
/// the first text again, the bytes are the original ones.
fn the_runs_of_a_changed_plan_are_kept(place: &Place) {
    let (plan, out) = (place.text("small.toml"), place.text("a"));
    let (before, all) = (documents(&place.path("a")), runs(&place.path("a")));
    fs::write(&plan, PLAN.replace("title = \"", "title = \"Again: ").replace("mias-ipc", "mias-icp")).expect("the plan");
    refused(&["evaluate", &plan, "--out", &out], &["mias-icp"]);
    assert_eq!(before, documents(&place.path("a")));

    fs::write(&plan, PLAN.replace("title = \"", "title = \"Again: ")).expect("the plan");
    let said = mias(&["evaluate", &plan, "--out", &out]).assert().code(0);
    said.stderr(contains("`small` or --set has changed since ").and(contains("\n0 of ")));
    assert_eq!(all, runs(&place.path("a")));
    assert_ne!(before, documents(&place.path("a")));

    fs::write(&plan, PLAN).expect("the plan");
    mias(&["evaluate", &plan, "--out", &out]).assert().code(0);
    assert_eq!(before, documents(&place.path("a")));
}

/// Checks that `docs/reference/results.md` has every name in the results, between backquotes.
fn every_field_is_described(out: &Path) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/results.md");
    let page = fs::read_to_string(page).expect("the page");
    let described: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let mut names: BTreeSet<String> = BTreeSet::new();
    let json: serde_json::Value = serde_json::from_slice(&fs::read(out.join("results.json")).expect("results")).expect("JSON");
    collect(&json, &mut names);
    for run in runs(out) {
        collect(&serde_json::from_slice(&run.1).expect("JSON"), &mut names);
    }
    let mut table = csv::Reader::from_path(out.join("results.csv")).expect("results");
    names.extend(table.headers().expect("a heading").iter().map(str::to_owned));
    for row in table.deserialize() {
        let row: BTreeMap<String, String> = row.expect("a row as long as the heading");
        names.insert(general(&row["quantity"]));
        names.insert(row["subject"].clone());
    }
    let missing: Vec<&String> = names.iter().filter(|name| !described.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "docs/reference/results.md does not describe {missing:?}");
}

fn collect(value: &serde_json::Value, names: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                names.insert(name.clone());
                collect(value, names);
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| collect(value, names)),
        _ => {}
    }
}

/// Returns the name under which a quantity is described, as `ipc_N` for `ipc_2`.
fn general(quantity: &str) -> String {
    let many = [("mean_", "mean_Q"), ("geomean_", "geomean_Q"), ("ipc_at_", "ipc_at_CYCLE"), ("issue_slots_", "issue_slots_CLASS")];
    for (prefix, name) in many {
        if quantity.starts_with(prefix) {
            return name.to_owned();
        }
    }
    match quantity.rsplit_once('_') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("{name}_N"),
        _ => quantity.to_owned(),
    }
}

fn the_report_is_whole(html: &str) {
    for figure in ["a-1a", "a-1b", "a-2", "a-3", "a-4", "a-5", "a-6", "a-7", "a-8", "a-9", "b-1"] {
        assert!(html.contains(&format!("<figure id=\"figure-{figure}\">")), "no figure {figure}");
    }
    // The page loads nothing, and every number could be drawn.
    for fetched in ["http:", "https:", "src=", "@import", "<script", "<link"] {
        assert!(!html.contains(fetched), "{fetched}");
    }
    // Every hatch is defined in this page.
    for hatch in html.split("url(").skip(1) {
        let name = hatch.strip_prefix('#').and_then(|rest| rest.split(')').next()).expect("a place in the page");
        assert_eq!(html.matches(&format!("<pattern id=\"{name}\"")).count(), 1, "{name}");
    }
    for lost in ["NaN", "inf,", "undefined"] {
        assert!(!html.contains(lost), "{lost}");
    }
    // A custom plan has no figure of the thesis, and no note about missing ones.
    assert!(!html.contains("id=\"figure-4") && !html.contains("derived from numbers of the thesis"));
    let (opened, closed) = (html.matches("<figure").count(), html.matches("</figure>").count());
    assert_eq!(opened, closed);
    assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
    assert_eq!(html.matches("<table").count(), html.matches("</table>").count());
}

/// The report is recreated from the results alone, to the same bytes.
fn the_report_is_made_anew(place: &Place) {
    let report = place.path("a/report.html");
    let before = fs::read(&report).expect("the report");
    fs::remove_file(&report).expect("the report");
    mias(&["report", &place.text("a")]).assert().success().stdout(contains("report.html"));
    assert!(before == fs::read(&report).expect("the report"), "the report differs from that of the evaluation");
}

fn figures_are_files_of_their_own(place: &Place) {
    let (out, list) = (place.text("a"), crate::support::printed(&["report", &place.text("a"), "--list"]));
    let ids: Vec<&str> = list.lines().map(|line| line.split_once('\t').expect("number and caption").0).collect();
    for id in ["A.1a", "A.1b", "A.8", "B.1"] {
        assert!(ids.contains(&id), "{id}: {ids:?}");
    }
    let caption = |id: &str| list.lines().find(|line| line.starts_with(&format!("{id}\t"))).expect("a figure");
    assert!(caption("A.1b").contains("On rtx2060 sm.count=2, 20,000 cycles.") && caption("A.1b").contains("at least two kernels"));
    assert!(caption("A.8").contains("n groups") && caption("A.8").contains("quartiles"));

    // Tables with all numbers.
    let [csv, parquet, other] = ["n.csv", "n.parquet", "n.xls"].map(|name| place.text(name));
    mias(&["report", &out, "--results", &csv]).assert().success();
    assert_eq!(fs::read(place.path("n.csv")).expect("numbers"), fs::read(place.path("a/results.csv")).expect("results"));
    if cfg!(feature = "parquet") {
        mias(&["report", &out, "--results", &parquet]).assert().success();
        assert!(fs::read(place.path("n.parquet")).expect("numbers").starts_with(b"PAR1"));
    } else {
        crate::support::refused(&["report", &out, "--results", &parquet], &["built without feature `parquet`"]);
    }
    crate::support::refused(&["report", &out, "--results", &other], &["a table of results ends in .csv or .parquet"]);

    // The requested width, in points of 1/72 inch.
    let svg = crate::support::printed(&["report", &out, "--figure", "A.1b", "--width-mm", "127"]);
    assert!(svg.contains("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"360pt\""), "{}", &svg[..300]);
    let file = |name: &str| place.text(name);
    for (name, begins) in [("f.svg", "<?xml"), ("f.csv", "group,series,")] {
        mias(&["report", &out, "--figure", "A.1b", "--out", &file(name)]).assert().success();
        assert!(fs::read(place.path(name)).expect(name).starts_with(begins.as_bytes()), "{name}");
    }
    // Its numbers are those of the results.
    let results = fs::read_to_string(place.path("a/results.csv")).expect("results");
    let table = fs::read_to_string(place.path("f.csv")).expect("the table");
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    assert_eq!(rows.headers().expect("headings").get(2), Some("speedup S (ratio)"));
    let spatial = rows.records().map(|row| row.expect("a row")).find(|row| &row[0] == "fwt + mm" && &row[1] == "spatial").expect("a bar");
    let value: f64 = spatial[2].parse().expect("a number");
    let mut all = csv::Reader::from_reader(results.as_bytes());
    let is_it = |row: &csv::StringRecord| &row[3] == "fwt:4096+mm:64" && &row[6] == "spatial" && &row[7] == "speedup" && &row[0] == "pairs";
    let theirs: f64 = all.records().map(|row| row.expect("a row")).find(is_it).expect("a number")[8].parse().expect("a number");
    assert!((value - theirs).abs() < 1e-9, "{value} is not {theirs}");

    mias(&["report", &out, "--all", "--out", &file("all"), "--format", "csv"]).assert().success();
    assert_eq!(fs::read_dir(place.path("all")).expect("figures").count(), ids.len());
    refused(&["report", &out, "--figure", "A.1d"], &["unknown figure `A.1d`; did you mean `A.", "known: A.1a, "]);
    refused(&["report", &out, "--figure", "A.1b", "--out", &file("f.png")], &["f.png: a figure's file ends in .svg, "]);
    refused(&["report", &out, "--all"], &["--out"]);
    refused(
        &["report", &out, "--out", &file("r.pdf")],
        &["r.pdf: a whole report is an HTML page: use a name ending in .html", "--figure NUMBER"],
    );
    refused(&["report", &out, "--format", "csv"], &["--format csv applies to figures: add --figure NUMBER or --all"]);
    assert!(!std::path::Path::new(&file("r.pdf")).exists());
    refused(&["report", &out, "--figure", "A.1b", "--width-mm", "3"], &["expected a number from 30 to 1000"]);
    refused(&["report", &file("none")], &["holds no evaluation"]);
}

/// `examples/notebook` uses columns, subjects and quantities that `results.csv` has.
fn the_notebook_reads_what_is_there(results: &Path) {
    let notebook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/notebook/results.ipynb");
    let notebook: serde_json::Value = serde_json::from_slice(&fs::read(notebook).expect("the notebook")).expect("JSON");
    assert_eq!(notebook["nbformat"], 4);
    let cells = notebook["cells"].as_array().expect("cells");
    let is_code = cells.iter().filter(|cell| cell["cell_type"] == "code");
    let lines = is_code.flat_map(|cell| cell["source"].as_array().expect("lines"));
    let code: String = lines.map(|line| line.as_str().expect("text")).collect();
    let mut table = csv::Reader::from_path(results).expect("results");
    let mut known: BTreeSet<String> = table.headers().expect("headings").iter().map(str::to_owned).collect();
    for row in table.records() {
        let row = row.expect("a row");
        known.extend([row[5].to_owned(), row[7].to_owned()]);
    }
    let words: BTreeSet<&str> =
        code.split('"').skip(1).step_by(2).filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '_')).collect();
    let drawn = ["black", "mean", "oo", "xx"];
    let missing: Vec<&&str> = words.iter().filter(|word| !word.is_empty() && !known.contains(**word) && !drawn.contains(word)).collect();
    assert!(words.len() > 5 && missing.is_empty(), "results.csv does not have {missing:?}");
}

#[test]
fn killed_and_started_again_it_goes_on() {
    let place = Place::new();
    let mut child = place.start("killed", &[]);
    wait_for_runs(&mut child, &place.path("killed"), 3);
    child.kill().expect("the process");
    child.wait().expect("the process");
    let before = runs(&place.path("killed"));
    assert!(before.len() >= 3);
    for (name, bytes) in &before {
        serde_json::from_slice::<serde_json::Value>(bytes).unwrap_or_else(|error| panic!("{name} is not whole: {error}"));
    }
    place.evaluate("killed", &[]);
    place.evaluate("whole", &[]);
    assert!(before.is_subset(&runs(&place.path("killed"))), "finished runs stay as they are");
    assert_eq!(documents(&place.path("killed")), documents(&place.path("whole")));
}

#[test]
#[cfg(unix)]
fn ctrl_c_keeps_finished_runs() {
    let place = Place::new();
    let mut child = place.start("stopped", &[]);
    wait_for_runs(&mut child, &place.path("stopped"), 2);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let code = child.wait().expect("the process").code();
    // A fast host may have finished before.
    assert!(code == Some(130) || code == Some(0), "{code:?}");
    assert!(runs(&place.path("stopped")).len() >= 2);
    if code == Some(130) {
        assert!(!place.path("stopped/report.html").exists(), "no report of half an evaluation");
    }
}

#[test]
fn a_list_runs_nothing() {
    let place = Place::new();
    let plan = place.text("small.toml");
    let list = mias(&["evaluate", &plan, "--out", &place.text("none"), "--list"]).assert().success();
    list.stdout(contains("mm:64 + bopt:8: spatial on rtx2060 sm.count=2, 20000 cycles"))
        .stdout(contains(" of them until done"))
        .stdout(contains("and at most 3 of `null`, determined after the isolated runs"));
    assert!(!place.path("none").exists());
}

#[test]
fn mistakes_are_refused_and_nothing_is_written() {
    let place = Place::new();
    let (plan, out) = (place.text("small.toml"), place.text("none"));
    fs::write(&plan, PLAN.replacen("policies", "polices", 1)).expect("the plan");
    refused(&["evaluate", &plan, "--out", &out], &["small.toml:9:1: [[experiment]]: unknown key `polices`; did you mean `policies`?"]);
    assert!(!place.path("none").exists());
    // The error is found only when the kernel's data are created.
    fs::write(&plan, PLAN.replacen("mm:64", "mm:65", 1)).expect("the plan");
    refused(&["evaluate", &plan, "--out", &out], &["small.toml:8:24: kernels: kernel `mm`: size 65: must be a multiple of 16"]);
    assert!(!place.path("none").exists());
    refused(&["evaluate", "thesiss"], &["unknown plan `thesiss`; did you mean `thesis`?"]);
    refused(&["diff", &out, &out], &["holds no evaluation"]);
    let file = place.text("a-file");
    fs::write(&file, "").expect("a file");
    fs::write(&plan, PLAN).expect("the plan");
    refused(&["evaluate", &plan, "--out", &file], &["a-file"]);
}
