//! `mias evaluate` with a late arrival: the numbers equal those of `mias run --arrive`.

use crate::support::{json, printed, refused};
use serde_json::Value;
use std::fs;

/// Two kernels on two SMs; the second arrives in the middle of the window.
const PLAN: &str = r#"
name = "late"
description = "the second of two kernels arrives late"

[[experiment]]
name = "late"
title = "Late"
gpu = "GPU"
kernels = ["fwt:4096", "mm:64"]
policies = ["left-over", "spatial", "mias-ipc"]
configurations = false

[experiment.parameters]
cycles = 20_000
profile-cycles = 2_000
transition = "ideal"
latency = "off"
arrive = 10_000
"#;

/// Returns the thread instructions of each launch of a run.
fn insts(run: &Value) -> Vec<u64> {
    run["launches"].as_array().expect("launches").iter().map(|launch| launch["thread_insts"].as_u64().expect("a count")).collect()
}

fn close(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() <= 1e-12 * expected.abs().max(1.0))
}

#[test]
fn numbers_are_those_of_single_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (gpu, plan, out) = (path("two.toml"), path("late.toml"), path("out"));
    let text = mias_gpus::text("rtx2060").expect("the GPU");
    assert!(text.contains("count = 30"));
    fs::write(&gpu, text.replacen("count = 30", "count = 2", 1)).expect("the GPU");
    fs::write(&plan, PLAN.replace("GPU", &gpu)).expect("the plan");
    let text = printed(&["evaluate", &plan, "--out", &out]);
    assert!(text.contains("20,000 cycles, the last kernel at cycle 10,000"), "{text}");

    let options = ["--gpu", &gpu, "--cycles", "20000", "--set", "profile-cycles=2000", "--transition", "ideal", "--set", "latency=off"];
    let run = |kernels: &[&str]| json(&[&["run"], kernels, &options].concat());
    let (first, second) = (insts(&run(&["fwt:4096"]))[0], insts(&run(&["mm:64", "--arrive", "mm:64@10000"]))[0]);
    let from_the_start = insts(&run(&["mm:64"]))[0];
    assert!(0 < second && second < from_the_start, "{second} of {from_the_start}");

    let results: Value = serde_json::from_slice(&fs::read(path("out/results.json")).expect("results")).expect("JSON");
    let (study, window) = (&results["studies"][0], 20_000.0);
    assert_eq!(study["arrive"], 10_000);
    let alone: Vec<(&str, Option<u64>)> = study["kernels"]
        .as_array()
        .expect("kernels")
        .iter()
        .map(|kernel| (kernel["name"].as_str().unwrap_or_default(), kernel["arrival_cycle"].as_u64()))
        .collect();
    assert_eq!(alone, [("fwt:4096", None), ("mm:64", Some(10_000))]);
    let group = &study["groups"][0];
    assert!(close(&group["isolated_ipc"][0], first as f64 / window) && close(&group["isolated_ipc"][1], second as f64 / window));
    let mut without_progress = Vec::new();
    for policy in ["left-over", "spatial", "mias-ipc"] {
        let together = insts(&run(&["fwt:4096", "mm:64", "--arrive", "mm:64@10000", "--policy", policy]));
        let row = group["policies"].as_array().expect("policies").iter().find(|row| row["policy"] == policy).expect("the policy");
        assert_eq!(row["derived"], false, "{policy}");
        let [a, b] = [together[0] as f64, together[1] as f64];
        let progress = [a / first as f64, b / second as f64];
        assert!(close(&row["normalized_ipc"][0], progress[0]) && close(&row["normalized_ipc"][1], progress[1]), "{policy}: {row}");
        assert!(close(&row["stp"], progress[0] + progress[1]), "{policy}");
        assert!(close(&row["speedup"], (a + b) / ((first + second) as f64 / 2.0)), "{policy}");
        let summary = study["summary"].as_array().expect("means").iter().find(|row| row["class"] == "all" && row["policy"] == policy);
        let still = together.iter().filter(|insts| **insts == 0).count();
        assert_eq!(summary.expect("a row")["kernels_without_progress"], still, "{policy}");
        without_progress.push(still);
    }
    // Under Left-over the late kernel gets no TB, since the first is relaunched forever.
    assert_eq!(without_progress[..2], [1, 0]);
    assert!(text.contains("no progress"), "{text}");
    let report = fs::read_to_string(path("out/report.html")).expect("the report");
    assert!(report.contains("Kernels without progress (no instruction executed since arrival): left-over, 1: mm of fwt+mm"));
    let csv = fs::read_to_string(path("out/results.csv")).expect("results");
    assert!(csv.contains(",alone,mm:64@10000,arrival_cycle,10000") && csv.contains(",summary,left-over,kernels_without_progress,1"));

    fs::write(&plan, PLAN.replace("GPU", &gpu).replace("10_000", "20_000")).expect("the plan");
    refused(&["evaluate", &plan, "--out", &path("none")], &["late.toml:18:10: arrive: 20000: the window ends at cycle 20000"]);
}
