//! `mias trace export`, tested from outside: an exported trace runs like its source, a copied list
//! has the lines of the original, and mistakes leave no files.

use crate::support::{json, lists, mias, printed, reference, refused};
use liblzma::read::XzDecoder;
use rayon::prelude::*;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// Returns a run's numbers: the document without kernel names and trace fingerprints.
fn numbers(arguments: &[&str]) -> Value {
    let mut document = json(arguments);
    for launch in document["launches"].as_array_mut().expect("launches") {
        assert!(!launch["kernel"].take().is_null());
    }
    assert!(!document["provenance"]["kernel_hashes"].take().is_null());
    document
}

/// A user's kernel that reads constant memory at an address computed by its lanes: the only access
/// whose width tracers do not list.
#[test]
fn constant_memory_runs_like_the_kernel() {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = include_str!("../../ptx/tests/data/constants.ptx");
    std::fs::write(folder.path().join("constants.ptx"), ptx).expect("PTX");
    let toml = "ptx = \"constants.ptx\"\nentry = \"constants\"\ngrid = 8\nblock = 128\nregisters = 16\nargs = ARGS\n";
    let path = folder.path().join("constants.toml");
    std::fs::write(&path, toml.replace("ARGS", "[\"buf:i32:1024:zeros\", 1000]")).expect("TOML");
    let (word, target) = (path.to_str().expect("UTF-8"), folder.path().join("out"));
    printed(&["trace", "export", word, "--to", "accelsim", target.to_str().expect("UTF-8")]);
    let list = target.join("kernelslist.g");
    assert!(unpacked(&target.join("kernel-1.traceg.xz")).contains(" LDC"), "the kernel has such an access");
    let direct = numbers(&["run", word, "--until", "done", "--policy", "left-over"]);
    assert_eq!(direct, numbers(&["run", "--trace", list.to_str().expect("UTF-8")]));
}

fn unpacked(file: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(file).expect("a trace");
    XzDecoder::new_multi_decoder(file).read_to_string(&mut text).expect("text");
    text
}

#[test]
fn mistakes_are_told_and_cost_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (target, list) = (path("out"), reference("micro/ffma_100"));
    let export = |source: &str, target: &str, parts: &[&str]| refused(&["trace", "export", source, "--to", "accelsim", target], parts);
    export("mn", &target, &["unknown kernel `mn`; did you mean `mm`?", "no kernel list of this name"]);
    export("mm:17", &target, &["kernel `mm`: size 17"]);
    export(&list, &path("none/out"), &["cannot write", "none/out: No such file"]);
    let broken = path("broken.g");
    std::fs::write(&broken, "kernel-1.traceg\n").expect("a list");
    export(&broken, &target, &["broken.g:1: `kernel-1.traceg` is named here, but missing from the folder"]);
    let converted = path("k.mtrace");
    printed(&["trace", "convert", &list, &converted]);
    export(&converted, &target, &["k.mtrace: a trace file holds neither opcodes nor lanes; use the kernel list"]);
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 2, "the broken list and the trace file");

    printed(&["trace", "export", &list, "--to", "accelsim", &target]);
    export(&list, &target, &["out exists and is not empty: give another name, or --force"]);
    printed(&["trace", "export", &list, "--to", "accelsim", &target, "--force"]);
    std::fs::write(folder.path().join("out/mine.txt"), "mine").expect("a file");
    let forced = mias(&["trace", "export", &list, "--to", "accelsim", &target, "--force"]).assert().code(2);
    let message = String::from_utf8_lossy(&forced.get_output().stderr).into_owned();
    assert!(message.contains("holds `mine.txt`, which is no part of a trace"), "{message}");
    assert_eq!(std::fs::read_dir(&target).expect("the trace").count(), 3);
}

/// The first Ctrl-C stops an export, with the exit code of an interrupted command and no files
/// left.
#[test]
#[cfg(unix)]
fn an_interrupted_export_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("mias"))
        .args(["trace", "export", "mm:2048", "--to", "accelsim", "out"])
        .current_dir(folder.path())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("mias");
    let names = || std::fs::read_dir(folder.path()).expect("the folder").count();
    // The hidden folder appears during the export, which would take a quarter of an hour.
    while names() == 0 {
        assert!(child.try_wait().expect("a child").is_none());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted: nothing is written\n");
    assert_eq!(names(), 0);
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` leaves out.
mod slow {
    use super::*;

    /// Every line of the project's own traces, including headers. Nothing is normalized. The traces
    /// were made by the tracer's rules for addresses, and none has a list of addresses where it
    /// would be shorter.
    #[test]
    fn a_copied_list_has_the_lines_of_the_list() {
        lists().par_iter().for_each(|list| {
            let folder = tempfile::tempdir().expect("a folder");
            let target = folder.path().join("out");
            printed(&["trace", "export", list.to_str().expect("UTF-8"), "--to", "accelsim", target.to_str().expect("UTF-8")]);
            let read = |path: &Path| std::fs::read_to_string(path).expect("a list");
            assert_eq!(read(list).trim_end(), read(&target.join("kernelslist.g")).trim_end());
            for name in read(list).lines() {
                let (before, after) = (unpacked(&list.with_file_name(name)), unpacked(&target.join(name)));
                let differing = before.lines().zip(after.lines()).find(|(before, after)| before != after);
                assert_eq!(differing, None, "{}", list.display());
                assert_eq!(before.lines().count(), after.lines().count(), "{}", list.display());
            }
        });
    }

    /// All numbers of a report are equal, to the last digit, for all seven kernels, and for two of
    /// a size that fills the GPU.
    #[test]
    fn an_exported_kernel_runs_like_the_kernel() {
        let words = ["mm:64", "fwt:4096", "nbdy:512", "blk:1024", "bopt:2,steps=512", "bfs:2048", "dxtc:8", "mm:192", "fwt:262144"];
        words.par_iter().for_each(|word| {
            let folder = tempfile::tempdir().expect("a folder");
            let target = folder.path().join("out");
            let target = target.to_str().expect("UTF-8");
            printed(&["trace", "export", word, "--to", "accelsim", target]);
            let direct = numbers(&["run", word, "--until", "done", "--policy", "left-over"]);
            let read = numbers(&["run", "--trace", &format!("{target}/kernelslist.g")]);
            assert!(direct["total_cycles"].as_u64().is_some_and(|cycles| cycles > 5_000));
            assert_eq!(direct, read, "{word}");
        });
    }
}
