//! Extra TBs in the output of `run`: the timeline, the counts by SM and the energy add up to the
//! counts of the report.

use crate::support::{json, printed};
use serde_json::Value;
use std::collections::BTreeMap;

/// HG on two of 16 SMs: 8 TBs of 12,288 bytes fit each.
const RUN: [&str; 10] = ["run", "hg", "--gpu", "lin18", "--policy", "left-over", "--set", "sms=2", "--cycles", "15000"];
const EXTRA: [&str; 4] = ["--set", "sm.oversubscription.mechanism=duet", "--set", "sm.oversubscription.extra=4"];

/// Three warps' state of 128 bytes and the shared memory of a TB, which lie in registers while they
/// wait: 99 cycles of 128 bytes.
const BYTES: u64 = 12_288 + 3 * 128;

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_else(|| panic!("{field} of {value}"))
}

#[test]
fn the_timeline_has_every_switch() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.json");
    let run = json(&[&RUN[..], &EXTRA, &["--timeline", path.to_str().expect("UTF-8")]].concat());
    let timeline: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("written")).expect("JSON");
    let events = timeline["traceEvents"].as_array().expect("events");
    let of = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase && event["pid"] == 5);
    let (mut free_from, mut counts) = (BTreeMap::new(), BTreeMap::<u64, [u64; 3]>::new());
    for event in of("X") {
        let (sm, args) = (number(event, "tid"), &event["args"]);
        let both = ["out", "in"].map(|way| !args[way].is_null());
        let cycles = both.iter().filter(|moves| **moves).count() as u64 * BYTES.div_ceil(128);
        let context = if both[0] { &args["out"] } else { &args["in"] };
        assert_eq!((number(context, "bytes"), number(args, "cycles"), &args["kernel"]), (BYTES, cycles, &"hg".into()), "{event}");
        assert_eq!(context[if both[0] { "to" } else { "from" }], serde_json::json!(["registers"]));
        let free: &mut u64 = free_from.entry(sm).or_default();
        assert!(number(args, "cycle") >= *free, "{event} before cycle {free}");
        *free = number(args, "cycle") + cycles;
        let counts = counts.entry(sm).or_default();
        *counts = [counts[0] + u64::from(both[0]), counts[1] + u64::from(both[1]), counts[2] + cycles];
    }
    let sms = run["sm_oversubscription"].as_array().expect("SMs");
    assert_eq!(sms.len(), 16);
    for sm in sms {
        let told = counts.get(&number(sm, "sm")).copied().unwrap_or_default();
        assert_eq!(["switched_out", "switched_in", "moving_cycles"].map(|field| number(sm, field)), told, "{sm}");
    }
    let kernel = &run["oversubscription"][0];
    for field in ["extra_tbs", "switched_out", "switched_in", "moving_cycles", "absent_warp_cycles"] {
        assert_eq!(number(kernel, field), sms.iter().map(|sm| number(sm, field)).sum::<u64>(), "{field}");
    }
    assert!(number(kernel, "switched_out") > 0 && number(kernel, "absent_warp_cycles") > 0, "{kernel}");
    // 4 extra TBs of three warps, and one TB that is exchanged with another: no more are absent.
    let held = of("C").map(|event| (number(&event["args"], "extra TBs"), number(&event["args"], "warps absent")));
    let most = held.max().expect("extra TBs");
    assert!(most.0 == 4 && (1..=15).contains(&most.1), "{most:?}");
    // Both ways 96 lanes and 96 passes on one side, and 3,168 lanes on the other: `lin18` in
    // femtojoules.
    let (reads, writes, passes) = (7_267, 5_986, 96 * 2_119_463);
    let out = number(kernel, "switched_out") * (96 * reads + passes + 3_168 * writes);
    let fj = out + number(kernel, "switched_in") * (96 * writes + passes + 3_168 * reads);
    let joules = run["launches"][0]["energy"]["parts_joules"]["contexts"].as_f64().expect("a part of its own");
    assert!((joules / (fj as f64 * 1e-15) - 1.0).abs() < 1e-9, "{joules} J, and {fj} fJ");
}

/// Without extra TBs, no output mentions them.
#[test]
fn nothing_is_told_where_nothing_is_switched() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.json");
    let run = json(&[&RUN[..], &["--timeline", path.to_str().expect("UTF-8")]].concat());
    assert!(run.get("oversubscription").is_none() && run.get("sm_oversubscription").is_none(), "{run}");
    assert!(run["launches"][0]["energy"]["parts_joules"].get("contexts").is_none());
    assert!(!std::fs::read_to_string(&path).expect("written").contains("oversubscription"));
    let text = printed(&[&RUN[..], &EXTRA].concat());
    assert!(text.contains("by SM: extra TBs 0 to ") && text.contains("warps away"), "{text}");
}

/// An urgent kernel arrives while an SM has extra TBs. They leave together with the chosen victims,
/// and are reported as such, without an estimate.
#[test]
fn extra_tbs_leave_for_an_urgent_kernel() {
    let urgent = ["sr1:64", "--arrive", "sr1:64@8000,priority=1", "--transition", "preempt:switch", "--set", "latency=off"];
    let run = json(&[&RUN[..8], &["--cycles", "30000"], &EXTRA, &urgent].concat());
    let left = run["preemptions"].as_array().expect("TBs are preempted");
    // With eight TBs of 12,288 bytes, none of sr1's 6,144 fits into 98 KB, and neither does a
    // ninth. If more leave an SM at once, some are extra ones.
    let mut at_once = BTreeMap::<[u64; 2], usize>::new();
    for tb in left {
        *at_once.entry(["sm", "commanded_cycle"].map(|field| number(tb, field))).or_default() += 1;
    }
    assert!(at_once.values().any(|&many| many > 8), "{at_once:?}");
    assert!(left.iter().all(|tb| tb["technique"] == "switch" && tb["refused"].is_null()), "{left:?}");
    assert!(number(&run["launches"][1], "tbs_completed") > 0, "{run}");
}
