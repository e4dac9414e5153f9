//! Transitions that preempt, priorities and limits, on the command line and in plans.

mod support;

use serde_json::Value;
use std::fs;
use support::{Trace, header, json, mias, printed, refused, tb};

/// Two SMs, short windows: `fwt` fills them before `mm` arrives.
const SHORT: [&str; 8] = ["--gpu", "rtx2060-accelsim", "--cycles", "40000", "--profile-cycles", "2000", "--latency", "off"];

fn with<'a>(command: &[&'a str], options: &[&'a str]) -> Vec<&'a str> {
    [command, &SHORT, options].concat()
}

const URGENT: &str = "mm:64@10000,priority=1,limit=3000";

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let run = |options: &[&'static str], parts: &[&str]| refused(&with(&["run", "fwt:4096", "mm:64"], options), parts);
    run(&["--switch", "stall"], &["`--switch` is of TBs that are preempted, and the transition is `drain`", "add `--transition preempt`"]);
    run(&["--resume", "same-sm", "--transition", "ideal"], &["`--resume`", "the transition is `ideal`"]);
    run(&["--arrive", "mm:64@10000,limit=3000", "--transition", "ideal"], &["limit", "preempt, or leave the limit out"]);
    run(&["--arrive", "mm:64@10000,limit=0"], &["limit: 0 leaves no time at all: give at least 1 cycle"]);
    run(&["--arrive", "mm:64@10000,limit=30000"], &["the window ends at 40000: give a longer window or a shorter limit"]);
    run(&["--arrive", "mm:64@10000,priority=256"], &["a launch has priority 0 to 255"]);
    run(&["--arrive", "bfs@10000,priority=1"], &["--arrive `bfs@10000,priority=1`: unknown kernel `bfs`"]);
    mias(&with(&["run", "fwt:4096"], &["--transition", "preempt:dance"])).assert().code(2);
}

#[test]
fn a_preemptor_larger_than_an_sm_is_refused() {
    const EXIT: &str = "0020 ffffffff 0 EXIT 0 0 0";
    let large = header(1024).replace("-nregs = 32", "-nregs = 255") + &tb(&[&[EXIT][..]; 32]);
    let large = Trace::new(&large);
    let arrive = format!("{}@100,priority=1", large.list);
    refused(&with(&["run", "fwt:4096", &large.list], &["--arrive", &arrive, "--transition", "preempt"]), &["registers", "an SM of"]);
}

#[test]
fn plans_refuse_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("urgent.toml");
    let plan = |parameters: &str| {
        format!(
            "name = \"urgent\"\ndescription = \"x\"\n[[experiment]]\nname = \"one\"\ntitle = \"x\"\ngpu = \"rtx2060-accelsim\"\n\
             kernels = [\"fwt:4096\", \"mm:64\"]\npolicies = [\"left-over\"]\nconfigurations = false\n[experiment.parameters]\ncycles = 20_000\n{parameters}\n"
        )
    };
    for (parameters, part) in [
        ("transition = \"preempt:dance\"", "unknown value `preempt:dance`"),
        ("priority = 256", "256: a launch has priority 0 to 255"),
        ("limit = \"0\"", "limit: 0 leaves no time at all"),
        ("limit = \"5s\"", "`5s` is no time"),
        ("arrive = 10_000\nlimit = \"9000\"", "the window ends at 20000"),
        ("transition = \"ideal\"\nlimit = \"5us\"", "an ideal transition takes no time"),
    ] {
        fs::write(&path, plan(parameters)).expect("the plan");
        refused(&["evaluate", path.to_str().expect("UTF-8"), "--out", folder.path().join("out").to_str().expect("UTF-8")], &[part]);
    }
}

fn latency(run: &Value, kernel: usize) -> Value {
    run["launches"][kernel]["latency"].clone()
}

#[test]
fn results_say_when_an_urgent_kernel_had_its_room() {
    let command = ["run", "fwt:4096", "mm:64", "--policy", "left-over", "--arrive", URGENT];
    let preempt = json(&with(&command, &["--transition", "preempt"]));
    assert_eq!(preempt["provenance"]["options"]["transition"], "preempt:shieh");
    assert_eq!(preempt["provenance"]["options"]["priorities"], serde_json::json!([0, 1]));
    assert_eq!(preempt["provenance"]["options"]["latency_limits"], serde_json::json!([0, 3000]));
    let urgent = latency(&preempt, 1);
    assert_eq!((&urgent["priority"], &urgent["limit_cycles"]), (&1.into(), &3000.into()));
    let number = |field: &str| urgent[field].as_u64().unwrap_or_else(|| panic!("{field}: {urgent}"));
    assert!(number("first_tb_cycles") <= number("all_tbs_cycles") && number("all_tbs_cycles") <= number("end_cycles"), "{urgent}");
    // The deadline is the limit and what it takes alone: what the run alone says, but for where its buffers lie, which decides on rows of DRAM.
    let alone = json(&with(&["run", "mm:64", "--policy", "left-over"], &["--arrive", URGENT, "--transition", "preempt"]));
    let alone = latency(&alone, 0);
    let takes = alone["end_cycles"].as_u64().expect("it ends") - alone["first_tb_cycles"].as_u64().expect("it begins");
    assert!(number("deadline_cycles").abs_diff(3000 + takes) * 100 <= takes, "{urgent}, alone {takes}");
    assert_eq!(urgent["violated"], number("end_cycles") > number("deadline_cycles"));
    // What is not urgent has a row too, without a deadline.
    assert_eq!(latency(&preempt, 0)["deadline_cycles"], Value::Null);
    let text = printed(&with(&command, &["--transition", "preempt", "--explain"]));
    assert!(text.contains("first TB after") && text.contains("deadline kept"), "{text}");
}

#[test]
fn off_is_off() {
    let plain = json(&with(&["run", "fwt:4096", "mm:64"], &["--arrive", "mm:64@10000"]));
    let named = json(&with(&["run", "fwt:4096", "mm:64"], &["--arrive", "mm:64@10000,priority=0"]));
    assert_eq!(plain, named, "priority 0 is what every kernel has");
    assert!(plain["launches"][0].get("latency").is_none() && plain.get("preemptions").is_none());
    assert!(plain["provenance"]["options"].get("priorities").is_none());
}
