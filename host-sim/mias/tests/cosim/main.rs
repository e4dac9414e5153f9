//! The image in QEMU decides as the firmware in this process does: every register access, every
//! statistic. `cargo xtask ci` builds the images and runs this; manually: `cargo xtask image &&
//! cargo test -p mias --test cosim`.

mod mechanisms;
#[path = "../support/mod.rs"]
mod support;

use crate::support::{json, mias, printed, refused};
use predicates::prelude::*;
use predicates::str::contains;
use std::path::Path;

const CORES: [&str; 3] = ["qemu", "qemu-m0", "qemu-riscv"];

/// Returns the report of a run: on one thread with the firmware in this process, on several with an
/// image, which makes no difference.
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

/// The image alone decides: one that chooses the worst configuration ends with a different one. The
/// native twin has no report of that decision.
#[test]
fn an_inverted_comparison_changes_the_result() {
    let image = std::env::var("MIAS_INVERTED_IMAGE").expect("`cargo xtask ci` builds it and says where it is");
    let args = ["run", "mm:128", "fwt:65536", "--policy", "mias-ipc", "--cycles", "50000", "--set", "profile-cycles=8000"];
    let parsed = |text: String| serde_json::from_str::<serde_json::Value>(&text).expect("JSON");
    let (native, inverted) = (parsed(with(&args, "native")), parsed(with(&args, &format!("qemu:{image}"))));
    assert_ne!(native["config"], inverted["config"]);
    assert_ne!(native["launches"], inverted["launches"]);
    assert!(native["decision"].is_object() && inverted["decision"].is_null());
    // The end of the report is stated: the image stages other quotas than the firmware in this
    // process would.
    let parted = mias(&[&args[..], &["--firmware", &format!("qemu:{image}"), "--explain"]].concat()).assert().success();
    let part = "the firmware in this process writes";
    parted
        .stderr(contains("warning: mias-ipc: the image's decisions are unknown from here on: at cycle").and(contains(part)))
        .stdout(contains("mias-ipc: the image's decision is unknown: at cycle").and(contains(part)));
}

/// Two SMs that `fwt` fills before `mm` arrives with precedence.
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

/// Every scheme, in turn on the three cores: the victims with times and techniques, the candidates,
/// and the placement of the urgent kernel.
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

/// A priority without preemption does not affect the firmware, so the default image gives the same
/// results.
#[test]
fn a_priority_alone_takes_no_image_of_its_own() {
    let image = mias_lab::cosim::Image::built_for(mias_lab::cosim::Core::CortexM4, mias_lab::cosim::Parts::default())
        .expect("`cargo xtask image` builds it");
    let image = image.file.to_str().expect("UTF-8");
    let args = [&URGENT[..], &["--transition", "drain"]].concat();
    assert_eq!(with(&args, &format!("qemu:{image}")), with(&args, "native"));
    // With preemption the default image is refused before anything runs, and the message names the
    // required image.
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run.json");
    let args = [&URGENT[..], &["--transition", "preempt", "--firmware", &format!("qemu:{image}"), "--out", out.to_str().expect("UTF-8")]];
    refused(&args.concat(), &["mias-firmware-remote is built without preemption, and the run preempts TBs", "--features preempt"]);
    assert!(!out.exists());
}

fn generated(folder: &Path, options: &[&str]) -> String {
    let file = folder.join("made-up.mrec").to_str().expect("UTF-8").to_owned();
    printed(&[&["firmware", "generate", &file], options].concat());
    file
}

/// Random GPUs, policies, kernels and counters, some at their limits: every access on every
/// core.
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

/// The first different write is that of a quota, since the inverted image has chosen another
/// configuration.
#[test]
fn an_inverted_image_is_caught_at_its_first_other_write() {
    let image = std::env::var("MIAS_INVERTED_IMAGE").expect("`cargo xtask ci` builds it and says where it is");
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
fn a_gpu_that_no_image_holds_is_refused_with_the_limit() {
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
    refused(&["run", "mm:64", "--firmware", "qemu:no.elf"], &["no.elf is not an image", "cargo xtask image"]);
    let text = format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    refused(&["run", "mm:64", "--firmware", &format!("qemu:{text}")], &["Cargo.toml is not an ELF file", "cargo build"]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = generated(folder.path(), &["--cases", "1", "--sms", "2"]);
    let on_m4 = ["firmware", "replay", &file, "--on", "m4", "--image"];
    refused(&[&on_m4[..], &["no.elf"]].concat(), &["no.elf is not an image", "cargo xtask image"]);
    refused(&[&on_m4[..], &[&text]].concat(), &["Cargo.toml is not an ELF file"]);
    // The header's machine is 243, EM_RISCV.
    let other = folder.path().join("other.elf");
    std::fs::write(&other, [b"\x7fELF".as_slice(), &[0; 14], &[243, 0]].concat()).expect("written");
    let other = other.to_str().expect("a path");
    refused(&[&on_m4[..], &[other]].concat(), &["other.elf is not for the Cortex-M4F", "thumbv7em-none-eabihf"]);
    let mut no_qemu = mias(&["firmware", "replay", &file, "--on", "riscv"]);
    no_qemu
        .env("PATH", folder.path())
        .assert()
        .code(2)
        .stderr(contains("qemu-system-riscv32 is not installed; on Debian: apt-get install"));
}
