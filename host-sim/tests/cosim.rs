//! The image in QEMU decides as the firmware in this process does: every register access, every statistic. `cargo xtask test`
//! builds the images and runs this; by itself: `cargo xtask image && cargo test -p mias --test cosim`.

mod support;

use support::{printed, refused};

const CORES: [&str; 3] = ["qemu", "qemu-m0", "qemu-riscv"];

fn with(args: &[&str], firmware: &str) -> String {
    printed(&[args, &["--format", "json", "--firmware", firmware]].concat())
}

/// Small kernels, so that a decision, a completion and a second scheduling fit a short run.
#[test]
fn every_core_gives_the_native_report() {
    for policy in ["left-over", "spatial", "mias-ipc", "mias-ipm-ipc", "mias-factor", "mias-linear"] {
        let args = ["run", "mm:128", "fwt:65536", "--policy", policy, "--cycles", "50000", "--profile-cycles", "8000"];
        let native = with(&args, "native");
        for core in CORES {
            assert_eq!(with(&args, core), native, "{policy} on {core}");
        }
    }
}

#[test]
fn completions_and_late_launches_are_the_same() {
    let args = ["run", "mm:128", "fwt:65536", "bopt:60", "--until", "done", "--arrive", "fwt:65536@9000", "--arrive", "bopt:60@30000"];
    let args = [&args[..], &["--profile-cycles", "4000", "--policy", "mias-ipc"]].concat();
    assert_eq!(with(&args, "qemu"), with(&args, "native"));
}

/// A kernel that arrives while the firmware decides waits for the end of the decision.
#[test]
fn a_launch_during_a_decision_is_the_same() {
    let args = ["run", "mm:128", "fwt:65536", "--cycles", "50000", "--profile-cycles", "8000", "--policy", "mias-linear"];
    for latency in ["worst", "per-metric"] {
        let args = [&args[..], &["--latency", latency]].concat();
        let report: serde_json::Value = serde_json::from_str(&with(&args, "native")).expect("JSON");
        let number = |value: &serde_json::Value| value.as_u64().expect("a number");
        let (decided, cycles) = (number(&report["decision"]["cycle"]), number(&report["decision_latency"]["cycles"]));
        assert!(cycles > 2, "{report}");
        let arrival = format!("bopt:60@{}", decided + cycles / 2);
        let args = [&args[..], &["bopt:60", "--arrive", &arrival]].concat();
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
        ["compare", "mm:128", "fwt:65536", "--policy", "spatial,mias-ipc,mias-linear", "--cycles", "30000", "--profile-cycles", "5000"];
    assert_eq!(with(&args, "qemu"), with(&args, "native"));
}

/// The image decides and nobody else: one that chooses the worst configuration ends with another one. The native twin has no
/// account of that decision.
#[test]
fn an_inverted_comparison_changes_the_result() {
    let image = std::env::var("MIAS_INVERTED_IMAGE").expect("`cargo xtask test` builds it and says where it is");
    let args = ["run", "mm:128", "fwt:65536", "--policy", "mias-ipc", "--cycles", "50000", "--profile-cycles", "8000"];
    let parsed = |text: String| serde_json::from_str::<serde_json::Value>(&text).expect("JSON");
    let (native, inverted) = (parsed(with(&args, "native")), parsed(with(&[&args[..], &["--image", &image]].concat(), "qemu")));
    assert_ne!(native["config"], inverted["config"]);
    assert_ne!(native["launches"], inverted["launches"]);
    assert!(native["decision"].is_object() && inverted["decision"].is_null());
}

#[test]
fn what_cannot_be_run_is_refused() {
    refused(&["run", "mm:64", "--image", "x.elf"], &["--image: give --firmware qemu too"]);
    refused(&["run", "mm:64", "--firmware", "qemu", "--image", "no.elf"], &["no.elf is no image", "cargo xtask image"]);
    let text = format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    refused(&["run", "mm:64", "--firmware", "qemu", "--image", &text], &["QEMU has ended: is this an image for that processor?"]);
}
