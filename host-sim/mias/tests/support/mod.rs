//! Runs of the `mias` command, and traces for them.

// Every test file uses only some of these items.
#![allow(dead_code)]

pub(crate) mod evaluation;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::path::{Path, PathBuf};

/// Creates the command with these arguments. It does not use the user's cache, and none at all
/// unless the test sets one, so that all code under test is executed.
pub(crate) fn mias(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("mias"));
    command.args(arguments).env("MIAS_CACHE_LIMIT", "0");
    command
}

/// Asserts a refusal: exit code 2, nothing on standard output, and all `parts` in one message.
pub(crate) fn refused(arguments: &[&str], parts: &[&str]) {
    let mut assert = mias(arguments).assert().code(2).stdout("");
    for part in parts {
        assert = assert.stderr(contains(*part));
    }
    assert.stderr(predicate::function(|text: &str| text.matches("error:").count() == 1));
}

/// Returns the output of a successful command.
pub(crate) fn printed(arguments: &[&str]) -> String {
    String::from_utf8(mias(arguments).assert().success().get_output().stdout.clone()).expect("text")
}

/// Returns the output of a successful command as JSON.
pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(&[arguments, &["--format", "json"]].concat())).expect("JSON")
}

/// Returns the folder of the project's own traces.
pub(crate) fn reference_data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join("tests/data/reference")
}

/// Returns the list of one of the project's own traces.
pub(crate) fn reference(trace: &str) -> String {
    reference_data().join(trace).join("kernelslist.g").to_str().expect("UTF-8").to_owned()
}

/// Returns the lists of all of the project's own traces.
pub(crate) fn lists() -> Vec<PathBuf> {
    let folders = |at: PathBuf| std::fs::read_dir(at).expect("traces").map(|entry| entry.expect("a trace").path());
    let mut lists: Vec<PathBuf> = ["", "micro", "corun"].iter().flat_map(|group| folders(reference_data().join(group))).collect();
    lists.iter_mut().for_each(|folder| folder.push("kernelslist.g"));
    lists.retain(|list| list.is_file());
    lists.sort();
    assert!(lists.len() > 10, "{lists:?}");
    lists
}

/// Trace of one kernel, in a folder of its own.
pub(crate) struct Trace {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) list: String,
}

impl Trace {
    /// Writes `body` as `kernel-1.traceg`, and a list that names it in its second line.
    pub(crate) fn new(body: &str) -> Self {
        Trace::named("kernel-1.traceg", body.as_bytes())
    }

    /// Writes a trace under another name.
    pub(crate) fn named(name: &str, body: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(name), body).expect("the trace");
        let list = folder.path().join("kernelslist.g");
        std::fs::write(&list, format!("MemcpyHtoD,0x7f00,64\n{name}\n")).expect("the list");
        Trace { list: list.to_str().expect("UTF-8").to_owned(), folder }
    }

    /// Asserts that `run --trace` refuses the trace with these parts in one message, and writes no
    /// file.
    pub(crate) fn is_refused(&self, parts: &[&str]) {
        let out: PathBuf = self.folder.path().join("out.json");
        let out = out.to_str().expect("UTF-8");
        refused(&["run", "--gpu", "rtx2060-accelsim", "--trace", &self.list, "--format", "json", "--out", out], parts);
        assert_eq!(std::fs::read_dir(self.folder.path()).expect("the folder").count(), 2, "the list and the trace, nothing else");
    }

    /// Returns the launches that `run --trace` reports.
    pub(crate) fn launches(&self) -> Vec<serde_json::Value> {
        json(&["run", "--gpu", "rtx2060-accelsim", "--trace", &self.list])["launches"].as_array().expect("launches").clone()
    }
}

/// Returns a header of version 5: one TB of `threads` threads.
pub(crate) fn header(threads: u32) -> String {
    format!(
        "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = ({threads},1,1)\n-shmem = 512\n-nregs = 32\n\
         -binary version = 75\n-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n\
         -local mem base_addr = 0x00007f0002000000\n-nvbit version = 1.5.5\n-accelsim tracer version = 5\n\
         -enable lineinfo = 0\n\n#traces format = ...\n"
    )
}

/// Returns a TB whose warps have these instructions.
pub(crate) fn tb(warps: &[&[&str]]) -> String {
    let warp = |(number, insts): (usize, &&[&str])| {
        let lines: String = insts.iter().map(|inst| format!("{inst}\n")).collect();
        format!("warp = {number}\ninsts = {}\n{lines}", insts.len())
    };
    format!("#BEGIN_TB\nthread block = 0,0,0\n{}#END_TB\n", warps.iter().enumerate().map(warp).collect::<String>())
}
