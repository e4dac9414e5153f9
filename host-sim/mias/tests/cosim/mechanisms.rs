//! Co-simulation of more policies, mechanisms and recordings.

use crate::support::{json, refused};
use crate::{CORES, URGENT, generated, with};

/// The remaining policies once each, in turn on the three cores.
#[test]
fn every_other_policy_is_the_same_on_one_core() {
    let policies = [
        "warped-slicer",
        "smk",
        "coordinated",
        "mias-stp",
        "mias-guard",
        "maestro",
        "warped-slicer+unscaled",
        "warped-slicer+sum",
        "mias-roofline",
        "mias-roofline+stp",
        "mias-duel",
    ];
    for (policy, core) in policies.into_iter().zip(CORES.into_iter().cycle()) {
        let args = ["run", "mm:128", "fwt:65536", "--policy", policy, "--cycles", "50000", "--set", "profile-cycles=8000"];
        assert_eq!(with(&args, core), with(&args, "native"), "{policy} on {core}");
    }
}

#[test]
fn completions_and_late_launches_are_the_same() {
    let args = [
        "run",
        "mm:128",
        "fwt:65536",
        "bopt:60,steps=512",
        "--until",
        "done",
        "--arrive",
        "fwt:65536@9000",
        "--arrive",
        "bopt:60,steps=512@30000",
    ];
    let args = [&args[..], &["--set", "profile-cycles=4000", "--policy", "mias-ipc"]].concat();
    assert_eq!(with(&args, "qemu"), with(&args, "native"));
}

/// A kernel that arrives during a decision waits for its end.
#[test]
fn a_launch_during_a_decision_is_the_same() {
    let args = ["run", "mm:128", "fwt:65536", "--cycles", "50000", "--set", "profile-cycles=8000", "--policy", "mias-linear"];
    for latency in ["worst", "per-metric"] {
        let assigned = format!("latency={latency}");
        let args = [&args[..], &["--set", &assigned]].concat();
        let report: serde_json::Value = serde_json::from_str(&with(&args, "native")).expect("JSON");
        let number = |value: &serde_json::Value| value.as_u64().expect("a number");
        let (decided, cycles) = (number(&report["decision"]["cycle"]), number(&report["decision_latency"]["cycles"]));
        assert!(cycles > 2, "{report}");
        let arrival = format!("bopt:60,steps=512@{}", decided + cycles / 2);
        let args = [&args[..], &["bopt:60,steps=512", "--arrive", &arrival]].concat();
        let native = with(&args, "native");
        for core in CORES {
            assert_eq!(with(&args, core), native, "{latency} on {core}");
        }
    }
}

/// The whole comparison, including the oracle.
#[test]
fn a_comparison_is_the_same() {
    let args =
        ["compare", "mm:128", "fwt:65536", "--policy", "spatial,mias-ipc,mias-linear", "--cycles", "30000", "--set", "profile-cycles=5000"];
    assert_eq!(with(&args, "qemu"), with(&args, "native"));
}

/// MIAS changes its configuration by preemption, and the time of a selection is the same.
#[test]
fn a_transition_that_preempts_is_the_same() {
    let args = ["run", "mm:128", "fwt:65536", "--policy", "mias-ipc", "--cycles", "50000", "--set", "profile-cycles=8000"];
    let args = [&args[..], &["--arrive", "fwt:65536@5000", "--transition", "preempt:flush"]].concat();
    for latency in ["off", "worst"] {
        let assigned = format!("latency={latency}");
        let args = [&args[..], &["--set", &assigned]].concat();
        assert_eq!(with(&args, "qemu"), with(&args, "native"), "{latency}");
    }
}

/// The search for SMs, with SMs drained or preempted before reassignment, in turn on the three
/// cores; SMs are stalled and gated alike.
#[test]
fn searches_are_the_same() {
    let policies = ["cd-search+power", "maestro+search", "fair-share+model", "mias-trial"];
    for (at, (policy, core)) in policies.into_iter().zip(CORES.into_iter().cycle()).enumerate() {
        let transition = if at % 2 == 0 { "preempt:switch" } else { "drain" };
        let args = ["run", "fwt:65536", "blk:65536", "--gpu", "zhao18", "--policy", policy, "--set", "search-cycles=2000"];
        let args = [&args[..], &["--cycles", "60000", "--transition", transition]].concat();
        let native = with(&args, "native");
        let report: serde_json::Value = serde_json::from_str(&native).expect("JSON");
        assert!(report["search"]["windows"].as_u64().is_some_and(|windows| windows > 0), "{policy} measures nothing: {}", report["search"]);
        assert_eq!(with(&args, core), native, "{policy} on {core}");
    }
    // The default image would fall back to Spatial: it is refused before anything runs.
    let image = mias_lab::cosim::Image::built_for(mias_lab::cosim::Core::CortexM4, mias_lab::cosim::Parts::default());
    let image = image.expect("`cargo xtask image` builds it").file;
    let args = ["run", "fwt:65536", "blk:65536", "--gpu", "zhao18", "--policy", "cd-search", "--firmware"];
    let firmware = format!("qemu:{}", image.to_str().expect("UTF-8"));
    let args = [&args[..], &[&firmware]].concat();
    refused(&args, &["mias-firmware-remote is built without the search for SMs, and the policy searches", "--features preempt,search"]);
}

/// A recording of a search selects images with search, on every core.
#[test]
fn recorded_searches_are_the_same_on_every_core() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.mrec").to_str().expect("UTF-8").to_owned();
    let run =
        ["run", "fwt:65536", "blk:65536", "--gpu", "zhao18", "--policy", "cd-search", "--set", "search-cycles=2000", "--cycles", "60000"];
    with(&[&run[..], &["--record", &file]].concat(), "native");
    let report = json(&["firmware", "replay", &file]);
    let targets = report["targets"].as_array().expect("targets");
    assert!(targets.len() == 4 && targets.iter().all(|target| target["verdict"] == "same"), "{report}");
}

/// A recording of a run with preemption selects images with preemption, and the default image is
/// refused.
#[test]
fn recorded_preemption_is_the_same_on_every_core() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.mrec").to_str().expect("UTF-8").to_owned();
    let run = [&URGENT[..], &["--transition", "preempt", "--record", &file]].concat();
    for made_by in ["native", "qemu-riscv"] {
        with(&run, made_by);
        let report = json(&["firmware", "replay", &file]);
        let targets = report["targets"].as_array().expect("targets");
        assert!(targets.len() == 4 && targets.iter().all(|target| target["verdict"] == "same"), "{report}");
    }
    let image = mias_lab::cosim::Image::built_for(mias_lab::cosim::Core::CortexM4, mias_lab::cosim::Parts::default())
        .expect("`cargo xtask image` builds it");
    let image = image.file.to_str().expect("UTF-8");
    refused(&["firmware", "replay", &file, "--on", "m4", "--image", image], &["is built without preemption", "--features preempt"]);
}

/// Waiting launches are handled alike by a firmware with preemption and by images without.
#[test]
fn launches_that_wait_are_the_same_on_every_core() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = generated(folder.path(), &["--seed", "3", "--cases", "30", "--sms", "8", "--kernels", "8"]);
    let report = json(&["firmware", "replay", &recording]);
    assert!(report["targets"].as_array().is_some_and(|targets| targets.iter().all(|target| target["verdict"] == "same")), "{report}");
}

/// Each core repeats the firmware's accesses under the GPU model, and vice versa.
#[test]
fn recorded_runs_are_the_same_on_every_core() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.mrec").to_str().expect("UTF-8").to_owned();
    let run =
        ["run", "mm:128", "fwt:65536", "--policy", "mias-linear", "--cycles", "50000", "--set", "profile-cycles=8000", "--record", &file];
    for made_by in ["native", "qemu-m0"] {
        with(&run, made_by);
        let report = json(&["firmware", "replay", &file]);
        assert_eq!(report["recorded"]["decisions"], 1, "{made_by}");
        assert!(report["targets"].as_array().is_some_and(|targets| targets.iter().all(|target| target["verdict"] == "same")), "{report}");
    }
}

/// Extra TBs under control of the firmware, on each core in turn: in no time and with its time
/// charged, also with limits of memory instructions. The times of its reads, their findings and the
/// results are the same.
#[test]
fn control_of_extra_tbs_is_the_same() {
    let run = [
        "run",
        "fwt:65536",
        "blk:65536",
        "--gpu",
        "lin18",
        "--set",
        "sm.oversubscription.mechanism=duet",
        "--set",
        "sm.oversubscription.controller=firmware",
    ];
    let run = [&run[..], &["--cycles", "80000", "--set", "profile-cycles=8000"]].concat();
    let ways = [
        (&["--policy", "left-over", "--set", "latency=off"][..], "qemu"),
        (&["--policy", "left-over"], "qemu-m0"),
        (
            &["--policy", "mias-ipc", "--set", "sm.memory_issue.in_flight=firmware", "--set", "sm.memory_issue.interval_cycles=10000"],
            "qemu-riscv",
        ),
    ];
    for (options, core) in ways {
        let args = [&run[..], options].concat();
        let native = with(&args, "native");
        let report: serde_json::Value = serde_json::from_str(&native).expect("JSON");
        let decisions = |class: &str| -> u64 {
            let kernels = report["oversubscription"].as_array().expect("kernels").iter();
            kernels.map(|kernel| kernel["decisions"][class].as_u64().expect("a number")).sum()
        };
        assert!(["underutilized", "moderate", "saturated"].map(decisions).iter().sum::<u64>() >= 4, "{report}");
        let charged = !options.contains(&"latency=off");
        assert_eq!(report["decision_latency"]["oversubscription"]["looks"].as_u64().is_some_and(|looks| looks >= 2), charged, "{report}");
        assert_eq!(with(&args, core), native, "{options:?} on {core}");
    }
    // The default image would allow none: it is refused before anything runs, and the message names
    // the required image.
    let image = mias_lab::cosim::Image::built_for(mias_lab::cosim::Core::CortexM4, mias_lab::cosim::Parts::default());
    let image = image.expect("`cargo xtask image` builds it").file;
    let firmware = format!("qemu:{}", image.to_str().expect("UTF-8"));
    let args = [&run[..], &["--firmware", &firmware]].concat();
    refused(
        &args,
        &["is built without control of extra TBs, and the firmware controls them", "--features preempt,search,oversubscription"],
    );
}

/// A recording of the control of extra TBs selects images with that control, on every core.
#[test]
fn recorded_control_of_extra_tbs_is_the_same_on_every_core() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.mrec").to_str().expect("UTF-8").to_owned();
    let run = [
        "run",
        "fwt:65536",
        "--gpu",
        "lin18",
        "--policy",
        "left-over",
        "--set",
        "sm.oversubscription.mechanism=duet",
        "--set",
        "sm.oversubscription.controller=firmware",
    ];
    with(&[&run[..], &["--cycles", "60000", "--record", &file]].concat(), "native");
    let report = json(&["firmware", "replay", &file]);
    let targets = report["targets"].as_array().expect("targets");
    assert!(targets.len() == 4 && targets.iter().all(|target| target["verdict"] == "same"), "{report}");
}
