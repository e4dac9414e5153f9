//! `mias evaluate` with a late decision: a microcontroller so slow that the window ends before the
//! decision is in effect.

use crate::support::printed;
use serde_json::Value;
use std::fs;

/// Two kernels on six SMs, which measure all configurations in one round. One microcontroller is
/// unchanged. One has half its clock: it places the configurations within the window, and decides
/// after it.
const PLAN: &str = r#"
name = "late"
description = "decisions in time, and too late"

[[experiment]]
name = "late"
title = "Late"
gpu = "rtx2060"
kernels = ["fwt:4096", "mm:64"]
policies = ["spatial", "mias-ipc", "mias-roofline"]

[experiment.parameters]
cycles = 60_000
profile-cycles = 2_000
latency = "worst"

[experiment.gpu-settings]
sm.count = 6
microcontroller.clock_khz = [400_000, 180_000]
"#;

const WINDOW: f64 = 60_000.0;

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("no {field} in {row}"))
}

fn named<'v>(rows: &'v Value, policy: &str) -> &'v Value {
    rows.as_array()
        .expect("rows")
        .iter()
        .find(|row| row["policy"] == policy && (row["class"] == "all" || row["class"].is_null()))
        .expect("a row")
}

#[test]
fn a_decision_that_comes_too_late_takes_no_credit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    fs::write(path("late.toml"), PLAN).expect("the plan");
    let text = printed(&["evaluate", &path("late.toml"), "--out", &path("out")]);
    let results: Value = serde_json::from_slice(&fs::read(path("out/results.json")).expect("results")).expect("JSON");
    let [in_time, late] = [&results["studies"][0], &results["studies"][1]];

    for policy in ["mias-ipc", "mias-roofline"] {
        let row = named(&in_time["groups"][0]["policies"], policy);
        assert_eq!((&row["too_late"], row.get("too_late_config")), (&Value::Bool(false), None), "{policy}");
        assert_eq!(row["decision_cycles"], row["decision_cycles_in_run"], "{policy}: all of it is in the window");
        assert!(row["config"].is_array() && number(row, "in_place") > 0.1, "{policy}: {row}");
        let counted = ["placement_cycles", "transition_cycles", "profile_cycles", "decision_cycles_in_run"];
        let parts = counted.map(|part| number(row, part));
        assert!(
            parts[0] > 0.0 && parts[3] > 0.0 && (number(row, "overhead") - parts.iter().sum::<f64>() / WINDOW).abs() < 1e-12,
            "{policy}: {row}"
        );
        let means = named(&in_time["summary"], policy);
        assert_eq!((&means["too_late"], &means["means"]["regret_s"]["count"]), (&0.into(), &1.into()), "{policy}");
    }
    for policy in ["mias-ipc", "mias-roofline"] {
        let row = named(&late["groups"][0]["policies"], policy);
        assert_eq!((&row["too_late"], &row["config"]), (&Value::Bool(true), &Value::Null), "{policy}");
        assert_eq!(number(row, "in_place"), 0.0, "{policy}");
        // It decided at this cycle, and was busy until the end.
        let [took, in_run] = ["decision_cycles", "decision_cycles_in_run"].map(|part| number(row, part));
        assert!(took > in_run && in_run < WINDOW, "{policy}: {row}");
        assert_eq!(in_run + number(row, "decision_cycle"), WINDOW, "{policy}");
        let before = ["placement_cycles", "transition_cycles", "profile_cycles"].map(|part| number(row, part));
        let overhead = (before.iter().sum::<f64>() + in_run) / WINDOW;
        assert!((number(row, "overhead") - overhead).abs() < 1e-12, "{policy}: {row}");
        // The choice is reported and judged; means exclude it, except those of the run itself.
        assert!(row["too_late_config"].is_array() && row["regret"]["s"].is_number(), "{policy}: {row}");
        let means = named(&late["summary"], policy);
        assert_eq!(means["too_late"], 1, "{policy}");
        let count = |quantity: &str| means["means"][quantity]["count"].as_u64();
        for quantity in ["regret_s", "regret_stp", "kendall_s", "kendall_stp", "decision_cycle"] {
            assert_eq!(count(quantity), Some(0), "{policy}: {quantity}");
        }
        assert_eq!((count("speedup"), count("end_to_end_regret_s"), count("overhead")), (Some(1), Some(1), Some(1)), "{policy}");
        assert_eq!((&means["best_chosen"]["s"], &means["gamma"]["s"]), (&0.into(), &Value::Null), "{policy}");
    }
    let spatial = named(&late["groups"][0]["policies"], "spatial");
    assert_eq!((&spatial["too_late"], number(spatial, "decision_cycles_in_run")), (&Value::Bool(false), 0.0));

    // In the text output.
    let (before, after) = text.split_once("\n\n").expect("two settings");
    assert!(before.contains("in place") && !before.contains("too late"), "{text}");
    assert!(after.contains("1 !") && after.contains("too late: groups in which the run ended before the decision took effect."), "{text}");
    let csv = fs::read_to_string(path("out/results.csv")).expect("results");
    for line in [",policy,mias-ipc,too_late,true", ",policy,mias-ipc,too_late,false", ",summary,mias-roofline,too_late,1"] {
        assert!(csv.contains(line), "{line}");
    }
    assert!(csv.contains(",policy,mias-ipc,too_late_config,") && csv.contains(",policy,mias-ipc,decision_cycles_in_run,"));
    let report = fs::read_to_string(path("out/report.html")).expect("the report");
    assert!(report.contains("Triangles: runs that ended before the decision took effect."));
    assert!(report.contains("mias-ipc: 1 too late</title>") && report.contains("Too late: groups in which the run ended"));
}
