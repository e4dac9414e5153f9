//! Evaluations of a small plan, each in a folder of its own.

use super::mias;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Plan of pairs on two SMs, and a pair until done.
pub(crate) const PLAN: &str = concat!(
    include_str!("../../../lab/tests/data/pairs.toml"),
    r#"profile-cycles = 2_000
transition = "ideal"
latency = "off"

[experiment.gpu-settings]
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

[experiment.gpu-settings]
sm.count = 2
"#
);

/// Folder with the plan, and the names of plan and output in it.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("small.toml"), PLAN).expect("the plan");
        Place { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("UTF-8").to_owned()
    }

    /// Evaluates the plan into `out`.
    pub(crate) fn evaluate(&self, out: &str, more: &[&str]) -> String {
        let (plan, out) = (self.text("small.toml"), self.text(out));
        let arguments = [&["evaluate", &plan, "--out", &out], more].concat();
        String::from_utf8(mias(&arguments).assert().success().get_output().stdout.clone()).expect("text")
    }

    /// Starts an evaluation with one worker, without waiting for it.
    pub(crate) fn start(&self, out: &str, more: &[&str]) -> Child {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("mias"));
        command.args(["evaluate", &self.text("small.toml"), "--out", &self.text(out), "--jobs", "1"]).args(more);
        command.env("MIAS_CACHE_LIMIT", "0").stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command")
    }
}

/// Returns every document of a finished evaluation.
pub(crate) fn documents(out: &Path) -> Vec<(String, Vec<u8>)> {
    let names = ["results.json", "results.csv", "report.html", "evaluation.json"];
    names.iter().map(|name| ((*name).to_owned(), fs::read(out.join(name)).expect(name))).collect()
}

/// Returns every complete run.
pub(crate) fn runs(out: &Path) -> BTreeSet<(String, Vec<u8>)> {
    let entries = fs::read_dir(out.join("runs")).into_iter().flatten().map(|entry| entry.expect("a run").path());
    let whole = entries.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    whole.map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(path).expect("a run"))).collect()
}

/// Waits until `out` has at least `count` runs, or the process has ended.
pub(crate) fn wait_for_runs(child: &mut Child, out: &Path, count: usize) {
    let begun = Instant::now();
    while runs(out).len() < count && child.try_wait().expect("the process").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(600), "no run ends");
        std::thread::sleep(Duration::from_millis(5));
    }
}
