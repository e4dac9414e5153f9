//! Cache of traces, tested from outside: reports are byte-identical with and without it, with
//! concurrent users, and in any state of its folder.

use crate::support::{mias, refused};
use assert_cmd::Command;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// A run that executes two kernels and simulates little.
const RUN: [&str; 6] = ["run", "mm:256", "fwt:65536", "--cycles", "20000", "--format=json"];

fn cached(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = mias(arguments);
    command.env("MIAS_CACHE", folder).env_remove("MIAS_CACHE_LIMIT");
    command
}

/// Returns standard output and error of a successful command.
fn printed(command: &mut Command) -> (String, String) {
    let output = command.assert().success().get_output().clone();
    (String::from_utf8(output.stdout).expect("text"), String::from_utf8(output.stderr).expect("text"))
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(folder).map(|list| list.map(|entry| entry.expect("a file").path()).collect()).unwrap_or_default()
}

#[test]
fn reports_do_not_depend_on_the_cache() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("cache");
    let without = printed(cached(&cache, &RUN).arg("--no-cache"));
    assert!(!cache.exists());
    for _ in 0..2 {
        assert_eq!(printed(&mut cached(&cache, &RUN)), without);
        assert_eq!(files(&cache).len(), 2);
    }
    // With both files damaged, the report is the same, with a warning.
    for file in files(&cache) {
        let bytes = std::fs::read(&file).expect("a trace");
        std::fs::write(&file, &bytes[..bytes.len() - 1]).expect("a cut trace");
    }
    let (report, warnings) = printed(&mut cached(&cache, &RUN));
    assert_eq!(report, without.0);
    assert_eq!(warnings.matches("rebuilding the cached trace").count(), 2, "{warnings}");
    assert_eq!(printed(&mut cached(&cache, &RUN)), without);

    let info = printed(&mut cached(&cache, &["cache", "info"])).0;
    assert!(info.contains("cache: 2 traces, ") && info.ends_with("of at most 4.0 GiB\n"), "{info}");
    let json = printed(&mut cached(&cache, &["cache", "info", "--format", "json"])).0;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let bytes: u64 = files(&cache).iter().map(|file| file.metadata().expect("a file").len()).sum();
    assert_eq!((json["traces"].as_u64(), json["bytes"].as_u64()), (Some(2), Some(bytes)));
    let cleaned = printed(&mut cached(&cache, &["cache", "clean"])).0;
    assert!(cleaned.contains("cache: removed 2 traces, "), "{cleaned}");
    assert!(files(&cache).is_empty());
}

#[test]
fn a_cache_may_be_missing_small_or_useless() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = ["run", "mm:64", "--cycles", "20000"];
    let expected = printed(cached(folder.path(), &run).arg("--no-cache"));
    // Without a home folder, and with a file in its place: one warning each, and the same report.
    let mut homeless = mias(&run);
    // If HOME is missing or empty, the system's list of users has the folder.
    homeless.env_remove("MIAS_CACHE_LIMIT").env_remove("MIAS_CACHE").env("HOME", "not/absolute").env_remove("XDG_CACHE_HOME");
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").expect("a file");
    for (mut command, why) in [(homeless, "the home folder is unknown"), (cached(&file.join("cache"), &run), "cannot write")] {
        let (report, warnings) = printed(&mut command);
        assert_eq!(report, expected.0);
        assert!(warnings.starts_with("warning: ") && warnings.contains(why), "{warnings}");
    }
    the_platforms_folder_is_used(&run, &expected);
    // A cache without capacity.
    let none = folder.path().join("none");
    for limit in ["0", "10"] {
        assert_eq!(printed(cached(&none, &run).env("MIAS_CACHE_LIMIT", limit)), expected);
        assert!(files(&none).is_empty());
    }
    let mut senseless = cached(&none, &run);
    let message = senseless.env("MIAS_CACHE_LIMIT", "much").assert().code(2).stdout("").get_output().stderr.clone();
    assert_eq!(
        String::from_utf8_lossy(&message),
        "error: MIAS_CACHE_LIMIT `much`: expected a number of bytes, as in 500MB or 4GiB; 0 disables the cache\n"
    );
    refused(&["cache", "sweep"], &["unrecognized subcommand"]);
}

/// The folder follows the XDG base directory specification; a relative `XDG_CACHE_HOME` is ignored.
fn the_platforms_folder_is_used(run: &[&str], expected: &(String, String)) {
    let folder = tempfile::tempdir().expect("a folder");
    let (home, fast) = (folder.path().join("home"), folder.path().join("fast"));
    let mut at_home = mias(run);
    at_home.env_remove("MIAS_CACHE_LIMIT").env_remove("MIAS_CACHE").env("HOME", &home).env("XDG_CACHE_HOME", "not/absolute");
    assert_eq!(&printed(&mut at_home), expected);
    assert_eq!(&printed(at_home.env("XDG_CACHE_HOME", &fast)), expected);
    if cfg!(target_os = "linux") {
        assert_eq!([home.join(".cache/mias"), fast.join("mias")].map(|folder| files(&folder).len()), [1, 1]);
    }
}

fn started(folder: &Path) -> std::process::Child {
    std::process::Command::new(assert_cmd::cargo::cargo_bin!("mias"))
        .args(RUN)
        .env("MIAS_CACHE", folder)
        .env_remove("MIAS_CACHE_LIMIT")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mias")
}

#[test]
fn two_processes_may_use_it_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let expected = printed(cached(folder.path(), &RUN).arg("--no-cache")).0;
    let processes = [started(folder.path()), started(folder.path())];
    for process in processes {
        let output = process.wait_with_output().expect("its end");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
    assert_eq!(files(folder.path()).len(), 2, "a trace per kernel, and nothing under construction");
    assert_eq!(printed(&mut cached(folder.path(), &RUN)), (expected, String::new()));
}

/// Killed at various times, from the first file in the folder on. The folder never has a partial
/// trace.
#[test]
fn a_killed_process_does_no_harm() {
    let folder = tempfile::tempdir().expect("a folder");
    let expected = printed(cached(folder.path(), &RUN).arg("--no-cache"));
    for delay in [0, 1, 3, 10] {
        let cache = folder.path().join(delay.to_string());
        let mut process = started(&cache);
        while files(&cache).is_empty() && process.try_wait().expect("a process").is_none() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(delay));
        process.kill().expect("a kill");
        process.wait().expect("its end");
        assert_eq!(printed(&mut cached(&cache, &RUN)), expected, "the same report, and not a word");
    }
}
