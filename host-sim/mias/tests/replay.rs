//! Recordings without QEMU: created, replayed in this process, and refused if invalid.

use crate::support::{json, mias, printed, refused};
use std::fs;

#[test]
fn a_run_replays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.mrec");
    let file = file.to_str().unwrap();
    let args = ["run", "mm:128", "fwt:65536", "--policy", "mias-factor", "--cycles", "50000", "--set", "profile-cycles=8000"];
    let recorded = printed(&[&args[..], &["--record", file]].concat());
    assert_eq!(recorded, printed(&args), "recording changes nothing");
    let report = json(&["firmware", "replay", file, "--on", "native"]);
    let target = &report["targets"][0];
    assert_eq!((&target["verdict"], &target["done"]), (&"same".into(), &report["recorded"]));
    assert_eq!(report["recorded"]["decisions"], 1);
    // At least four counters of every SM, and a quota of each kernel.
    assert!(report["recorded"]["reads"].as_u64() > Some(4 * 30) && report["recorded"]["writes"].as_u64() > Some(2), "{report}");
}

/// A copy of the program in a folder without images.
#[test]
fn without_an_image_the_firmware_in_this_process_answers_and_the_report_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("mias");
    fs::copy(assert_cmd::cargo::cargo_bin!("mias"), &program).unwrap();
    let run = |args: &[&str]| assert_cmd::Command::new(&program).args(args).current_dir(folder.path()).assert();
    run(&["firmware", "generate", "x.mrec", "--cases", "2", "--sms", "4"]).success();
    let said = String::from_utf8(run(&["firmware", "replay", "x.mrec"]).success().get_output().stdout.clone()).unwrap();
    let rows: Vec<&str> = said.lines().filter(|line| line.ends_with("same")).collect();
    assert!(matches!(rows.as_slice(), [native] if native.starts_with("native ")), "{said}");
    assert!(said.contains("No image for m4, m0, riscv: replayed by the in-process firmware only"), "{said}");
    // A requested core is not skipped.
    let refused = run(&["firmware", "replay", "x.mrec", "--on", "m4"]).code(2);
    assert!(String::from_utf8_lossy(&refused.get_output().stderr).contains("no image found for thumbv7em-none-eabihf"));
}

#[test]
fn a_recording_that_is_there_stays_unless_it_is_to_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.mrec");
    let name = file.to_str().unwrap();
    let generate = |seed: &'static str| ["firmware", "generate", name, "--cases", "1", "--sms", "2", "--seed", seed];
    printed(&generate("1"));
    let first = fs::read(&file).unwrap();
    refused(&generate("2"), &["x.mrec exists: use another name, or --force to replace it"]);
    assert_eq!(fs::read(&file).unwrap(), first);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    printed(&[&generate("2")[..], &["--force"]].concat());
    assert_ne!(fs::read(&file).unwrap(), first);
}

#[test]
fn what_is_no_recording_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, broken) = (place("sound.mrec"), place("broken.mrec"));
    printed(&["firmware", "generate", &file, "--cases", "3", "--sms", "4", "--seed", "9"]);
    let sound = fs::read(&file).unwrap();
    let out = place("out.json");
    let refuse = |bytes: &[u8], parts: &[&str]| {
        fs::write(&broken, bytes).unwrap();
        refused(&["firmware", "replay", &broken, "--on", "native", "--out", &out], &[&["broken.mrec: "], parts].concat());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no output");
    };
    refuse(b"", &["the file is empty"]);
    refuse(b"-kernel name = k\n", &["this is not a recording of mias", "mias run KERNEL.. --record FILE"]);
    refuse(&sound[..sound.len() - 1], &["it is truncated or damaged; record it again"]);
    let flipped = |at: usize| {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    refuse(&flipped(8), &["this recording has format version 17, this mias reads version 1"]);
    refuse(&flipped(12), &["header: the checksum does not match"]);
    refuse(&flipped(100), &["run 1: the checksum does not match"]);
    refuse(&flipped(sound.len() - 1), &["run 3: the checksum does not match"]);
    let mut other_map = flipped(12);
    let checksum = crc32fast::hash(&other_map[..44]);
    other_map[44..48].copy_from_slice(&checksum.to_le_bytes());
    refuse(&other_map, &["this recording is of another register map ("]);
    refused(&["firmware", "replay", &place("none.mrec")], &["none.mrec: No such file"]);
}

#[test]
fn options_that_cannot_be_are_refused() {
    refused(&["firmware", "replay", "x.mrec", "--image", "x.elf"], &["--image requires its core: --on m4"]);
    refused(&["firmware", "replay", "x.mrec", "--image", "x.elf", "--on", "native"], &["--image requires its core"]);
    refused(&["firmware", "replay", "x.mrec", "--on", "m7"], &["invalid value 'm7'"]);
    refused(&["firmware", "generate", "x.mrec", "--sms", "0"], &["invalid value '0' for '--sms <N>'"]);
    refused(&["firmware", "generate", "/no/such/folder/x.mrec"], &["cannot write /no/such/folder/x.mrec"]);
    refused(&["run", "mm", "--record", "t.x", "--vcd", "t.x"], &["t.x: two outputs share this file"]);
}

/// A missing image is detected before anything is replayed.
#[test]
fn an_image_that_is_not_built_is_named_with_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.mrec");
    let file = file.to_str().unwrap();
    printed(&["firmware", "generate", file, "--cases", "1", "--sms", "2"]);
    let image = folder.path().join("no.elf");
    let replay = mias(&["firmware", "replay", file, "--on", "m0", "--image", image.to_str().unwrap()]).assert().code(2).stdout("");
    let said = String::from_utf8_lossy(&replay.get_output().stderr).into_owned();
    assert!(said.contains("no.elf is not an image: build one with `cargo xtask image`"), "{said}");
}
