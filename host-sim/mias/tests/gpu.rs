//! `mias gpu`: the list, the summary, and questions about a user's GPU.

use crate::support::{json, mias};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use std::fs;

#[test]
fn the_list_has_every_gpu_that_can_be_shown() {
    let list = json(&["gpu", "list"]);
    let gpus = list["gpus"].as_array().unwrap();
    assert_eq!(gpus.iter().map(|gpu| gpu["name"].as_str().unwrap()).collect::<Vec<_>>(), mias_lab::gpus::names());
    for gpu in gpus {
        let shown = json(&["gpu", "show", gpu["name"].as_str().unwrap()]);
        assert_eq!((&shown["sm"]["count"], &shown["description"]), (&gpu["sms"], &gpu["description"]));
    }
}

/// fwt has 256 threads, 22 registers and no shared memory: 4 TBs on 1,024 threads, 8 on 2,048.
#[test]
fn a_summary_says_how_many_tbs_fit() {
    for (gpu, tbs) in [("rtx2060", 4), ("h100", 8)] {
        let summary = json(&["gpu", "show", gpu, "--summary", "fwt"]);
        assert_eq!(summary["kernels"][0]["max_tbs"], tbs, "{gpu}");
        assert_eq!(summary["notes"].as_array().unwrap().is_empty(), gpu == "rtx2060", "{gpu}");
    }
}

/// The command in a note uses the file's path instead of the name in it.
#[test]
fn a_note_names_the_file_to_fit() {
    let folder = tempfile::tempdir().unwrap();
    let text = mias_gpus::text("rtx2060").unwrap().replacen("name = \"rtx2060\"", "name = \"mine\"", 1);
    fs::write(folder.path().join("my.toml"), text).unwrap();
    let mut summary = mias(&["gpu", "show", "my.toml", "--summary"]);
    summary.current_dir(folder.path()).assert().success().stdout(contains("`mias gpu fit my.toml` fits it"));
}

#[test]
fn a_gpu_that_cannot_be_is_asked_about_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let slip = mias_gpus::text("rtx2060").unwrap().replace("dram_khz = 3_500_000", "dram_khz = 14_000_000");
    fs::write(&path, &slip).unwrap();
    let asked = contains("warning: ").and(contains("mine.toml: DRAM has 1344.0 GB/s")).and(contains("32.8 bytes per SM and core cycle"));
    let run = ["run", "fwt:4096", "--cycles", "6000", "--gpu", path.to_str().unwrap()];
    mias(&run).assert().success().stderr(asked);
    fs::write(&path, slip.replace("14_000_000", "3_500_000")).unwrap();
    mias(&run).assert().success().stderr(contains("DRAM").not());
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` leaves out.
mod slow {
    use super::*;

    #[test]
    fn todays_largest_chips_run_a_kernel_under_a_policy_of_mias() {
        for gpu in ["a100", "h100"] {
            mias(&["run", "mm", "--gpu", gpu, "--cycles", "20000"])
                .assert()
                .success()
                .stdout(contains("policy mias-ipm-ipc, 20,000 cycles"));
        }
    }
}
