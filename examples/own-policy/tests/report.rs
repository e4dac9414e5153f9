//! The program as a user runs it: the policy has its own name, and unsupported uses have an error
//! message.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn mias(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_own-policy")).current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().unwrap()
}

fn done(arguments: &[&str]) -> String {
    let output = mias(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = mias(arguments);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

const SMALL: [&str; 8] = ["mm:128", "fwt:65536", "--cycles", "40000", "--set", "profile-cycles=5000", "--set", "latency=off"];

fn compare(more: &[&str]) -> String {
    done(&[&["compare", "--no-cache"], &SMALL[..], more].concat())
}

#[test]
fn a_comparison_has_its_row_and_its_decision() {
    let report: Value = serde_json::from_str(&compare(&["--policy", "busy-share,spatial", "--format", "json"])).unwrap();
    let rows: Vec<&str> = report["results"].as_array().unwrap().iter().map(|row| row["policy"].as_str().unwrap()).collect();
    assert_eq!(rows, ["spatial", "busy-share"], "the built-in ones come first");
    let own = &report["results"][1];
    assert!(own["profile_cycles"].as_u64() >= Some(5_000), "{own}");
    let tbs: Vec<u64> = own["config"].as_array().unwrap().iter().map(|tbs| tbs.as_u64().unwrap()).collect();
    assert!(tbs.iter().all(|&tbs| tbs > 0), "both kernels have TBs: {own}");
    // The choice follows from the reported measurements of each kernel alone.
    let profiled = own["decision"]["profiled"].as_array().unwrap();
    assert_eq!(profiled.len(), 2, "{own}");
}

#[test]
fn an_evaluation_has_it_in_every_document() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let text = done(&["evaluate", "plan.toml", "--no-cache", "--out", out.to_str().unwrap()]);
    assert!(text.contains("busy-share"), "{text}");
    for document in ["results.json", "results.csv", "report.html"] {
        assert!(std::fs::read_to_string(out.join(document)).unwrap().contains("busy-share"), "{document}");
    }
    // A run of this policy carries this very build; the others carry any build with the same model.
    let program = |run: &Value| run["run"]["program"].as_str().map(str::len);
    let own: Vec<Value> = runs(&out).into_iter().filter(|run| run["run"]["control"] == "busy-share").collect();
    assert_eq!(own.iter().map(program).collect::<Vec<_>>(), [Some(16); 2]);
    assert!(runs(&out).iter().filter(|run| run["run"]["control"] != "busy-share").all(|run| program(run).is_none()));
}

fn runs(folder: &Path) -> Vec<Value> {
    let files = std::fs::read_dir(folder.join("runs")).unwrap();
    files.map(|file| serde_json::from_str(&std::fs::read_to_string(file.unwrap().path()).unwrap()).unwrap()).collect()
}

#[test]
fn what_only_the_firmwares_own_policies_can_do_is_refused() {
    let run = ["run", "mm:128", "fwt:65536", "--policy", "busy-share"];
    let image = refused(&[&run[..], &["--firmware", "qemu:Cargo.toml"]].concat());
    assert!(image.contains("`busy-share` belongs to this program") && image.contains("docs/start/own-policy.md"), "{image}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rec");
    let record = refused(&[&run[..], &["--record", file.to_str().unwrap()]].concat());
    assert!(record.contains("leave out --record") && !file.exists(), "{record}");
}

#[test]
fn a_misspelt_name_is_answered_with_the_right_one() {
    let message = refused(&["compare", "mm:128", "--policy", "busy-shar"]);
    assert!(message.contains("did you mean `busy-share`?"), "{message}");
}
