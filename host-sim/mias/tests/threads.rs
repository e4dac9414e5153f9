//! `--threads`: the same bytes with any number, in every command that has the option.

use crate::support::{printed, reference, refused};

fn same_with_any_number(arguments: &[&str]) {
    let with = |threads: &str| printed(&[arguments, &["--format", "json", "--threads", threads]].concat());
    let one = with("1");
    for threads in ["2", "4", "16"] {
        assert_eq!(with(threads), one, "{arguments:?} with {threads} threads");
    }
    assert_eq!(printed(&[arguments, &["--format", "json"]].concat()), one, "{arguments:?} with as many as there are cores");
}

#[test]
fn runs_are_the_same() {
    let decided = ["--policy", "mias-ipm-ipc", "--cycles", "24000", "--set", "profile-cycles=3000", "--explain"];
    same_with_any_number(&[&["run", "mm:128", "fwt:32768", "--arrive", "fwt:32768@7000"], &decided[..]].concat());
    let trace = reference("micro/dram_100");
    same_with_any_number(&["run", "--trace", &trace]);
}

#[test]
fn comparisons_and_sweeps_are_the_same() {
    same_with_any_number(&[
        "compare",
        "mm:64",
        "fwt:16384",
        "--cycles",
        "9000",
        "--set",
        "profile-cycles=1000",
        "--policy",
        "mias-ipc,mias-factor",
    ]);
    same_with_any_number(&["sweep", "mm:64", "--cycles", "7000"]);
}

#[test]
fn no_thread_is_refused() {
    for command in [&["run", "mm"][..], &["compare", "mm", "fwt"], &["sweep", "mm"]] {
        refused(&[command, &["--threads", "0"]].concat(), &["invalid value '0' for '--threads <N>'"]);
        refused(&[command, &["--threads", "many"]].concat(), &["invalid value 'many' for '--threads <N>'"]);
    }
}
