//! `mias evaluate` and `mias diff`, on small kernels and a machine of two SMs.

mod support;

use predicates::prelude::*;
use predicates::str::contains;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{mias, refused};

/// The pairs, on two SMs, and a pair until done.
const PLAN: &str = concat!(
    include_str!("../../lab/tests/data/pairs.toml"),
    r#"profile-cycles = 2_000
transition = "ideal"
latency = "off"

[experiment.machine]
sm.count = 2

[[experiment]]
name = "makespan"
title = "Each once"
gpu = "rtx2060"
kernels = ["fwt:4096", "mm:64"]
policies = ["left-over", "mias-ipc"]
configurations = false

[experiment.parameters]
until = "done"
order = ["given", "reversed"]
profile-cycles = 2_000

[experiment.machine]
sm.count = 2
"#
);

/// A folder with the plan, and the names of plan and output in it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("small.toml"), PLAN).expect("the plan");
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("UTF-8").to_owned()
    }

    /// Evaluates the plan into `out`.
    fn evaluate(&self, out: &str, more: &[&str]) -> String {
        let (plan, out) = (self.text("small.toml"), self.text(out));
        let arguments = [&["evaluate", &plan, "--out", &out], more].concat();
        String::from_utf8(mias(&arguments).assert().success().get_output().stdout.clone()).expect("text")
    }

    fn start(&self, out: &str) -> Child {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("mias"));
        command.args(["evaluate", &self.text("small.toml"), "--out", &self.text(out), "--jobs", "1"]);
        command.env("MIAS_CACHE_LIMIT", "0").stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command")
    }
}

fn documents(out: &Path) -> Vec<(String, Vec<u8>)> {
    let names = ["results.json", "results.csv", "report.html", "evaluation.json"];
    names.iter().map(|name| ((*name).to_owned(), fs::read(out.join(name)).expect(name))).collect()
}

fn runs(out: &Path) -> BTreeSet<(String, Vec<u8>)> {
    let entries = fs::read_dir(out.join("runs")).into_iter().flatten().map(|entry| entry.expect("a run").path());
    let whole = entries.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    whole.map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(path).expect("a run"))).collect()
}

/// Everything about a finished evaluation, from one run of it: tests cannot share a folder, and simulating takes time.
#[test]
fn an_evaluation_from_beginning_to_end() {
    let place = Place::new();
    let printed = place.evaluate("a", &["--jobs", "1"]);
    assert!(printed.contains("Pairs: 3 groups on rtx2060 sm.count=2, 20,000 cycles") && printed.contains("oracle-stp"), "{printed}");
    insta::assert_snapshot!("summary", printed.split("\nreport: ").next().expect("tables"));
    every_field_is_described(&place.path("a"));
    the_report_is_whole(&fs::read_to_string(place.path("a/report.html")).expect("the report"));

    // Other workers, the same bytes; and once more, with nothing left to do.
    place.evaluate("b", &["--jobs", "4"]);
    assert_eq!(documents(&place.path("a")), documents(&place.path("b")));
    assert_eq!(runs(&place.path("a")), runs(&place.path("b")));
    let before = documents(&place.path("b"));
    place.evaluate("b", &[]);
    assert_eq!(before, documents(&place.path("b")));

    // A run lost is done again, a document lost is written again.
    let lost = runs(&place.path("b")).into_iter().next().expect("a run").0;
    fs::remove_file(place.path("b/runs").join(&lost)).expect("the run");
    fs::remove_file(place.path("b/report.html")).expect("the report");
    let differ = mias(&["diff", &place.text("a"), &place.text("b")]).assert().code(1);
    differ.stdout(contains("only in the first: ")).stdout(contains("1 only in the first, 0 only in the second"));
    place.evaluate("b", &[]);
    assert_eq!(before, documents(&place.path("b")));
    mias(&["diff", &place.text("a"), &place.text("b")]).assert().code(0).stdout(contains(" 0 differ, 0 only in the first, 0 only in"));

    // A run that cannot be read is not the same, even as itself.
    fs::write(place.path("b/runs").join(&lost), "{").expect("the run");
    let damaged = mias(&["diff", &place.text("b"), &place.text("b")]).assert().code(1);
    damaged.stdout(contains("cannot read ").and(contains(&lost)));

    the_folder_is_of_this_plan_and_version(&place);
}

fn the_folder_is_of_this_plan_and_version(place: &Place) {
    let (plan, out) = (place.text("small.toml"), place.text("a"));
    refused(&["evaluate", "quick", "--out", &out], &["holds results of the plan `small`", "give another folder with --out"]);
    the_runs_of_a_changed_plan_are_kept(place);
    let note = fs::read_to_string(place.path("a/evaluation.json")).expect("the note");
    fs::write(place.path("a/evaluation.json"), note.replacen("+", "-older+", 1)).expect("the note");
    refused(&["evaluate", &plan, "--out", &out], &["holds results of version", "-older+"]);
}

/// Another title and a policy less: nothing is run. A mistake: nothing is touched. The first text again: the bytes that were.
fn the_runs_of_a_changed_plan_are_kept(place: &Place) {
    let (plan, out) = (place.text("small.toml"), place.text("a"));
    let (before, all) = (documents(&place.path("a")), runs(&place.path("a")));
    fs::write(&plan, PLAN.replace("title = \"", "title = \"Again: ").replace("mias-ipc", "mias-icp")).expect("the plan");
    refused(&["evaluate", &plan, "--out", &out], &["mias-icp"]);
    assert_eq!(before, documents(&place.path("a")));

    fs::write(&plan, PLAN.replace("title = \"", "title = \"Again: ")).expect("the plan");
    let said = mias(&["evaluate", &plan, "--out", &out]).assert().code(0);
    said.stderr(contains("`small` has changed since ").and(contains("\n0 of ")));
    assert_eq!(all, runs(&place.path("a")));
    assert_ne!(before, documents(&place.path("a")));

    fs::write(&plan, PLAN).expect("the plan");
    mias(&["evaluate", &plan, "--out", &out]).assert().code(0);
    assert_eq!(before, documents(&place.path("a")));
}

/// Every name in the results is in docs/results-format.md, between back-quotes.
fn every_field_is_described(out: &Path) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results-format.md");
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
    assert!(missing.is_empty(), "docs/results-format.md does not describe {missing:?}");
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

/// `ipc_2` is `ipc_N`, `mean_stp` is `mean_Q`: what stands for many is described once.
fn general(quantity: &str) -> String {
    for (prefix, name) in [("mean_", "mean_Q"), ("geomean_", "geomean_Q"), ("ipc_at_", "ipc_at_CYCLE")] {
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
    for figure in ["4-2a", "4-2c", "3-1", "3-4", "4-1", "4-3", "4-4", "a", "b", "d", "e", "f", "g"] {
        assert!(html.contains(&format!("<figure id=\"figure-{figure}\">")), "no figure {figure}");
    }
    // Nothing is fetched, and every number could be drawn.
    for fetched in ["http:", "https:", "src=", "@import", "url(", "<script", "<link"] {
        assert!(!html.contains(fetched), "{fetched}");
    }
    for lost in ["NaN", "inf,", "undefined"] {
        assert!(!html.contains(lost), "{lost}");
    }
    // A mean of three pairs is not compared with one of 21.
    assert!(html.contains("Not of the pairs that the thesis' means are of") && html.contains("marked in the figures: all, CC, MM, MC."));
    let (opened, closed) = (html.matches("<figure").count(), html.matches("</figure>").count());
    assert_eq!(opened, closed);
    assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
    assert_eq!(html.matches("<table").count(), html.matches("</table>").count());
}

/// Waits until `out` holds at least `count` runs, or the process has ended.
fn wait_for_runs(child: &mut Child, out: &Path, count: usize) {
    let begun = Instant::now();
    while runs(out).len() < count && child.try_wait().expect("the process").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(600), "no run ends");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn killed_and_started_again_it_goes_on() {
    let place = Place::new();
    let mut child = place.start("killed");
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
    let mut child = place.start("stopped");
    wait_for_runs(&mut child, &place.path("stopped"), 2);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let code = child.wait().expect("the process").code();
    // Quick machines may have finished before.
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
        .stdout(contains("and at most 3 of `null`, which are known once"));
    assert!(!place.path("none").exists());
}

#[test]
fn mistakes_are_refused_and_nothing_is_written() {
    let place = Place::new();
    let (plan, out) = (place.text("small.toml"), place.text("none"));
    fs::write(&plan, PLAN.replacen("policies", "polices", 1)).expect("the plan");
    refused(&["evaluate", &plan, "--out", &out], &["small.toml:9:1: [[experiment]]: unknown key `polices`; did you mean `policies`?"]);
    assert!(!place.path("none").exists());
    // Found only when the kernel's data are made.
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
