//! `--set`, `mias options`, and composed policies, tested end to end.

use crate::support::{json, mias, printed, refused};
use predicates::str::contains;

const SHORT: [&str; 6] = ["mm:64", "fwt:8192", "--cycles", "8000", "--set", "latency=off"];

#[test]
fn every_key_is_listed_with_its_values() {
    let text = printed(&["options", "l1.partition", "profile-cycles"]);
    assert!(text.contains("profile-cycles = 45,000\n    values: 1 to 131,071\n"), "{text}");
    assert!(text.contains("l1.partition.by = \"shared\"\n    values: shared, fixed, ucp, ucp-rate\n"), "{text}");
    assert!(!text.contains("l2.partition"), "{text}");
    let listed = json(&["options"]);
    assert!(listed.as_array().expect("keys").len() > 150, "{listed}");
    refused(&["options", "l1.mshrz"], &["no key begins with `l1.mshrz`", "did you mean `l1.mshr"]);
}

#[test]
fn keys_of_the_gpu_are_set() {
    let slow = |set: &[&str]| json(&[&["run", "mm:64", "--policy", "left-over", "--cycles", "8000"], set].concat());
    let (usual, few) = (slow(&[]), slow(&["--set", "l1.mshrs=1"]));
    assert_ne!(usual["launches"], few["launches"]);
    assert_eq!(few["launches"], slow(&["--set", "l1.mshrs = 1"])["launches"], "blanks do not count");
    refused(&["run", "mm:64", "--set", "l1.mshr=1"], &["unknown key `l1.mshr`; did you mean `l1.mshrs`? `mias options` lists all"]);
    refused(&["run", "mm:64", "--cycles", "5", "--set", "cycles=5"], &["--cycles conflicts with `--set cycles`"]);
    refused(&["sweep", "mm:64", "--set", "profile-cycles=5"], &["unknown key `profile-cycles`"]);
}

#[test]
fn policies_compose() {
    let listed = printed(&["policies"]);
    for name in ["warped-slicer", "  cd-search+power", "static:N-M", "+qbmi", "+warp-quota"] {
        assert!(listed.lines().any(|line| line.starts_with(name)), "{name}: {listed}");
    }
    let run = |policy: &str, set: &[&str]| json(&[&["run", "--policy", policy], &SHORT[..], set].concat())["launches"].clone();
    assert_eq!(run("smk+dmil", &[]), run("smk", &["--set", "sm.memory_issue.in_flight=dynamic"]));
    refused(&["run", "mm:64", "--policy", "smk+dmill"], &["unknown mechanism `dmill`; did you mean `dmil`?"]);
    refused(&["run", "mm:64", "--policy", "smk-p"], &["unknown policy `smk-p`; did you mean `smk`?"]);
}

/// A configuration runs as in the sweep, of which `--sweep` prints a row for each.
#[test]
fn a_configuration_is_a_policy() {
    let compared = json(&[&["compare", "--policy", "static:1-2,spatial"], &SHORT[..]].concat());
    let names: Vec<_> = compared["results"].as_array().expect("results").iter().map(|policy| policy["policy"].clone()).collect();
    assert_eq!(names, ["spatial", "static:1-2"]);
    let text = printed(&[&["compare", "--policy", "spatial", "--sweep"], &SHORT[..]].concat());
    let configurations = compared["sweep"].as_array().expect("the sweep").len();
    let rows = text.split_once("configuration").expect("a table").1.lines().skip(1).take_while(|line| !line.is_empty());
    assert_eq!(rows.count(), configurations, "{text}");
    refused(&["compare", "mm:64", "--policy", "static:1-2"], &["static:1-2 has 2 numbers for 1 kernels"]);
    let all = [&["compare", "--policies", "all", "--set", "profile-cycles=500"], &SHORT[..]].concat();
    mias(&all).assert().success().stderr(contains("all policies but configurations (static:N-M) and those with mechanisms"));
}
