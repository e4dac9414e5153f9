//! `mias kernels` and `mias sweep`, from the command line: results for small inputs, compared with
//! arithmetic and with `mias run`.

use crate::support::{json, mias, printed, refused};
use serde_json::Value;
use std::collections::BTreeMap;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// 128 x 128 by tiles of 16: 64 TBs of 8 warps, 8 tile steps of 59 instructions and 37 outside
/// (kernels/README.md).
#[test]
fn stats_follow_from_the_source() {
    let stats = json(&["kernels", "--stats", "mm:128", "fwt:16384", "--cycles", "20000"]);
    let [mm, fwt] = [0, 1].map(|at| &stats["kernels"][at]);
    assert_eq!((mm["name"].as_str(), fwt["name"].as_str()), (Some("mm:128"), Some("fwt:16384")), "in the order given");
    assert_eq!((number(&mm["warps"]), number(&mm["insts_per_warp"])), (64.0 * 8.0, 8.0 * 59.0 + 37.0));
    assert_eq!(number(&mm["lanes_per_inst"]), 32.0);
    assert_eq!((number(&fwt["insts_per_warp"]), number(&fwt["compute_per_memory_inst"])), (42.0, 34.0 / 8.0));
    assert_eq!(number(&fwt["requests_per_memory_inst"]), 1.0);
    for kernel in [mm, fwt] {
        let sum = |shares: &Value| shares.as_object().unwrap().values().map(number).sum::<f64>();
        assert!((sum(&kernel["mix"]) - 1.0).abs() < 1e-9 && (sum(&kernel["alone"]["issue_slots"]) - 1.0).abs() < 1e-9, "{kernel}");
        assert_eq!(kernel["limited_by"], serde_json::json!(["threads"]));
        assert!(number(&kernel["alone"]["ipc"]) >= number(&kernel["alone"]["ipc_half_tbs"]), "more TBs do more: {kernel}");
        let used = kernel["alone"]["utilization"].as_object().unwrap().values().map(number);
        assert!(used.into_iter().all(|share| (0.0..=1.7).contains(&share)), "the crossbar's is of 60 %: {kernel}");
    }
    assert_eq!((mm["type"].as_str(), fwt["type"].as_str()), (Some("C"), Some("M")));
    assert_eq!(stats["missing"], serde_json::json!([]));
}

/// Every point equals `run --tbs-per-sm`, to the last digit.
#[test]
fn a_sweep_is_a_run_for_each_number_of_tbs() {
    let common = ["--cycles", "12000"];
    let sweep = json(&[&["sweep", "fwt:16384"], &common[..]].concat());
    let points = sweep["points"].as_array().unwrap();
    assert_eq!(points.len(), 4, "4 TBs fit");
    for (tbs, point) in (1..).zip(points) {
        let run = json(&[&["run", "fwt:16384", "--policy", "left-over", "--set", &format!("tbs-per-sm={tbs}")], &common[..]].concat());
        assert_eq!((point["tbs_per_sm"].as_u64(), &point["ipc"]), (Some(tbs), &run["launches"][0]["ipc"]));
        assert_eq!(point["dram_utilization"], run["launches"][0]["bandwidth_utilization"]);
        // An L1 miss takes longer than the L1's latency, plus the L2's if it left the SM.
        assert!(number(&point["miss_latency"]) > 160.0, "{point}");
    }
    let text = printed(&[&["sweep", "fwt:16384", "--format", "csv"], &common[..]].concat());
    let rows: Vec<BTreeMap<String, String>> = csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len(), points.len());
    assert_eq!(rows[3]["ipc"].parse::<f64>().unwrap(), (1e6 * number(&points[3]["ipc"])).round() / 1e6);
    let names = ["linear then flat", "saturating", "peaked", "neither"];
    assert!(names.contains(&sweep["shape"].as_str().unwrap()), "{sweep}");
}

/// A kernel with space for one TB has no half, so the thesis' rule about more TBs gives no type.
#[test]
fn one_tb_per_sm_has_no_curve() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("narrow.toml");
    let whole = printed(&["gpu", "show"]);
    std::fs::write(&path, whole.replacen("threads = 1024", "threads = 256", 1).replacen("\"rtx2060\"", "\"narrow\"", 1)).unwrap();
    let gpu = path.to_str().unwrap();
    let stats = json(&["kernels", "--stats", "fwt:4096", "--cycles", "8000", "--gpu", gpu]);
    let fwt = &stats["kernels"][0];
    assert_eq!((fwt["max_tbs"].as_u64(), &fwt["alone"]["ipc_half_tbs"], &fwt["types"]["nasef2023"]), (Some(1), &Value::Null, &Value::Null));
    assert_eq!(json(&["sweep", "fwt:4096", "--cycles", "8000", "--gpu", gpu])["shape"], "neither");
}

#[test]
fn every_kernel_checks_its_results() {
    let words = ["mm:48", "fwt:2048", "nbdy:512", "blk:512", "bopt:3", "bfs:512,seed=5", "dxtc:12", "hs:20", "pf:100,starts=2", "st:9"];
    let rows = json(&[&["kernels", "--check"], &words[..]].concat());
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["name"].as_str().unwrap()).collect::<Vec<_>>(), words);
    assert!(rows.iter().all(|row| row["right"] == true && number(&row["ptx_warp_insts"]) > 0.0), "{rows:?}");
}

#[test]
fn mistakes_are_refused() {
    refused(&["kernels", "fwd"], &["unknown kernel `fwd`", "did you mean `fwt`?"]);
    refused(&["kernels", "--stats", "mm:17"], &["kernel `mm`: size 17: must be a multiple of 16"]);
    refused(&["kernels", "--check", "fwt:1000"], &["kernel `fwt`: size 1000"]);
    refused(&["kernels", "--check", "--stats"], &["cannot be used with"]);
    refused(&["kernels", "--cycles", "5"], &["required arguments were not provided", "--stats"]);
    refused(&["sweep", "mm", "fwt"], &["unexpected argument 'fwt'"]);
    refused(&["sweep", "mm:16", "--gpu", "nope"], &["nope"]);
    refused(&["sweep", "mm:16", "--out", "/"], &["cannot write /"]);
}

/// `--out` writes the bytes that standard output would have shown.
#[test]
fn reports_go_to_files_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    let arguments = ["sweep", "mm:32", "--cycles", "6000"];
    mias(&[&arguments[..], &["--out", path.to_str().unwrap()]].concat()).assert().success().stdout("");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), printed(&arguments));
}
