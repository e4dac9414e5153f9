//! Snapshots of result tables for two small kernels. Other suites check numbers by arithmetic and
//! against an independent simulator; the snapshots show changes of results and their location.

use crate::support::{printed, reference};
use insta::assert_snapshot;

/// Both kernels share a GPU; decisions take no time, so that changes of the firmware's
/// instruction counts do not matter.
const CO_RUN: [&str; 8] = ["mm:128", "fwt:16384", "--cycles", "20000", "--set", "profile-cycles=3000", "--set", "latency=off"];

/// Returns a printed document without its provenance, which has the version.
fn document(arguments: &[&str]) -> String {
    let text = printed(&[arguments, &["--format", "json"]].concat());
    let (before, rest) = text.split_once("  \"provenance\": {").expect("provenance");
    let (_, after) = rest.split_once("\n  },\n").expect("its end");
    format!("{before}{after}")
}

#[test]
fn a_run() {
    let run = [&["run", "--policy", "mias-ipm-ipc", "--explain"], &CO_RUN[..]].concat();
    assert_snapshot!("run", printed(&run));
    assert_snapshot!("run_json", document(&run));
}

#[test]
fn a_run_of_a_trace() {
    let list = reference("corun/comp60_mem");
    assert_snapshot!("run_trace", printed(&["run", "--trace", &list, "--gpu", "rtx2060-accelsim", "--set", "sm.warp_scheduler=gto"]));
}

#[test]
fn a_comparison() {
    assert_snapshot!("compare", printed(&[&["compare"], &CO_RUN[..]].concat()));
}

#[test]
fn a_sweep() {
    let sweep = ["sweep", "fwt:16384", "--cycles", "12000"];
    assert_snapshot!("sweep", printed(&sweep));
    assert_snapshot!("sweep_csv", printed(&[&sweep[..], &["--format", "csv"]].concat()));
}
