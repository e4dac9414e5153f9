//! Result tables: what commands print of two small kernels. What the numbers must be is for the other suites to say, by arithmetic and
//! by the numbers of an independent simulator; the snapshots show that, and where, a result is another than before.

use crate::support::{printed, reference};
use insta::assert_snapshot;

/// Both kernels share a machine; decisions take no time, so that a change of the firmware's instruction counts is no change here.
const CO_RUN: [&str; 8] = ["mm:128", "fwt:16384", "--cycles", "20000", "--set", "profile-cycles=3000", "--set", "latency=off"];

/// A document as it is printed, without its provenance, which says of which version it is.
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
