//! Contract of `mias run --format json`: names and values per launch, no wall-clock time unless
//! requested, and options that do not affect numbers.

use crate::support::{json, printed, reference};
use serde_json::Value;

/// SMs and schedulers per SM of rtx2060-accelsim.
const SCHEDULERS: u64 = 30 * 4;

/// Returns `run --trace` on the GPU and scheduler of the reference numbers.
fn replay<'a>(list: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--trace", list, "--gpu", "rtx2060-accelsim", "--set", "sm.warp_scheduler=gto"], more].concat()
}

fn number(launch: &Value, field: &str) -> u64 {
    launch[field].as_u64().unwrap_or_else(|| panic!("{field} of {launch}"))
}

#[test]
fn every_column_of_the_reference_numbers_is_a_field() {
    let list = reference("micro/dram_100");
    let document = json(&replay(&list, &[]));
    let launch = &document["launches"][0];
    let columns = include_str!("../../../tests/data/reference/accelsim.csv").lines().next().unwrap();
    for column in columns.split(',').skip(2) {
        assert!(!launch[column].is_null(), "{column} of {launch}");
    }
    assert_eq!(number(launch, "cycles"), number(launch, "end_cycle") - number(launch, "start_cycle"));
    assert_eq!(number(launch, "end_cycle"), number(&document, "total_cycles"), "one launch is the whole list");
    assert_eq!(document["seconds"], Value::Null);

    // The definitions of the glossary, on numbers of the same document.
    let (cycles, close) = (number(launch, "cycles") as f64, |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9);
    assert!(close(launch["ipc"].as_f64().unwrap(), number(launch, "thread_insts") as f64 / cycles));
    let atoms = (number(launch, "dram_reads") + number(launch, "dram_writes")) as f64;
    let peak = 336.048e9 / 32.0 * cycles / 1.365e9;
    assert!(atoms > 0.0 && close(launch["bandwidth_utilization"].as_f64().unwrap(), atoms / peak));
    let look_ups = number(launch, "l2_accesses") as f64;
    assert!(close(launch["l2_bandwidth_utilization"].as_f64().unwrap(), look_ups / (24.0 * cycles)));
}

/// Every scheduler-cycle is in one class, and charged to at most one launch; only a scheduler
/// without warps charges none.
#[test]
fn stall_classes_add_up_per_launch_and_in_all() {
    for trace in ["micro/bar_100", "corun/mm90_fwt"] {
        let list = reference(trace);
        let document = json(&replay(&list, &[]));
        let launches = document["launches"].as_array().unwrap();
        let mut slots = 0;
        for (class, cycles) in document["issue_slots"].as_object().unwrap() {
            let cycles = cycles.as_u64().unwrap();
            slots += cycles;
            let charged: u64 = launches.iter().map(|launch| number(&launch["issue_slots"], class)).sum();
            assert!(charged == cycles || class == "idle_or_control" && charged < cycles, "{trace}: {class} {charged} of {cycles}");
        }
        assert_eq!(slots, SCHEDULERS * number(&document, "total_cycles"), "{trace}");
        for launch in launches {
            assert_eq!(launch["issue_slots"]["issued"], launch["warp_insts"], "{trace}");
        }
    }
}

#[test]
fn timing_adds_seconds_and_nothing_else() {
    let list = reference("micro/ffma_100");
    let without = json(&replay(&list, &[]));
    let mut with = json(&replay(&list, &["--timing"]));
    let seconds = with.as_object_mut().unwrap().remove("seconds").expect("seconds");
    assert!(seconds["load"].as_f64().unwrap() >= 0.0 && seconds["simulate"].as_f64().unwrap() > 0.0);
    assert_eq!(seconds.as_object().unwrap().len(), 2);
    assert_eq!(with, without);
    let table = printed(&replay(&list, &["--timing"]));
    assert!(table.lines().last().unwrap().starts_with("load "), "{table}");
}

/// Load and simulate are disjoint parts of the process' time.
#[test]
fn the_seconds_add_up_to_the_process() {
    let list = reference("corun/mm90_fwt");
    let begin = std::time::Instant::now();
    let document = json(&replay(&list, &["--timing", "--no-cache"]));
    let process = begin.elapsed().as_secs_f64();
    let seconds = |part: &str| document["seconds"][part].as_f64().unwrap();
    let (load, simulate) = (seconds("load"), seconds("simulate"));
    assert!(load > 0.0 && simulate > 0.0 && load + simulate <= process, "{load} + {simulate} of {process}");
}

/// With the reference's instruction fetch, barriers take exactly its cycles.
#[test]
fn barriers_are_exact_with_the_references_fetch() {
    let numbers = include_str!("../../../tests/data/reference/micro.csv");
    for instructions in ["100", "300"] {
        let expected = numbers.lines().find_map(|line| line.strip_prefix(&format!("bar,{instructions},"))).unwrap();
        let list = reference(&format!("micro/bar_{instructions}"));
        let document = json(&["run", "--trace", &list, "--gpu", "rtx2060-fetch", "--set", "sm.warp_scheduler=gto"]);
        assert_eq!(number(&document, "total_cycles").to_string(), expected);
    }
}

/// Returns a document's results, without the options that requested them.
fn run_only(mut document: Value) -> Value {
    document["provenance"]["options"].as_object_mut().unwrap().remove("tbs_per_sm");
    document
}

#[test]
fn a_cap_on_tbs_slows_down_until_it_is_beyond_what_fits() {
    let list = reference("comp");
    let free = json(&replay(&list, &[]));
    let capped = |cap: &str| json(&replay(&list, &["--set", &format!("tbs-per-sm={cap}")]));
    let one = capped("1");
    assert_eq!(one["provenance"]["options"]["tbs_per_sm"], 1);
    assert!(number(&one, "total_cycles") > number(&free, "total_cycles"));
    for field in ["warp_insts", "thread_insts", "tbs_completed"] {
        assert_eq!(one["launches"][0][field], free["launches"][0][field], "the same work");
    }
    // 256 threads per TB, 1,024 per SM: four fit.
    for cap in ["4", "5", "1000"] {
        assert_eq!(run_only(capped(cap)), run_only(free.clone()), "{cap}");
    }
}

#[test]
fn kernels_are_capped_too() {
    let arguments = ["run", "fwt", "--policy", "left-over", "--cycles", "6000"];
    let issued = |more: &[&str]| json(&[&arguments, more].concat())["launches"][0]["tbs_issued"].as_u64().unwrap();
    // 1,000 cycles after the launch latency, less than the duration of a TB: one TB per SM, or the
    // four that fit.
    assert_eq!(issued(&["--set", "tbs-per-sm=1"]), 30);
    assert_eq!(issued(&["--set", "tbs-per-sm=3"]), 90);
    assert_eq!(issued(&[]), 120);
    assert_eq!(issued(&["--set", "tbs-per-sm=9"]), 120);
}

#[test]
fn launches_on_two_streams_run_together_and_total_is_the_last_end() {
    for trace in ["corun/comp60_mem", "corun/mm90_fwt"] {
        let list = reference(trace);
        let document = json(&replay(&list, &[]));
        let launches = document["launches"].as_array().unwrap();
        let ends: Vec<u64> = launches.iter().map(|launch| number(launch, "end_cycle")).collect();
        assert!(launches.iter().all(|launch| number(launch, "start_cycle") == 0), "{trace}: launched together");
        assert_eq!(ends.iter().max(), document["total_cycles"].as_u64().as_ref(), "{trace}");
        assert!(ends[0] < ends[1], "{trace}: the first is the shorter one");
    }
}

#[test]
fn kernel_lrr_is_gto_for_one_kernel_and_not_for_two() {
    let run = |list: &str, scheduler: &str| {
        let mut document = json(&["run", "--trace", list, "--gpu", "rtx2060-accelsim", "--set", &format!("sm.warp_scheduler={scheduler}")]);
        document["provenance"]["gpu_hash"].take();
        document
    };
    let (alone, shared) = (reference("shm"), reference("corun/comp60_mem"));
    assert_eq!(run(&alone, "kernel-lrr"), run(&alone, "gto"));
    assert_ne!(run(&shared, "kernel-lrr"), run(&shared, "gto"));
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` leaves out.
mod slow {
    use super::*;

    /// Skipping cycles without events changes no byte (sources.md D109).
    #[test]
    fn running_every_cycle_gives_the_same_bytes() {
        for trace in ["micro/l1_100", "micro/dram_100", "micro/atom_100", "micro/bar_100", "shm", "corun/comp60_mem"] {
            let list = reference(trace);
            let arguments = replay(&list, &["--format", "json"]);
            assert_eq!(printed(&arguments), printed(&[&arguments[..], &["--set", "every-cycle=true"]].concat()), "{trace}");
        }
        let co_run = [
            "run",
            "mm",
            "fwt",
            "--policy",
            "mias-ipm-ipc",
            "--cycles",
            "40000",
            "--set",
            "profile-cycles=3000",
            "--explain",
            "--format",
            "json",
        ];
        let skipped = printed(&co_run);
        assert_eq!(skipped, printed(&[&co_run[..], &["--set", "every-cycle=true"]].concat()));
        let document: Value = serde_json::from_str(&skipped).unwrap();
        assert!(document["decision"]["winner"].is_u64(), "MIAS profiled and decided within the window");
    }
}
