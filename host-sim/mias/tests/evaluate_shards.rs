//! `mias evaluate --shard`, `--merge`, `--status` and `--emit`: for any shards, the result is that
//! of a local run.

use crate::support::evaluation::{PLAN, Place, documents, runs, wait_for_runs};
use crate::support::{mias, refused};
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::Path;
use std::process::Command;

impl Place {
    /// Returns the arguments that evaluate a part of the plan into `out`.
    fn part(&self, out: &str, more: &[&str]) -> Vec<String> {
        let words = ["evaluate".into(), self.text("small.toml"), "--out".into(), self.text(out)];
        words.into_iter().chain(more.iter().map(|&word| word.to_owned())).collect()
    }

    fn assert(&self, out: &str, more: &[&str]) -> assert_cmd::assert::Assert {
        let arguments = self.part(out, more);
        mias(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).assert()
    }

    fn refused(&self, out: &str, more: &[&str], parts: &[&str]) {
        let arguments = self.part(out, more);
        refused(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), parts);
    }
}

fn a_merge_says_what_is_missing(place: &Place, out: &str) {
    let merge = place.assert(out, &["--merge"]).code(1);
    let merge = merge.stderr(contains(" runs are missing in ").and(contains("; repeat --shard 1/3, --shard 2/3; ")));
    let missing = String::from_utf8(merge.get_output().stdout.clone()).expect("text");
    let there = runs(&place.path(out));
    assert!(!missing.is_empty() && missing.lines().all(|line| !there.iter().any(|(name, _)| name.starts_with(&line[..16]))), "{missing}");
    assert!(!place.path(out).join("results.json").exists(), "no results of half an evaluation");
    let status = place.assert(out, &["--status"]).success();
    status.stdout(contains(" runs are missing in ").and(contains("shard 1/3: ")).and(contains("; not started")));
}

/// Wherever a shard was killed, the same shard can resume.
fn killed_and_repeated(place: &Place, out: &str) {
    let mut shard = place.start(out, &["--shard", "1/1"]);
    wait_for_runs(&mut shard, &place.path(out), 3);
    shard.kill().expect("the shard");
    shard.wait().expect("the shard");
    let before = runs(&place.path(out));
    fs::write(place.path(out).join("runs/.0123456789abcdef.json.77.part"), "{").expect("what is left of a file");
    place.assert(out, &["--shard", "1/1"]).success();
    assert!(before.is_subset(&runs(&place.path(out))), "finished runs stay as they are");
}

/// Runs shards by scripts, as an engine does: a number in the environment, and a script.
#[cfg(unix)]
fn scripts_run_shards(place: &Place, out: &str) {
    let emit = place.assert(out, &["--emit", "slurm", "--shards", "2", "--jobs", "1"]).success();
    emit.stdout(contains(" core-hours; shards: 2, cores of each: 1, ").and(contains("slurm/submit.sh")));
    let script = |name: &str| place.path(out).join("slurm").join(name);
    let run = |name: &str, number: &str| {
        let environment = [("SLURM_ARRAY_TASK_ID", number), ("SLURM_CPUS_PER_TASK", "1"), ("MIAS_CACHE_LIMIT", "0")];
        let status = Command::new("bash").arg(script(name)).envs(environment).current_dir("/").output().expect("bash").status;
        assert!(status.success(), "{name} {number}");
    };
    run("shard.sh", "2");
    run("shard.sh", "1");
    run("merge.sh", "");
    assert!(place.path(out).join("report.html").exists());
    for name in ["shard.sh", "merge.sh", "submit.sh"] {
        assert!(Command::new("bash").arg("-n").arg(script(name)).status().expect("bash").success(), "{name}");
    }
    place
        .assert(out, &["--emit", "hyperqueue"])
        .success()
        .stdout(contains("shards: 1, cores of each: 4, ").and(contains("hyperqueue/submit.sh")));
    assert!(Command::new("bash").arg("-n").arg(place.path(out).join("hyperqueue/submit.sh")).status().expect("bash").success());
}

fn a_folder_is_of_one_plan_and_version(place: &Place, out: &str) {
    let before = (documents(&place.path(out)), runs(&place.path(out)));
    for part in [&["--shard", "1/3"][..], &["--merge"], &["--status"]] {
        refused(&[&["evaluate", "quick", "--out", &place.text(out)], part].concat(), &["holds results of plan `small`, not of `quick`"]);
    }
    let plan = place.text("small.toml");
    fs::write(&plan, PLAN.replace("title = \"", "title = \"Again: ")).expect("the plan");
    for part in [&["--shard", "1/3"][..], &["--merge"], &["--status"]] {
        place.refused(out, part, &["holds results of another version of plan `small`", "`mias evaluate` alone or with --emit"]);
    }
    assert_eq!((documents(&place.path(out)), runs(&place.path(out))), before);
    // Emitted again, it is the folder of the new text, and all runs are there.
    place.assert(out, &["--emit", "hyperqueue"]).success().stderr(contains("runs that are still needed are kept"));
    assert!(!place.path(out).join("report.html").exists(), "the report was the old text's");
    place.assert(out, &["--merge"]).success().stdout(contains("Again: "));
    fs::write(&plan, PLAN).expect("the plan");

    let note = place.path(out).join("evaluation.json");
    let text = fs::read_to_string(&note).expect("the note").replacen("+", "-older+", 1);
    fs::write(&note, text).expect("the note");
    place.refused(out, &["--shard", "1/3"], &["holds results of version", "-older+", "run all shards with one program"]);
}

/// A shard fails on a full disk and keeps complete runs: files are limited to 2 KiB, the size of
/// isolated runs. Existing files stay.
#[test]
#[cfg(unix)]
fn a_shard_that_cannot_write_fails_and_keeps_what_is_whole() {
    let place = Place::new();
    place.assert("out", &["--shard", "2/2"]).success();
    let before = runs(&place.path("out"));
    // A write beyond the limit, which bash counts in KiB, becomes an error instead of a signal.
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$@\"";
    let mut bash = Command::new("bash");
    bash.args(["-c", script, "bash"]).arg(assert_cmd::cargo::cargo_bin!("mias")).args(place.part("out", &["--shard", "1/1"]));
    let output = bash.env("MIAS_CACHE_LIMIT", "0").output().expect("bash");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot write ") && said.contains("; the same command resumes from there"), "{said}");
    let there = runs(&place.path("out"));
    assert!(!before.is_empty() && before.is_subset(&there));
    for (name, bytes) in there {
        serde_json::from_slice::<serde_json::Value>(&bytes).unwrap_or_else(|error| panic!("{name} is not whole: {error}"));
    }
    place.assert("out", &["--merge"]).code(1);
    place.assert("out", &["--shard", "1/1"]).success();
    place.assert("out", &["--merge"]).success();
}

#[test]
fn mistakes_are_refused_and_nothing_is_made() {
    let place = Place::new();
    for (shard, part) in [("0/3", "shards are counted from 1: 1/3 to 3/3"), ("4/3", "1/3 to 3/3"), ("2", "as in 2/3"), ("1/0", "as in 2/3")]
    {
        place.refused("none", &["--shard", shard], &[part]);
    }
    place.refused("none", &["--shard", "1/3", "--merge"], &["cannot be used with"]);
    place.refused("none", &["--shards", "3"], &["--emit"]);
    place.refused("none", &["--emit", "pbs"], &["slurm, hyperqueue"]);
    place.refused("none", &["--merge"], &["holds no evaluation"]);
    place.refused("none", &["--status"], &["holds no evaluation"]);
    assert!(!place.path("none").exists());
    fs::create_dir(place.path("other")).expect("a folder");
    fs::write(place.path("other/thesis.docx"), "").expect("a file");
    place.refused("other", &["--shard", "1/3"], &["is not empty and holds no evaluation"]);
    assert_eq!(fs::read_dir(Path::new(&place.text("other"))).expect("the folder").count(), 1);
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` leaves out.
mod slow {
    use super::*;

    /// All properties of shards in one test, next to one local run, since simulation takes time.
    #[test]
    fn shards_leave_what_a_local_run_leaves() {
        let place = Place::new();
        let printed = place.evaluate("local", &[]);
        let is_local = |out: &str| {
            let printed_here = String::from_utf8(place.assert(out, &["--merge"]).success().get_output().stdout.clone()).expect("text");
            assert_eq!(printed_here.replace(&place.text(out), &place.text("local")), printed);
            assert_eq!(documents(&place.path(out)), documents(&place.path("local")), "{out}");
            assert_eq!(runs(&place.path(out)), runs(&place.path("local")), "{out}");
        };
        // In reverse, repeated, and one of another total number; missing runs are reported
        // meanwhile.
        place.assert("b", &["--shard", "3/3"]).success().stderr(contains("shard 3/3: "));
        a_merge_says_what_is_missing(&place, "b");
        for shard in ["2/3", "1/2", "1/3", "1/3"] {
            place.assert("b", &["--shard", shard]).success();
        }
        let log = fs::read_to_string(place.path("b/logs/1-of-3.log")).expect("the log");
        assert!(
            log.matches(" starting shard 1/3 of `small`, ").count() == 2 && log.trim_end().contains("  ended: shard 1/3: 0 runs simulated")
        );
        is_local("b");
        place.assert("b", &["--status"]).success().stdout(contains("shard 3/3: ").and(contains("about 100 % of the work is done")));

        // All concurrently, in a folder that did not exist.
        let shards = ["1/2", "2/2", "1/2", "1/1"].map(|shard| place.start("c", &["--shard", shard]));
        for mut shard in shards {
            assert!(shard.wait().expect("the shard").success());
        }
        is_local("c");

        killed_and_repeated(&place, "d");
        is_local("d");
        scripts_run_shards(&place, "e");
        is_local("e");
        // A local run has nothing left to do, and changes nothing.
        let before = documents(&place.path("b"));
        place.evaluate("b", &[]);
        assert_eq!(documents(&place.path("b")), before);
        a_folder_is_of_one_plan_and_version(&place, "b");
    }
}
