//! `--timeline` and `--vcd`, parsed again: both agree with the report.

use crate::support::{printed, refused};
use std::collections::BTreeMap;
use std::path::Path;

const CORE_KHZ: u64 = 1_365_000;
const PHASES: [&str; 7] = ["idle", "partition", "transition", "profile", "decide", "broadcast", "steady"];

struct Run {
    report: serde_json::Value,
    timeline: serde_json::Value,
    vcd: Vec<vcd::Command>,
}

fn run(folder: &Path) -> Run {
    let (timeline, vcd) = (folder.join("t.json"), folder.join("v.vcd"));
    let args =
        ["run", "mm:256", "fwt:65536", "--policy", "mias-ipc", "--cycles", "60000", "--set", "profile-cycles=10000", "--format", "json"];
    let files = ["--timeline", timeline.to_str().unwrap(), "--vcd", vcd.to_str().unwrap()];
    let report = serde_json::from_str(&printed(&[&args[..], &files].concat())).unwrap();
    let timeline = serde_json::from_str(&std::fs::read_to_string(timeline).unwrap()).unwrap();
    let vcd = std::fs::File::open(vcd).unwrap();
    let mut parser = vcd::Parser::new(std::io::BufReader::new(vcd));
    parser.parse_header().unwrap();
    Run { report, timeline, vcd: parser.map(Result::unwrap).collect() }
}

/// Returns the TBs of all kernels that were issued and still ran at the end.
fn running(report: &serde_json::Value) -> u64 {
    let sum = |key: &str| report["launches"].as_array().unwrap().iter().map(|launch| launch[key].as_u64().unwrap()).sum::<u64>();
    sum("tbs_issued") - sum("tbs_completed")
}

#[test]
fn the_timeline_agrees_with_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let Run { report, timeline, .. } = run(folder.path());
    let events = timeline["traceEvents"].as_array().unwrap();
    let of = |ph: &str, pid: u64| events.iter().filter(move |e| e["ph"] == *ph && e["pid"] == pid).collect::<Vec<_>>();

    // Phases are contiguous, in the order of the state machine, up to the end of the run.
    let phases = of("X", 0);
    let names: Vec<&str> = phases.iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(names, PHASES[1..], "from the first launch on");
    let number = |event: &serde_json::Value, key: &str| event["args"][key].as_u64().unwrap();
    for pair in phases.windows(2) {
        assert_eq!(number(pair[0], "cycle") + number(pair[0], "cycles"), number(pair[1], "cycle"));
    }
    let last = phases.last().unwrap();
    assert_eq!(number(last, "cycle") + number(last, "cycles"), 60_000);
    assert_eq!(number(phases[2], "cycles"), report["profile_cycles"].as_u64().unwrap());
    assert_eq!((names[3], number(phases[3], "cycles")), ("decide", report["decision_latency"]["cycles"].as_u64().unwrap()));

    // Counters end with the report's values.
    let mut last: BTreeMap<&str, u64> = BTreeMap::new();
    for event in of("C", 1) {
        let tbs = event["args"].as_object().unwrap().values().map(|v| v.as_u64().unwrap()).sum();
        last.insert(event["name"].as_str().unwrap(), tbs);
    }
    assert_eq!((last.len(), last.values().sum::<u64>()), (30, running(&report)));
    let kernels: Vec<&str> = of("X", 2).iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(kernels, ["mm:256", "fwt:65536"]);
}

/// Power times time is the energy of the report, for the chip and by part; 60 intervals of a
/// thousand cycles.
#[test]
fn power_over_time_adds_up_to_the_energy() {
    let folder = tempfile::tempdir().unwrap();
    let Run { report, timeline, .. } = run(folder.path());
    let events = timeline["traceEvents"].as_array().unwrap();
    let sum = |name: &str| {
        let of = events.iter().filter(|event| event["ph"] == "C" && event["pid"] == 4 && event["name"] == *name);
        let watts = of.map(|event| event["args"].as_object().unwrap().values().map(|watts| watts.as_f64().unwrap()).sum::<f64>());
        let watts: Vec<f64> = watts.collect();
        assert_eq!(watts.len(), 60, "{name}");
        watts.iter().sum::<f64>() * 1_000.0 / (CORE_KHZ as f64 * 1e3)
    };
    let total = report["energy"]["total_joules"].as_f64().unwrap();
    for name in ["power, W", "parts of it, W"] {
        assert!((sum(name) / total - 1.0).abs() < 1e-9, "{name}: {} of {total}", sum(name));
    }
    // During the launch latency there is only constant power, and all SMs are empty.
    let first = events.iter().find(|event| event["name"] == "power, W").unwrap();
    let gpu = mias_lab::gpus::load("rtx2060").unwrap();
    let power = gpu.energy.unwrap();
    let idle = f64::from(power.constant_uw) + f64::from(gpu.sm.count) * f64::from(power.sm_idle_uw);
    assert!((first["args"]["chip"].as_f64().unwrap() - idle * 1e-6).abs() < 1e-6, "{first}");
}

#[test]
fn the_dump_agrees_with_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let Run { report, vcd, .. } = run(folder.path());
    let header =
        vcd::Parser::new(std::io::BufReader::new(std::fs::File::open(folder.path().join("v.vcd")).unwrap())).parse_header().unwrap();
    let id = |path: &[&str]| header.find_var(path).unwrap().code;
    let (read, write, phase) = (id(&["scheduler", "bus", "read"]), id(&["scheduler", "bus", "write"]), id(&["scheduler", "phase"]));
    let residents: Vec<vcd::IdCode> = (0..30)
        .flat_map(|sm| (0..2).map(move |slot| (sm, slot)))
        .map(|(sm, slot)| id(&["scheduler", &format!("sm{sm}"), &format!("resident{slot}")]))
        .collect();

    let (mut now, mut strobes, mut phases) = (0, [0; 2], Vec::new());
    let mut values: BTreeMap<vcd::IdCode, u64> = BTreeMap::new();
    for command in vcd {
        match command {
            vcd::Command::Timestamp(time) => {
                assert!(time >= now, "{time} after {now}");
                now = time;
            }
            vcd::Command::ChangeScalar(code, vcd::Value::V1) => {
                strobes[0] += u32::from(code == read);
                strobes[1] += u32::from(code == write);
            }
            vcd::Command::ChangeVector(code, bits) => {
                values.insert(code, bits.iter().fold(0, |value, bit| value << 1 | u64::from(bit == vcd::Value::V1)));
            }
            vcd::Command::ChangeString(code, name) if code == phase => phases.push(name),
            _ => {}
        }
    }
    assert_eq!(u128::from(now), 60_000 * 1_000_000_000_000 / u128::from(CORE_KHZ));
    assert_eq!(phases, PHASES);
    // At least the counters of every SM were read, and a quota for each kernel was written.
    assert!(strobes[0] > 30 && strobes[1] > 2, "{strobes:?}");
    assert_eq!(residents.iter().map(|code| values[code]).sum::<u64>(), running(&report));
}

#[test]
fn drawings_that_cannot_be_written_are_refused_first() {
    refused(&["run", "mm", "--set", "power-cycles=500"], &["add --timeline FILE"]);
    refused(&["run", "mm", "--vcd", "t.x", "--timeline", "t.x"], &["t.x: two outputs share this file"]);
    refused(&["run", "mm", "--cycles", "1000000000000", "--timeline", "/no/such/folder/t.json"], &["cannot write /no/such/folder/t.json"]);
}
