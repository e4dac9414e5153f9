//! Custom PTX and sized kernels from the command line: mistakes are refused with position and
//! remedy, and each kernel runs once without relaunch.

use crate::support::{json, printed, refused};
use std::path::Path;

fn saxpy(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/saxpy").join(file);
    path.to_str().expect("a path of text").to_owned()
}

#[test]
fn mistakes_in_the_options_are_refused() {
    let ptx = saxpy("saxpy.ptx");
    let with = |rest: &[&str], needles: &[&str]| {
        let mut args = vec!["run", "--ptx", &ptx];
        args.extend(rest);
        refused(&args, needles);
    };
    with(&["--grid", "4", "--block", "256"], &["set --regs N, or --ptxas FILE"]);
    with(&["--grid", "4", "--regs", "10"], &["--block"]);
    with(&["--grid", "4,0", "--block", "256", "--regs", "10"], &["--grid: expected one to three numbers, each at least 1"]);
    with(&["--grid", "4", "--block", "256", "--regs", "10"], &["0 arguments, entry `saxpy` takes 4"]);
    with(&["--grid", "4", "--block", "256", "--regs", "10", "--entry", "sax"], &["no entry `sax`; the module has: saxpy"]);
    with(&["--grid", "4", "--block", "256", "--regs", "10", "--arg", "buf:f32:4"], &["--arg buf:f32:4 (argument 1): expected buf:"]);
    with(&["--grid", "4", "--block", "256", "--regs", "256"], &["256 registers per thread; a thread has at most 255"]);
    let args = ["--arg", "1", "--arg", "1", "--arg", "buf:f32:4:ones", "--arg", "buf:f32:4:ones"];
    with(&[&["--grid", "1,1,70000", "--block", "32", "--regs", "10"][..], &args].concat(), &["at most 65535 TBs in y and in z"]);
    refused(&["run", "mm", "--grid", "4"], &["--ptx"]);
    refused(&["run", "mm", "--ptx", &ptx, "--grid", "4", "--block", "256"], &["cannot be used with"]);
    refused(&["run", &ptx], &["name a user kernel by its TOML file, or run it with --ptx"]);
}

#[test]
fn sizes_and_settings_are_checked() {
    refused(&["run", "mm:100"], &["kernel `mm`: size 100: must be a multiple of 16"]);
    refused(&["run", "mm:size=big"], &["size `big`: expected a whole number, as in mm:640"]);
    refused(&["compare", "mm:64", "fwt:sead=3"], &["unknown setting `sead`; did you mean `seed`?"]);
}

/// A file's kernel accepts a size and settings like a built-in one, and its name includes them.
#[test]
fn a_kernel_of_a_file_has_sizes() {
    let word = |settings: &str| saxpy("sized.toml") + settings;
    let rows = json(&["kernels", &word(""), &word(":65536,threads=128")]);
    let shown = |row: &serde_json::Value| (row["name"].clone(), row["size"].as_u64(), row["grid"][0].as_u64(), row["type"].clone());
    assert_eq!(shown(&rows[0]), ("saxpy".into(), Some(1 << 20), Some(4096), "M".into()));
    assert_eq!(shown(&rows[1]), ("saxpy:65536,threads=128".into(), Some(65_536), Some(512), "M".into()));
    let run = |word: &str| json(&["run", word, "--policy", "left-over", "--until", "done"])["launches"][0]["tbs_issued"].as_u64();
    assert_eq!((run(&word(":8192")), run(&word(":8192,threads=64"))), (Some(32), Some(128)));
    refused(&["run", &word(":threads=100")], &["kernel `saxpy`: threads `100`: must be a multiple of 32, from 32 to 1024"]);
    refused(&["run", &word(":0")], &["kernel `saxpy`: size 0: must be from 1 to 268435456"]);
    refused(&["run", &word(":sise=4")], &["unknown setting `sise`; did you mean `size`? known: size, seed, threads, registers"]);
}

/// 64 TBs of fwt complete long before the window ends.
#[test]
fn without_relaunch_each_kernel_runs_once() {
    let issued = |relaunch: &str| {
        let args = [
            "run",
            "fwt:65536",
            "--policy",
            "left-over",
            "--cycles",
            "40000",
            "--set",
            &format!("relaunch={relaunch}"),
            "--format",
            "json",
        ];
        let report: serde_json::Value = serde_json::from_str(&printed(&args)).expect("JSON");
        report["launches"][0]["tbs_issued"].as_u64().expect("a count")
    };
    assert_eq!(issued("false"), 64);
    assert!(issued("true") > 64);
    refused(&["run", "fwt:65536", "--until", "done", "--set", "relaunch=false"], &["relaunch: with `until` no kernel starts again"]);
}

/// A kernel that reads a texture and writes a surface runs from its file; the texels go through the
/// L1.
#[test]
fn a_kernel_with_textures_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx/tests/data/textures.ptx");
    std::fs::copy(ptx, folder.path().join("textures.ptx")).expect("the PTX");
    let toml = "ptx = \"textures.ptx\"\nregisters = 20\nentry = \"rotate\"\ngrid = [8, 8]\nblock = [16, 16]\n\
        args = [\"&out\", 128, 128, 0.0, 1.0, \"tex:picture\"]\n[buffers]\n\
        pixels = { type = \"f32\", count = 16384, fill = \"random\" }\nout = { type = \"f32\", count = 16384 }\n\
        [textures.picture]\nbuffer = \"pixels\"\nwidth = 128\nheight = 128\nfilter = \"linear\"\naddress = \"wrap\"\nnormalized = true\n";
    let file = folder.path().join("rotate.toml");
    std::fs::write(&file, toml).expect("the file");
    let file = file.to_str().expect("a path of text");
    let report = json(&["run", file, "--policy", "left-over", "--until", "done"]);
    assert_eq!(report["launches"][0]["tbs_issued"].as_u64(), Some(64));
    let broken = folder.path().join("broken.toml");
    std::fs::write(&broken, toml.replace("height = 128", "height = 129")).expect("the file");
    refused(&["run", broken.to_str().expect("a path of text")], &["broken.toml:10:11: texture `picture`", "the buffer has 65536"]);
}
