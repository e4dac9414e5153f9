//! Files of custom kernels: memory dumps, CUDA source and machine code instead of PTX, and endless
//! files.

use crate::support::{mias, refused};
use std::fs;
use std::path::{Path, PathBuf};

fn saxpy(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/saxpy").join(file);
    path.to_str().expect("a path of text").to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

fn floats(path: &Path) -> Vec<f32> {
    let bytes = fs::read(path).expect("a dump");
    bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name().into_string().expect("text");
    let mut names: Vec<String> = fs::read_dir(folder).expect("a folder").map(name).collect();
    names.sort();
    names
}

/// y = 2 x + y over x = 0, 1, .. and y = 1.
#[test]
fn buffers_are_dumped_after_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let y = folder.path().join("y=1.bin");
    let ptx = saxpy("saxpy.ptx");
    let options = ["--grid", "4", "--block", "256", "--regs", "10", "--policy", "left-over", "--until", "done"];
    let args = ["--arg", "1000", "--arg", "f32:2", "--arg", "buf:f32:1000:iota", "--arg", "buf:f32:1000:ones"];
    let run = |dump: &str| [&["run", "--ptx", &ptx][..], &options, &args, &["--dump", dump]].concat().join("\n");
    let run = |dump: &str| run(dump).split('\n').map(str::to_owned).collect::<Vec<_>>();
    let words = run(&format!("arg4={}", text(&y)));
    mias(&words.iter().map(String::as_str).collect::<Vec<_>>()).assert().success();
    let expected: Vec<f32> = (0..1000u16).map(|index| 2.0 * f32::from(index) + 1.0).collect();
    assert_eq!(floats(&y), expected);
    let words = run(&format!("arg5={}", text(&folder.path().join("z.bin"))));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    refused(&words, &["--dump `arg5=", "unknown buffer `arg5`; did you mean `arg4`? known: arg3, arg4"]);
    assert_eq!(names(folder.path()), ["y=1.bin"]);
}

/// A cached trace has no results, so the kernel is executed to obtain them.
#[test]
fn kernels_of_ours_are_dumped_from_any_cache() {
    let folder = tempfile::tempdir().expect("a folder");
    let [c, again, data] = ["c.bin", "again.bin", "data.bin"].map(|name| folder.path().join(name));
    let words = ["run", "mm:32", "--policy", "left-over", "--until", "done", "--dump"];
    let cached = |rest: &[&str]| {
        let mut command = mias(&[&words, rest].concat());
        command.env("MIAS_CACHE", folder.path().join("cache")).env_remove("MIAS_CACHE_LIMIT").assert().success().get_output().stdout.clone()
    };
    let dump = |path: &Path| format!("c={}", text(path));
    let plain = mias(&words[..6]).assert().success().get_output().stdout.clone();
    assert_eq!([cached(&[&dump(&c)]), cached(&[&dump(&again)])], [plain.clone(), plain], "the report is the same");
    assert_eq!(floats(&c).len(), 32 * 32);
    assert_eq!(fs::read(&c).expect("a dump"), fs::read(&again).expect("a dump"));
    assert!(floats(&c).iter().all(|value| value.is_finite()), "no longer NaN, which it was filled with");
    let both = format!("fwt:1024/data={}", text(&data));
    mias(&["run", "mm:32", "fwt:1024", "--until", "done", "--dump", &both]).assert().success();
    assert_eq!(floats(&data).len(), 1024);
    refused(&["run", "mm:32", "fwt:1024", "--dump", &dump(&c)], &["several kernels run; name the kernel, as in mm:32/c="]);
    refused(&["run", "mm:32", "--dump", "c"], &["--dump `c`: expected BUFFER=FILE"]);
    refused(&["run", "mm:32", "--dump", "d=/"], &["cannot write /"]);
    let twice = text(&again);
    refused(&["run", "mm:32", "--out", twice, "--dump", &dump(&again)], &["two outputs share this file"]);
}

#[test]
fn what_is_no_ptx_is_refused_with_the_command_that_makes_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("a file");
        text(&path).to_owned()
    };
    let elf = |gpu: u16| [&b"\x7fELF\x02\x01\x01"[..], &[0; 11], &gpu.to_le_bytes(), &[0; 44]].concat();
    let (cubin, object) = (write("k.cubin", &elf(190)), write("k.o", &elf(62)));
    let source = saxpy("saxpy.cu");
    let toml = write("k.toml", format!("ptx = \"{source}\"\ngrid = 1\nblock = 32\nregisters = 8\n").as_bytes());
    let nvcc = format!("`nvcc -ptx -arch=sm_75 -O3 {source}`");
    let own = ["--grid", "1", "--block", "32", "--regs", "8"];
    refused(&["run", &source], &["is CUDA source", &nvcc]);
    refused(&["run", &toml], &["is CUDA source", &nvcc]);
    refused(&[&["run", "--ptx", &source][..], &own].concat(), &["is CUDA source", &nvcc]);
    refused(&["compare", "mm:32", &cubin], &["is GPU machine code", "`nvcc -ptx -arch=sm_75 -O3 FILE.cu`"]);
    refused(&[&["run", "--ptx", &cubin][..], &own].concat(), &["is GPU machine code"]);
    refused(&["run", &object], &["is a program, library or object file", &format!("`cuobjdump -xptx all {object}`")]);
    refused(&["run", "--ptx", &source, "--grid", "1", "--block", "32"], &["is CUDA source"]);
}

/// Creates a script that replaces nvcc and returns its recorded output.
#[cfg(unix)]
fn toolkit(script: &str) -> (tempfile::TempDir, PathBuf) {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("nvcc");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    let paths = std::env::var("PATH").unwrap_or_default();
    let path = PathBuf::from(format!("{}:{paths}", folder.path().display()));
    (folder, path)
}

#[test]
#[cfg(unix)]
fn nvcc_is_run_if_that_is_asked_for() {
    // The output is the word after -o.
    let script = format!(
        "out=; kind=; while [ $# -gt 0 ]; do case $1 in -o) shift; out=$1;; -ptx) kind=ptx;; -arch=sm_75) arch=75;; esac; shift; done\n\
         [ \"$arch\" = 75 ] || {{ echo \"nvcc fatal: no such architecture\" >&2; exit 1; }}\n\
         if [ \"$kind\" = ptx ]; then cp '{}' \"$out\"; else cat '{}' >&2; fi",
        saxpy("saxpy.ptx"),
        saxpy("saxpy.ptxas.txt")
    );
    let (_folder, path) = toolkit(&script);
    let source = saxpy("saxpy.cu");
    let args = ["--grid", "1", "--block", "32", "--policy", "left-over", "--until", "done", "--arg", "32", "--arg", "2"];
    let buffers = ["--arg", "buf:f32:32:iota", "--arg", "buf:f32:32:ones"];
    for start in [&["run", &source, "--nvcc"][..], &["run", "--ptx", &source, "--nvcc"]] {
        let printed = mias(&[start, &args, &buffers].concat()).env("PATH", &path).assert().success();
        let printed = String::from_utf8(printed.get_output().stdout.clone()).expect("text");
        assert!(printed.starts_with("saxpy on rtx2060"), "{printed}");
    }
    let small = ["--arg", "buf:f32:32:iota", "--arg", "buf:f32:31:ones"];
    let wrong = mias(&[&["run", &source, "--nvcc"][..], &args, &small].concat()).env("PATH", &path).assert().code(2);
    let message = String::from_utf8(wrong.get_output().stderr.clone()).expect("text");
    assert!(message.starts_with("error: nvcc's ") && message.contains("right past the end of argument 4 (124 bytes)"), "{message}");
    let other = mias(&[&["run", &source, "--nvcc=sm_12"][..], &args, &buffers].concat()).env("PATH", &path).assert().code(2);
    let message = String::from_utf8(other.get_output().stderr.clone()).expect("text");
    assert!(message.contains("nvcc did not compile ") && message.contains("nvcc fatal: no such architecture"), "{message}");
    // A kernel's file names the source, too.
    let folder = tempfile::tempdir().expect("a folder");
    let toml = folder.path().join("k.toml");
    let body =
        format!("ptx = \"{source}\"\ngrid = 1\nblock = 32\nregisters = 10\nargs = [32, 2.0, \"buf:f32:32:iota\", \"buf:f32:32:ones\"]\n");
    fs::write(&toml, body).expect("a kernel's file");
    mias(&["run", text(&toml), "--nvcc", "--policy", "left-over", "--until", "done"]).env("PATH", &path).assert().success();
}

#[test]
fn without_nvcc_the_remedy_is_said() {
    let source = saxpy("saxpy.cu");
    let words = ["run", &source, "--nvcc", "--grid", "1", "--block", "32"];
    let empty = tempfile::tempdir().expect("a folder");
    let assert = mias(&words).env("PATH", empty.path()).assert().code(2);
    let message = String::from_utf8(assert.get_output().stderr.clone()).expect("text");
    assert!(message.starts_with("error: --nvcc: nvcc is not on the PATH; install the CUDA toolkit, or "), "{message}");
}

/// Files without an end are refused at once: an endless device, and a pipe without a writer.
#[test]
#[cfg(unix)]
fn files_without_an_end_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe.gr");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success();
    assert!(made);
    let pipe = text(&pipe);
    let own = ["--grid", "1", "--block", "32", "--regs", "8"];
    for path in ["/dev/zero", pipe] {
        let word = "a device or a pipe of unknown length";
        refused(&[&["run", "--ptx", path][..], &own].concat(), &["cannot read the PTX file", word]);
        let buffer = format!("buf:u8:16:file:{path}");
        let args = ["--arg", "1", "--arg", "1", "--arg", &buffer, "--arg", "buf:u8:4:zeros"];
        refused(&[&["run", "--ptx", &saxpy("saxpy.ptx")][..], &own, &args].concat(), &["(argument 3)", word]);
    }
    refused(&["run", &format!("bfs:graph={pipe}")], &["a device or a pipe of unknown length"]);
    refused(&["run", "dxtc:image=/dev/zero"], &["a device or a pipe of unknown length"]);
    let long = "more than 16777216 bytes: wrong file format";
    refused(&["run", "mm:32", "--gpu", "/dev/zero"], &["cannot read the GPU file", long]);
    refused(&["evaluate", "/dev/zero", "--list"], &["cannot read the plan /dev/zero", long]);
    let huge = ["--arg", "1", "--arg", "1", "--arg", "buf:u8:9223372036854775807:zeros", "--arg", "buf:u8:4:zeros"];
    refused(&[&["run", "--ptx", &saxpy("saxpy.ptx")][..], &own, &huge].concat(), &["a buffer has at most 4294967296 bytes"]);
}

/// A recording replaces only recordings.
#[test]
fn a_recording_replaces_nothing_but_a_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let [source, recording] = ["mm.cu", "run.mrec"].map(|name| folder.path().join(name));
    fs::write(&source, "a kernel").expect("a file");
    let run = |file: &Path| {
        let words = ["run", "mm:64", "--policy", "left-over", "--cycles", "6000", "--record", text(file)];
        words.map(str::to_owned)
    };
    let args = run(&source);
    refused(&args.each_ref().map(String::as_str), &["mm.cu exists and is not a recording: remove it, or use another name"]);
    assert_eq!(fs::read_to_string(&source).expect("the file"), "a kernel");
    let args = run(&recording);
    for _ in 0..2 {
        mias(&args.each_ref().map(String::as_str)).assert().success();
    }
}

/// Every TB completed within the configuration: SMs are in place from the first quotas to the end
/// of the kernel, which ends the run.
#[test]
fn a_run_that_ends_with_its_kernel_was_in_place_until_then() {
    for end in [["--until", "done"].as_slice(), &["--cycles", "50000", "--set", "relaunch=false"]] {
        let args = [&["run", "mm:64", "--policy", "left-over"], end].concat();
        let output = mias(&args).assert().success().get_output().stdout.clone();
        let said = String::from_utf8(output).expect("text");
        assert!(said.contains("in place ") && !said.contains("in place 0.0 %") && !said.contains("did not reach"), "{said}");
    }
}
