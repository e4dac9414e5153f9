//! The image in QEMU decides as the firmware in this process does: every register access, every statistic. `cargo xtask test`
//! builds the images and runs this; by itself: `cargo xtask image && cargo test -p mias --test cosim`.

mod support;

use crate::support::{json, mias, printed, refused};
use predicates::prelude::*;
use predicates::str::contains;
use std::path::Path;

const CORES: [&str; 3] = ["qemu", "qemu-m0", "qemu-riscv"];

/// In this process on one thread, beside an image on several: that makes no difference either.
fn with(args: &[&str], firmware: &str) -> String {
    let threads = if firmware == "native" { "1" } else { "4" };
    printed(&[args, &["--format", "json", "--firmware", firmware, "--threads", threads]].concat())
}

/// Small kernels, so that a decision, a completion and a second scheduling fit a short run.
#[test]
fn every_core_gives_the_native_report() {
    for policy in ["left-over", "spatial", "mias-ipc", "mias-ipm-ipc", "mias-factor", "mias-linear"] {
        let args = ["run", "mm:128", "fwt:65536", "--policy", policy, "--cycles", "50000", "--set", "profile-cycles=8000"];
        let native = with(&args, "native");
        for core in CORES {
            assert_eq!(with(&args, core), native, "{policy} on {core}");
        }
    }
}

/// The others once each, in turn on the three cores.
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

/// A kernel that arrives while the firmware decides waits for the end of the decision.
#[test]
fn a_launch_during_a_decision_is_the_same() {
    let args = ["run", "mm:128", "fwt:65536", "--cycles", "50000", "--set", "profile-cycles=8000", "--policy", "mias-linear"];
    for latency in ["worst", "per-metric"] {
        let charged = format!("latency={latency}");
        let args = [&args[..], &["--set", &charged]].concat();
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

/// The comparison of the whole, oracle included.
#[test]
fn a_comparison_is_the_same() {
    let args =
        ["compare", "mm:128", "fwt:65536", "--policy", "spatial,mias-ipc,mias-linear", "--cycles", "30000", "--set", "profile-cycles=5000"];
    assert_eq!(with(&args, "qemu"), with(&args, "native"));
}

/// The image decides and nobody else: one that chooses the worst configuration ends with another one. The native twin has no
/// account of that decision.
#[test]
fn an_inverted_comparison_changes_the_result() {
    let image = std::env::var("MIAS_INVERTED_IMAGE").expect("`cargo xtask test` builds it and says where it is");
    let args = ["run", "mm:128", "fwt:65536", "--policy", "mias-ipc", "--cycles", "50000", "--set", "profile-cycles=8000"];
    let parsed = |text: String| serde_json::from_str::<serde_json::Value>(&text).expect("JSON");
    let (native, inverted) = (parsed(with(&args, "native")), parsed(with(&args, &format!("qemu:{image}"))));
    assert_ne!(native["config"], inverted["config"]);
    assert_ne!(native["launches"], inverted["launches"]);
    assert!(native["decision"].is_object() && inverted["decision"].is_null());
    // Where the account ends is said: the image stages other quotas than the firmware in this process would.
    let parted = mias(&[&args[..], &["--firmware", &format!("qemu:{image}"), "--explain"]].concat()).assert().success();
    let part = "the firmware in this process writes";
    parted
        .stderr(contains("warning: mias-ipc: no account of the image's decisions from here on: at cycle").and(contains(part)))
        .stdout(contains("mias-ipc: the image's decision is not known here: at cycle").and(contains(part)));
}

/// Two SMs that `fwt` fills before `mm` arrives and has precedence.
const URGENT: [&str; 15] = [
    "run",
    "fwt:4096",
    "mm:64",
    "--gpu",
    "rtx2060-accelsim",
    "--cycles",
    "40000",
    "--set",
    "profile-cycles=2000",
    "--policy",
    "left-over",
    "--arrive",
    "mm:64@10000,priority=1,limit=3000",
    "--set",
    "latency=off",
];

/// Every scheme, in turn on the three cores: who left when and how, what was chosen among, and when the urgent kernel had its room.
#[test]
fn preemption_is_the_same() {
    let schemes = ["drain", "switch", "flush", "chimera", "chimera-plus", "shieh", "oracle"];
    for (scheme, core) in schemes.into_iter().zip(CORES.into_iter().cycle()) {
        let transition = format!("preempt:{scheme}");
        let args = [&URGENT[..], &["--transition", &transition]].concat();
        let native = with(&args, "native");
        let report: serde_json::Value = serde_json::from_str(&native).expect("JSON");
        assert!(report["preemptions"].as_array().is_some_and(|tbs| !tbs.is_empty()), "{scheme}: nobody has to leave");
        assert_eq!(with(&args, core), native, "{scheme} on {core}");
    }
    let explained = |firmware| printed(&[&URGENT[..], &["--transition", "preempt", "--explain", "--firmware", firmware]].concat());
    assert_eq!(explained("qemu"), explained("native"));
}

/// MIAS changes its configuration with it, and the time of a selection is charged alike.
#[test]
fn a_transition_that_preempts_is_the_same() {
    let args = ["run", "mm:128", "fwt:65536", "--policy", "mias-ipc", "--cycles", "50000", "--set", "profile-cycles=8000"];
    let args = [&args[..], &["--arrive", "fwt:65536@5000", "--transition", "preempt:flush"]].concat();
    for latency in ["off", "worst"] {
        let charged = format!("latency={latency}");
        let args = [&args[..], &["--set", &charged]].concat();
        assert_eq!(with(&args, "qemu"), with(&args, "native"), "{latency}");
    }
}

/// A priority without preemption is nothing to the firmware: the usual image does what is done here.
#[test]
fn a_priority_alone_takes_no_image_of_its_own() {
    let image = mias_lab::cosim::Image::built_for(mias_lab::cosim::Core::CortexM4, mias_lab::cosim::Parts::default())
        .expect("`cargo xtask image` builds it");
    let image = image.file.to_str().expect("UTF-8");
    let args = [&URGENT[..], &["--transition", "drain"]].concat();
    assert_eq!(with(&args, &format!("qemu:{image}")), with(&args, "native"));
    // Asked to preempt, it is refused before anything runs, with the image that it takes.
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run.json");
    let args = [&URGENT[..], &["--transition", "preempt", "--firmware", &format!("qemu:{image}"), "--out", out.to_str().expect("UTF-8")]];
    refused(&args.concat(), &["mias-firmware-remote is built without preemption, and TBs are to be preempted", "--features preempt"]);
    assert!(!out.exists());
}

/// The search for SMs, with what changes hands drained or preempted, in turn on the three cores; SMs are stalled and gated alike.
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
    // The usual image would fall back to Spatial: it is refused before anything runs.
    let image = mias_lab::cosim::Image::built_for(mias_lab::cosim::Core::CortexM4, mias_lab::cosim::Parts::default());
    let image = image.expect("`cargo xtask image` builds it").file;
    let args = ["run", "fwt:65536", "blk:65536", "--gpu", "zhao18", "--policy", "cd-search", "--firmware"];
    let firmware = format!("qemu:{}", image.to_str().expect("UTF-8"));
    let args = [&args[..], &[&firmware]].concat();
    refused(&args, &["mias-firmware-remote is built without the search for SMs, and the policy searches", "--features preempt,search"]);
}

/// A recording of a search finds the images that do, on every core.
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

/// A recording of a run that preempts finds the images that do, and a usual one is refused.
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

/// Launches that wait for a slot of the scheduler are looked at alike by a firmware that could preempt and by images that cannot.
#[test]
fn launches_that_wait_are_the_same_on_every_core() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = generated(folder.path(), &["--seed", "3", "--cases", "30", "--sms", "8", "--kernels", "8"]);
    let report = json(&["firmware", "replay", &recording]);
    assert!(report["targets"].as_array().is_some_and(|targets| targets.iter().all(|target| target["verdict"] == "same")), "{report}");
}

fn generated(folder: &Path, options: &[&str]) -> String {
    let file = folder.join("made-up.mrec").to_str().expect("UTF-8").to_owned();
    printed(&[&["firmware", "generate", &file], options].concat());
    file
}

/// Machines, policies, kernels and counters at random, some of them at their limits: every access on every core.
#[test]
fn generated_recordings_are_the_same_on_every_core() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = generated(folder.path(), &["--seed", "2026", "--cases", "100", "--sms", "8"]);
    let report = json(&["firmware", "replay", &recording]);
    assert!(report["recorded"]["decisions"].as_u64() > Some(200), "{report}");
    let targets = report["targets"].as_array().expect("targets");
    assert_eq!(
        targets.iter().map(|target| target["target"].as_str().expect("a name")).collect::<Vec<_>>(),
        ["native", "m4", "m0", "riscv"]
    );
    for target in targets {
        assert_eq!((&target["verdict"], &target["done"]), (&"same".into(), &report["recorded"]), "{target}");
    }
}

/// What the firmware in this process did under the GPU model, each core does too, and the other way round.
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

/// The first write that differs is that of a quota: the inverted image has chosen another configuration.
#[test]
fn an_inverted_image_is_caught_at_its_first_other_write() {
    let image = std::env::var("MIAS_INVERTED_IMAGE").expect("`cargo xtask test` builds it and says where it is");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.mrec").to_str().expect("UTF-8").to_owned();
    let run =
        ["run", "mm:128", "fwt:65536", "--policy", "mias-ipc", "--cycles", "50000", "--set", "profile-cycles=8000", "--record", &file];
    let native: serde_json::Value = serde_json::from_str(&with(&run, "native")).expect("JSON");
    let replayed = mias(&["firmware", "replay", &file, "--on", "m4", "--image", &image, "--format", "json"]).assert().code(1);
    let replayed = replayed.stderr(contains("error: m4: run 1, interrupt ").and(contains("it writes ")).and(contains("to QUOTA_ALL[")));
    let report: serde_json::Value = serde_json::from_slice(&replayed.get_output().stdout).expect("JSON");
    let target = &report["targets"][0];
    assert_eq!((&target["verdict"], &target["done"]["decisions"]), (&"differs".into(), &1.into()));
    let difference = &target["difference"];
    assert_eq!(difference["cycle"], native["decision"]["cycle"]);
    let (made, recorded) = (&difference["made"], &difference["recorded"]);
    assert_eq!((&made["kind"], &made["register"]), (&"write".into(), &recorded["register"]));
    // The recorded quota is that of the configuration chosen natively.
    let slot = recorded["register"].as_str().and_then(|name| name.strip_prefix("QUOTA_ALL[")?.strip_suffix(']')?.parse::<usize>().ok());
    assert_eq!(recorded["value"], native["config"][slot.expect("a slot")]);
    assert_ne!(made["value"], recorded["value"]);
}

#[test]
fn a_machine_that_no_image_holds_is_refused_with_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = generated(folder.path(), &["--cases", "4", "--sms", "33"]);
    for target in ["m4", "m0", "riscv"] {
        refused(&["firmware", "replay", &file, "--on", target], &["is built for 32 SMs, the recording asks for 33", "--features sms-132"]);
    }
    assert!(printed(&["firmware", "replay", &file, "--on", "native"]).contains("same"));
}

#[test]
fn what_cannot_be_run_is_refused() {
    refused(&["run", "mm:64", "--firmware", "native:x.elf"], &["an image runs in QEMU: qemu:FILE"]);
    refused(&["run", "mm:64", "--firmware", "qemu:no.elf"], &["no.elf is no image", "cargo xtask image"]);
    let text = format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    refused(&["run", "mm:64", "--firmware", &format!("qemu:{text}")], &["Cargo.toml is no ELF file", "cargo build"]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = generated(folder.path(), &["--cases", "1", "--sms", "2"]);
    let on_m4 = ["firmware", "replay", &file, "--on", "m4", "--image"];
    refused(&[&on_m4[..], &["no.elf"]].concat(), &["no.elf is no image", "cargo xtask image"]);
    refused(&[&on_m4[..], &[&text]].concat(), &["Cargo.toml is no ELF file"]);
    // The header's machine is 243, EM_RISCV.
    let other = folder.path().join("other.elf");
    std::fs::write(&other, [b"\x7fELF".as_slice(), &[0; 14], &[243, 0]].concat()).expect("written");
    let other = other.to_str().expect("a path");
    refused(&[&on_m4[..], &[other]].concat(), &["other.elf is for another processor than the Cortex-M4F", "thumbv7em-none-eabihf"]);
    let mut no_qemu = mias(&["firmware", "replay", &file, "--on", "riscv"]);
    no_qemu
        .env("PATH", folder.path())
        .assert()
        .code(2)
        .stderr(contains("qemu-system-riscv32 is not installed; on Debian: apt-get install"));
}

/// Extra TBs that the firmware allows, in no time and charged, beside limits of memory instructions, too, on each core in its turn: when it looked, what it
/// found, and what that came to.
#[test]
fn control_of_extra_tbs_is_the_same() {
    let run = [
        "run",
        "fwt:65536",
        "blk:65536",
        "--gpu",
        "lin18",
        "--set",
        "sm.contexts.mechanism=duet",
        "--set",
        "sm.contexts.controller=firmware",
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
            let kernels = report["contexts"].as_array().expect("kernels").iter();
            kernels.map(|kernel| kernel["decisions"][class].as_u64().expect("a number")).sum()
        };
        assert!(["underutilised", "moderate", "saturated"].map(decisions).iter().sum::<u64>() >= 4, "{report}");
        let charged = !options.contains(&"latency=off");
        assert_eq!(report["decision_latency"]["contexts"]["looks"].as_u64().is_some_and(|looks| looks >= 2), charged, "{report}");
        assert_eq!(with(&args, core), native, "{options:?} on {core}");
    }
    // The usual image would allow none: it is refused before anything runs, with the image that it takes.
    let image = mias_lab::cosim::Image::built_for(mias_lab::cosim::Core::CortexM4, mias_lab::cosim::Parts::default());
    let image = image.expect("`cargo xtask image` builds it").file;
    let firmware = format!("qemu:{}", image.to_str().expect("UTF-8"));
    let args = [&run[..], &["--firmware", &firmware]].concat();
    refused(&args, &["is built without control of extra TBs, and the firmware is their controller", "--features preempt,search,contexts"]);
}

/// A recording of it finds the images that do, on every core.
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
        "sm.contexts.mechanism=duet",
        "--set",
        "sm.contexts.controller=firmware",
    ];
    with(&[&run[..], &["--cycles", "60000", "--record", &file]].concat(), "native");
    let report = json(&["firmware", "replay", &file]);
    let targets = report["targets"].as_array().expect("targets");
    assert!(targets.len() == 4 && targets.iter().all(|target| target["verdict"] == "same"), "{report}");
}
