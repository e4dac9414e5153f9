//! The `mias` command, tested from outside: mistakes cause one message and exit code 2, and nothing
//! is written.

use crate::support::{mias, refused};
use std::path::Path;

#[test]
fn unknown_names_suggest_the_nearest() {
    refused(&["compare", "mm", "ftw"], &["unknown kernel `ftw`", "did you mean `fwt`?", "known: "]);
    refused(&["run", "mn"], &["unknown kernel `mn`", "did you mean `mm`?"]);
    refused(&["compare", "mm", "--gpu", "rtx2600"], &["unknown GPU `rtx2600`", "did you mean `rtx2060`?"]);
    refused(&["compare", "mm", "--policy", "mias-ipcc"], &["'mias-ipcc'", "mias-ipc"]);
    refused(&["compare", "mm", "--cycels", "5"], &["--cycels", "--cycles"]);
    refused(&["comapre", "mm"], &["comapre", "compare"]);
    refused(&["gpu", "show", "rtx"], &["unknown GPU `rtx`"]);
}

#[test]
fn numbers_out_of_range_are_refused() {
    refused(&["compare", "mm", "--cycles", "0"], &["--cycles", "0"]);
    refused(&["compare", "mm", "--cycles", "many"], &["--cycles", "many"]);
    refused(&["run", "mm", "--set", "profile-cycles=0"], &["--set `profile-cycles=0`: profile-cycles: must be at least 1"]);
    refused(&["run", "mm", "--set", "profile-cycles=131072"], &["profile-cycles: 131072 must be 1 to 131071"]);
    refused(&["compare", "mm", "fwt", "--arrive", "fwt"], &["--arrive `fwt`", "KERNEL@CYCLE"]);
    refused(&["compare", "mm", "--arrive", "fwt@5"], &["unknown kernel `fwt`"]);
    refused(&["compare", "mm", "--until", "done", "--cycles", "5"], &["--until", "--cycles"]);
    refused(&["compare", "mm", "mm", "mm", "mm", "mm"], &["5 kernels;", "at most 4"]);
    refused(&["compare"], &["<KERNEL>"]);
}

#[test]
fn malformed_gpu_files_are_shown_where_they_break() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let name = path.to_str().unwrap();
    let original = mias_gpus::text("rtx2060").unwrap();
    let line = original[..original.find("count = 30").unwrap()].matches('\n').count() + 1;

    std::fs::write(&path, original.replace("count = 30", "count = thirty")).unwrap();
    refused(&["compare", "mm", "--gpu", name], &[&format!("mine.toml:{line}:"), "count = thirty", "^"]);
    std::fs::write(&path, original.replace("count = 30", "count = 0")).unwrap();
    refused(&["gpu", "show", name], &[&format!("mine.toml:{line}:"), "sm.count = 0: must be at least 1"]);
    std::fs::write(&path, original.replace("threads = 1024", "threads = 128")).unwrap();
    refused(&["compare", "mm", "--gpu", name], &["`mm`", "256 threads", "has 128"]);
    refused(&["gpu", "show", "no-such-file.toml"], &["cannot read the GPU file no-such-file.toml"]);
}

#[test]
fn unwritable_outputs_are_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing/out.json");
    // A window this long would take hours.
    refused(&["compare", "mm", "--cycles", "1000000000000", "--out", missing.to_str().unwrap()], &["cannot write", "out.json"]);
    refused(&["compare", "mm", "--cycles", "1000000000000", "--out", folder.path().to_str().unwrap()], &["cannot write"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn broken_traces_are_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("kernelslist.g");
    std::fs::write(&list, "kernel-1.traceg\n").unwrap();
    let name = list.to_str().unwrap();
    refused(&["run", "--trace", name], &["kernelslist.g:1:", "`kernel-1.traceg`", "missing from the folder of the list"]);
    std::fs::write(folder.path().join("kernel-1.traceg"), "-kernel name = k\n-nregs = 21955\n").unwrap();
    refused(&["run", "--trace", name], &["kernel-1.traceg:2:", "`21955`"]);
    refused(&["run", "--trace", "no-such-list.g"], &["no-such-list.g"]);
    refused(&["run", "mm", "--trace", name], &["--trace"]);
    refused(&["run", "mm", "--reference", "x.csv"], &["--reference", "KERNEL"]);
}

#[test]
fn gpus_are_printed_as_files_that_can_be_read_back() {
    let printed = mias(&["gpu", "show", "rtx2060-accelsim"]).assert().success();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.toml");
    std::fs::write(&path, &printed.get_output().stdout).unwrap();
    let again = mias(&["gpu", "show", path.to_str().unwrap()]).assert().success();
    assert_eq!(printed.get_output().stdout, again.get_output().stdout);
}

#[test]
fn kernels_are_listed_with_what_fits() {
    let output = mias(&["kernels", "--format", "json"]).assert().success();
    let rows: serde_json::Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    let mm = rows.as_array().unwrap().iter().find(|row| row["name"] == "mm").unwrap();
    // 256 threads per TB, 1,024 per SM.
    assert_eq!((&mm["threads"], &mm["max_tbs"], &mm["shared_bytes"]), (&256.into(), &4.into(), &2048.into()));
}

fn compare_json(arguments: &[&str], out: &Path) -> serde_json::Value {
    let all = [arguments, &["--format", "json", "--out", out.to_str().unwrap()]].concat();
    mias(&all).assert().success().stdout("");
    serde_json::from_str(&std::fs::read_to_string(out).unwrap()).unwrap()
}

#[test]
fn a_short_comparison_has_the_schema_and_repeats_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("a.json"), folder.path().join("b.json"));
    let arguments = ["compare", "mm", "fwt", "--cycles", "12000", "--set", "profile-cycles=2000"];
    let document = compare_json(&arguments, &first);
    compare_json(&arguments, &second);
    assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap());

    assert_eq!((&document["schema_version"], &document["gpu"], &document["cycles"]), (&1.into(), &"rtx2060".into(), &12_000.into()));
    let policies: Vec<&str> = document["results"].as_array().unwrap().iter().map(|r| r["policy"].as_str().unwrap()).collect();
    assert_eq!(policies, ["left-over", "spatial", "null", "mias-ipc", "mias-ipm-ipc", "mias-factor", "mias-linear"]);
    let sweep: Vec<String> = document["sweep"].as_array().unwrap().iter().map(|point| point["config"].to_string()).collect();
    assert_eq!(sweep, ["[1,3]", "[2,2]", "[3,1]"]);
    for result in document["results"].as_array().unwrap() {
        for field in ["config", "speedup", "stp", "antt", "fairness", "transition_cycles", "profile_cycles"] {
            assert!(result.get(field).is_some(), "{field} of {result}");
        }
        assert!(result["regret"].get("s").is_some() && result["regret"].get("stp").is_some());
        let parts: f64 = result["kernels"].as_array().unwrap().iter().filter_map(|k| k["normalized_ipc"].as_f64()).sum();
        assert!((parts - result["stp"].as_f64().unwrap()).abs() < 1e-9, "STP is the sum of normalized IPCs: {result}");
    }
    assert!(document["oracle"]["s"]["config"].is_array() && document["s_null"].as_f64().unwrap() >= 1.0);
}

/// The first Ctrl-C ends runs that would take days, with the shell's exit code and without partial
/// files. The test waits until `/proc` shows the process' handler.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_a_long_run_soon() {
    const SIGINT: u32 = 2;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("mias"));
    command.args(["compare", "mm", "fwt", "--cycles", "1000000000000", "--out", out.to_str().unwrap()]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).env("MIAS_CACHE_LIMIT", "0");
    let child = command.spawn().unwrap();
    let catches = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim().to_owned();
        u64::from_str_radix(&caught, 16).unwrap() >> (SIGINT - 1) & 1 == 1
    };
    while !catches() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &b""[..]), "{message}");
    assert!(message.starts_with("interrupted: "), "{message}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn unknown_kernels_and_gpus_are_not_calibrated() {
    refused(&["gpu", "fit", "rtx2600"], &["unknown GPU `rtx2600`"]);
    refused(&["gpu", "fit", "rtx2060", "ftw"], &["unknown kernel `ftw`", "did you mean `fwt`?"]);
}
