//! `mias trace`, tested from outside: a converted trace runs like the list, byte for byte, and is
//! compact; mistakes leave no files.

use crate::support::{lists, mias, reference_data};
use rayon::prelude::*;

fn printed(arguments: &[&str]) -> Vec<u8> {
    mias(arguments).assert().success().stderr("").get_output().stdout.clone()
}

fn refused(arguments: &[&str], part: &str) {
    let output = mias(arguments).assert().code(2).stdout("").get_output().stderr.clone();
    let message = String::from_utf8(output).unwrap();
    assert!(message.contains(part) && message.matches("error:").count() == 1, "{message}");
}

/// A warp instruction takes less than four bytes, even in micro-benchmarks, which execute each
/// instruction of their text once.
#[test]
fn a_warp_instruction_takes_less_than_four_bytes() {
    for list in lists() {
        let json = printed(&["trace", "info", "--format", "json", list.to_str().unwrap()]);
        let info: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let (bytes, insts) = (info["bytes"].as_u64().unwrap(), info["warp_insts"].as_u64().unwrap());
        assert!(bytes < 4 * insts, "{bytes} bytes for {insts} warp instructions of {}", list.display());
    }
}

/// By arithmetic: 240 TBs of 8 warps; coalesced accesses of 4 bytes per lane touch 4 whole sectors.
#[test]
fn info_shows_launches_and_coalescing() {
    let json = printed(&["trace", "info", "--format", "json", reference_data().join("mem/kernelslist.g").to_str().unwrap()]);
    let info: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let launch = &info["launches"][0];
    assert_eq!((&launch["grid"], &launch["block"]), (&serde_json::json!([240, 1, 1]), &serde_json::json!([256, 1, 1])));
    assert_eq!((&launch["sectors_per_ref"], &launch["bytes_per_sector"]), (&4.0.into(), &32.0.into()));
}

#[test]
fn mistakes_are_told_and_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let list = reference_data().join("micro/ffma_100/kernelslist.g");
    let list = list.to_str().unwrap();
    let (file, precious) = (path("k.mtrace"), path("precious.txt"));
    std::fs::write(&precious, "mine").unwrap();
    refused(&["trace", "convert", list, &precious], "precious.txt exists and is not a trace file");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "mine");
    refused(&["trace", "convert", &path("none.g"), &file], "none.g: No such file");
    refused(&["trace", "convert", list, &path("none/k.mtrace")], "cannot write");
    refused(&["trace", "info", &path("none")], "none: No such file");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

    printed(&["trace", "convert", list, &file]);
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    for arguments in [&["trace", "info", &file][..], &["run", "--trace", &file], &["trace", "convert", &file, &path("l.mtrace")]] {
        refused(arguments, "k.mtrace: the trace file should have");
    }
    // A damaged trace file may be replaced.
    printed(&["trace", "convert", list, &file]);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` leaves out.
mod slow {
    use super::*;

    #[test]
    fn a_converted_trace_runs_like_its_list() {
        lists().par_iter().for_each(|list| {
            let folder = tempfile::tempdir().unwrap();
            // The name does not determine the format.
            let file = folder.path().join("kernelslist.g");
            let (list, file) = (list.to_str().unwrap(), file.to_str().unwrap());
            printed(&["trace", "convert", list, file]);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the file is left");
            let run = |trace| printed(&["run", "--gpu", "rtx2060-accelsim", "--format", "json", "--trace", trace]);
            assert_eq!(String::from_utf8(run(list)), String::from_utf8(run(file)), "{list}");
            let info = |trace| printed(&["trace", "info", trace]);
            assert_eq!(String::from_utf8(info(list)), String::from_utf8(info(file)), "{list}");
        });
    }
}
