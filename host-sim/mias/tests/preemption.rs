//! Transitions with preemption, priorities and limits, on the command line and in plans.

use crate::support::{Trace, header, json, mias, printed, refused, tb};
use serde_json::Value;
use std::fs;

/// Two SMs, short windows: `fwt` fills them before `mm` arrives.
const SHORT: [&str; 8] = ["--gpu", "rtx2060-accelsim", "--cycles", "40000", "--set", "profile-cycles=2000", "--set", "latency=off"];

fn with<'a>(command: &[&'a str], options: &[&'a str]) -> Vec<&'a str> {
    [command, &SHORT, options].concat()
}

const URGENT: &str = "mm:64@10000,priority=1,limit=3000";

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let run = |options: &[&'static str], parts: &[&str]| refused(&with(&["run", "fwt:4096", "mm:64"], options), parts);
    run(
        &["--set", "sm.preemption.switch=stall"],
        &["`--set sm.preemption.switch` applies to preempted TBs, and the transition is `drain`", "add `--transition preempt`"],
    );
    run(
        &["--set", "sm.preemption.resume=same-sm", "--transition", "ideal"],
        &["`--set sm.preemption.resume`", "the transition is `ideal`"],
    );
    run(&["--arrive", "mm:64@10000,limit=3000", "--transition", "ideal"], &["limit", "use preemption, or leave the limit out"]);
    run(&["--arrive", "mm:64@10000,limit=0"], &["limit: 0 is less than one cycle: use at least 1 cycle"]);
    run(&["--arrive", "mm:64@10000,limit=30000"], &["the window at 40000: use a longer window or a shorter limit"]);
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
        ("priority = 256", "priority: 256 must be 0 to 255"),
        ("limit = \"0\"", "limit: 0 is less than one cycle"),
        ("limit = \"5s\"", "`5s` is not a time"),
        ("arrive = 10_000\nlimit = \"9000\"", "the window at 20000"),
        ("transition = \"ideal\"\nlimit = \"5us\"", "on an ideal transition, which takes no time"),
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
    // The deadline is the limit plus the time alone. The isolated run gives that time, except for
    // the position of its buffers, which affects DRAM rows.
    let alone = json(&with(&["run", "mm:64", "--policy", "left-over"], &["--arrive", URGENT, "--transition", "preempt"]));
    let alone = latency(&alone, 0);
    let takes = alone["end_cycles"].as_u64().expect("it ends") - alone["first_tb_cycles"].as_u64().expect("it begins");
    assert!(number("deadline_cycles").abs_diff(3000 + takes) * 100 <= takes, "{urgent}, alone {takes}");
    assert_eq!(urgent["violated"], number("end_cycles") > number("deadline_cycles"));
    // A kernel that is not urgent has a row too, without a deadline.
    assert_eq!(latency(&preempt, 0)["deadline_cycles"], Value::Null);
    let text = printed(&with(&command, &["--transition", "preempt", "--explain"]));
    assert!(text.contains("first TB after") && text.contains("deadline kept"), "{text}");
}

/// Returns the command of a run in which TBs are preempted by a scheme.
fn preempting<'a>(transition: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    let run = ["run", "mm:256", "fwt:16384", "--policy", "left-over", "--arrive", "fwt:16384@10000,priority=1,limit=800"];
    with(&run, &[&["--transition", transition], options].concat())
}

fn preemptions(run: &Value) -> Vec<Value> {
    run["preemptions"].as_array().expect("TBs are preempted").clone()
}

/// Flushed instructions do not count: a kernel's work is its issued instructions minus those, and
/// results report the number. Configurations cover kernels with quotas, here one.
#[test]
fn what_is_thrown_away_is_no_work() {
    let run = json(&preempting("preempt:flush", &[]));
    let flushed = preemptions(&run);
    let flushed = flushed.iter().filter(|tb| tb["technique"] == "flush" && tb["refused"].is_null() && tb["ended"].is_null());
    let lost: u64 = flushed.map(|tb| tb["warp_insts"].as_u64().expect("a count")).sum();
    let launch = &run["launches"][0];
    let thrown_away = |field: &str| launch["thrown_away"][field].as_u64().unwrap_or_else(|| panic!("{field} of {launch}"));
    assert!(lost > 0);
    // Every lane of a matrix product is active.
    assert_eq!((thrown_away("warp_insts"), thrown_away("thread_insts")), (lost, 32 * lost));
    let issued = |field: &str| launch[field].as_u64().expect("a count");
    let ipc = (issued("thread_insts") - 32 * lost) as f64 / 40_000.0;
    assert!((launch["ipc"].as_f64().expect("a number") - ipc).abs() < 1e-9, "{launch}");
    let compare = preempting("preempt:flush", &[]).into_iter().skip(1);
    let compare = json(&std::iter::once("compare").chain(compare).collect::<Vec<_>>());
    let kernel = &compare["results"][0]["kernels"][0];
    let share = lost as f64 / issued("warp_insts") as f64;
    assert!((kernel["thrown_away"].as_f64().expect("a share") - share).abs() < 1e-9, "{kernel}");
    assert_eq!(kernel["ipc"], launch["ipc"]);
    assert_eq!((&compare["oracle"]["stp"], compare["sweep"].as_array().map(Vec::len)), (&Value::Null, Some(0)));
}

/// The firmware's choice takes longer than the run: the output states this, with a remedy.
#[test]
fn who_had_no_tb_is_told_why() {
    let run = ["run", "mm:256", "fwt:16384", "--policy", "left-over", "--arrive", "fwt:16384@10000,priority=1"];
    let text = printed(&[&run[..], &["--gpu", "rtx2060-accelsim", "--cycles", "25000", "--transition", "preempt"]].concat());
    assert!(text.contains("fwt:16384 had no TB within") && text.contains("--set sm.preemption.selector={}"), "{text}");
    let text = printed(&preempting("preempt:shieh", &[]));
    assert!(text.contains("room after") && !text.contains("had no TB within"), "{text}");
}

/// The timeline has exactly the preempted TBs, with kernel, technique, expected and actual time.
#[test]
fn the_timeline_has_every_preemption() {
    const CORE_KHZ: f64 = 1_365_000.0;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("timeline.json");
    let mut techniques = Vec::new();
    for transition in ["preempt:shieh", "preempt:switch", "preempt:drain"] {
        let run = json(&preempting(transition, &["--timeline", path.to_str().expect("UTF-8")]));
        let timeline: Value = serde_json::from_str(&fs::read_to_string(&path).expect("written")).expect("JSON");
        let events = timeline["traceEvents"].as_array().expect("events");
        let of = |phase: &str| events.iter().filter(|event| event["cat"] == "preemption" && event["ph"] == phase).collect::<Vec<_>>();
        let (begins, ends, all) = (of("b"), of("e"), preemptions(&run));
        assert_eq!((begins.len(), ends.len()), (all.len(), all.len()), "{transition}");
        for (id, ((begin, end), tb)) in begins.iter().zip(ends).zip(&all).enumerate() {
            let number = |field: &str| tb[field].as_u64();
            let commanded = number("commanded_cycle").expect("a cycle");
            let took = number("left_cycle").map(|left| left - commanded);
            let kernel = &run["launches"][number("launch").expect("a launch") as usize]["kernel"];
            assert_eq!(kernel, "mm:256", "nobody else is in the way");
            let args = &begin["args"];
            let shown = ["kernel", "tb", "technique", "cycle", "estimated_cycles", "cycles"].map(|field| args[field].clone());
            // The largest value that a command can hold stands for an unknown one.
            let known = number("estimated_cycles").filter(|cycles| *cycles < (1 << 24) - 1);
            let expected =
                [kernel.clone(), tb["tb"].clone(), tb["technique"].clone(), commanded.into(), known.map_or(Value::Null, Value::from)];
            assert_eq!(shown[..5], expected, "{transition}: {tb}");
            assert_eq!(shown[5].as_u64(), took, "{transition}: {tb}");
            for event in [begin, &end] {
                assert_eq!((event["id"].as_u64(), &event["tid"]), (Some(id as u64), &tb["sm"]), "{transition}: {tb}");
            }
            // From the command until the place was free, or the run had ended.
            let until = number("left_cycle").unwrap_or(40_000);
            for (event, cycle) in [(*begin, commanded), (end, until)] {
                let cycles = event["ts"].as_f64().expect("microseconds") * CORE_KHZ / 1000.0;
                assert!((cycles - cycle as f64).abs() < 0.01, "{transition}: {cycles} for {cycle}");
            }
            techniques.push(tb["technique"].as_str().expect("a name").to_owned());
        }
    }
    for technique in ["drain", "flush", "switch"] {
        assert!(techniques.iter().any(|one| one == technique), "nobody is to {technique}, and the test shows nothing of it");
    }
}

/// Line of the table of choices: cycle, SM, limit, whether it was chosen, position, victims and
/// their techniques, latency, overhead.
#[derive(Debug)]
struct Set {
    choice: u64,
    at: (u64, u64),
    limit: u64,
    chosen: bool,
    position: u64,
    victims: Vec<(u64, String)>,
    cost: (u64, u64),
}

fn sets(text: &str) -> Vec<Set> {
    let lines = text.lines().skip_while(|line| !line.starts_with("choice ")).skip(1);
    let lines = lines.take_while(|line| !line.starts_with("A choice selects a set of victims"));
    let set = |line: &str| {
        // Columns are separated by at least two spaces.
        let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        let [choice, cycle, sm, _, limit, position, victims, latency, overhead] = cells[..] else { panic!("nine cells: {line}") };
        let number = |text: &str| text.replace(',', "").parse::<u64>().unwrap_or_else(|_| panic!("{text}: {line}"));
        let victim = |text: &str| {
            let (place, how) = text.trim().split_once(' ').expect("place and technique");
            (number(place), how.to_owned())
        };
        Set {
            choice: number(choice),
            at: (number(cycle), number(sm)),
            limit: number(limit),
            chosen: position.starts_with("> "),
            position: number(position.trim_start_matches("> ")),
            victims: victims.split(',').map(victim).collect(),
            cost: (number(latency), number(overhead)),
        }
    };
    lines.map(set).collect()
}

/// Each choice lists its candidates and the chosen one. By algorithm 1 of Shieh 2016 it has the
/// lowest cost among those that meet the limit. The preempted TBs are those of the chosen sets.
#[test]
fn the_explanation_has_candidates_and_costs() {
    let text = printed(&preempting("preempt:shieh", &["--explain"]));
    let sets = sets(&text);
    let choices: Vec<&[Set]> = sets.chunk_by(|one, next| one.choice == next.choice).collect();
    assert!(choices.len() > 1 && choices.iter().any(|choice| choice.len() > 1), "{text}");
    let mut leave = Vec::new();
    for choice in choices {
        let [chosen] = choice.iter().filter(|set| set.chosen).collect::<Vec<_>>()[..] else { panic!("one is chosen: {choice:?}") };
        assert_eq!(chosen.limit, 800);
        assert!(choice.windows(2).all(|two| two[0].position < two[1].position), "in the order of positions: {choice:?}");
        let meets = |set: &&Set| set.cost.0 <= set.limit;
        let least = choice.iter().filter(meets).map(|set| set.cost.1).min();
        match least {
            Some(overhead) => assert!(meets(&chosen) && chosen.cost.1 == overhead, "{choice:?}"),
            None => assert_eq!(Some(chosen.cost.0), choice.iter().map(|set| set.cost.0).min(), "{choice:?}"),
        }
        leave.extend(chosen.victims.iter().map(|(_, how)| (chosen.at, how.clone())));
    }
    let commands = preemptions(&json(&preempting("preempt:shieh", &[])));
    let number = |tb: &Value, field: &str| tb[field].as_u64().expect("a number");
    let mut commanded: Vec<((u64, u64), String)> = (commands.iter())
        .map(|tb| ((number(tb, "commanded_cycle"), number(tb, "sm")), tb["technique"].as_str().expect("a name").to_owned()))
        .collect();
    leave.sort();
    commanded.sort();
    assert_eq!(leave, commanded);
}

#[test]
fn off_is_off() {
    let plain = json(&with(&["run", "fwt:4096", "mm:64"], &["--arrive", "mm:64@10000"]));
    let named = json(&with(&["run", "fwt:4096", "mm:64"], &["--arrive", "mm:64@10000,priority=0"]));
    assert_eq!(plain, named, "priority 0 is what every kernel has");
    assert!(plain["launches"][0].get("latency").is_none() && plain.get("preemptions").is_none());
    assert!(plain["provenance"]["options"].get("priorities").is_none());
}

/// A report on requests has the distribution of techniques, registers held before and during
/// preemption, and storage. The numbers of its figures are those of the results.
#[test]
fn a_report_on_requests_shows_techniques_registers_and_storage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let plan = "name = \"urgent\"\ndescription = \"x\"\n[[experiment]]\nname = \"one\"\ntitle = \"Requests\"\ngpu = \"shieh16-lines\"\n\
        kernels = [\"mm:128\", \"fwt:65536\", \"preempt:4032\"]\ngroups = [[\"mm:128\", \"preempt:4032\"], [\"fwt:65536\", \"preempt:4032\"]]\n\
        policies = [\"left-over\"]\nconfigurations = false\n\
        requests = { count = 3, schemes = [\"switch\", \"flush\", \"shieh\"], limits-ns = [500, 3_000] }\n\
        [experiment.parameters]\ncycles = 20_000\nlatency = \"off\"\n[experiment.gpu-settings]\nsm.count = 2\nlaunch.latency_cycles = 1\nsm.preemption.switch = \"stall\"\n";
    fs::write(path("urgent.toml"), plan).expect("the plan");
    mias(&["evaluate", &path("urgent.toml"), "--out", &path("out")]).assert().success();
    let results: Value = serde_json::from_str(&fs::read_to_string(path("out/results.json")).expect("results")).expect("JSON");
    let rows = results["studies"][0]["requests"].as_array().expect("rows").clone();
    let all: Vec<&Value> = rows.iter().filter(|row| row["kernel"] == "all").collect();
    assert_eq!(all.len(), 3 * 2, "a row for each scheme and limit");
    let figure = |id: &str| {
        let text = printed(&["report", &path("out"), "--figure", id, "--format", "csv"]);
        let lines: Vec<Vec<String>> = text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
        assert!(lines.len() > 1, "{id}: {text}");
        lines
    };
    // Fractions of victims, the same as the counts.
    let mut shares = Vec::new();
    for row in &all {
        let victims: Vec<f64> = row["victims"].as_array().expect("three").iter().map(|n| n.as_f64().expect("a count")).collect();
        let sum: f64 = victims.iter().sum();
        if sum > 0.0 {
            shares.extend(victims.iter().map(|victims| victims / sum));
        }
    }
    assert!(shares.iter().filter(|share| **share > 0.0).count() > 3, "{shares:?}");
    let shown: Vec<f64> = figure("4.5c")[1..].iter().map(|line| line.last().expect("a cell").parse().expect("a share")).collect();
    assert_eq!(shown.len(), shares.len(), "{shown:?}");
    for (shown, share) in shown.iter().zip(&shares) {
        assert!((shown - share).abs() < 0.006 || (shown / 100.0 - share).abs() < 0.006, "{shown} for {share}");
    }
    // Registers before a request: a kernel fills as many as it can, under any scheme.
    let before: Vec<f64> = rows.iter().map(|row| row["registers_before"].as_f64().expect("a share")).collect();
    assert!(before.iter().all(|share| (0.05..=1.0).contains(share)), "{before:?}");
    assert_eq!(figure("4.4 (before)")[1..].len(), 3, "two kernels and their mean");
    let page = fs::read_to_string(path("out/report.html")).expect("the report");
    for part in ["What preemption stores", "candidate victim sets", "Techniques", "whiskers are intervals of 95 %"] {
        assert!(page.contains(part), "{part}");
    }
    // The paper's numbers do not apply to other kernels.
    assert!(!page.contains("missed, paper") && !page.contains("diamonds"));
    // The same numbers, one per line.
    let table = fs::read_to_string(path("out/results.csv")).expect("the table");
    let of = |quantity: &str| {
        let lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let of = lines.filter(|cells| cells.contains(&"requests") && cells[cells.len() - 2] == quantity);
        of.map(|cells| cells.last().and_then(|value| value.parse::<f64>().ok()).expect("a number")).collect::<Vec<_>>()
    };
    let late: Vec<f64> = rows.iter().map(|row| row["late"].as_f64().expect("a share")).collect();
    assert_eq!(of("late"), late);
    let (low, high) = (of("violations_low"), of("violations_high"));
    assert_eq!(low.len(), rows.len());
    for ((low, high), share) in low.iter().zip(high).zip(of("violations")) {
        assert!((0.0..=share).contains(low) && (share..=1.0).contains(&high), "{low} {share} {high}");
    }
}
