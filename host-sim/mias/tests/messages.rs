//! Output of the command in addition to reports: completions, manual pages, amount and colors of
//! standard error.

use crate::support::{mias, printed, refused};
use predicates::prelude::*;
use predicates::str::contains;

/// Returns the commands listed in the help.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let rest = help.split_once("Commands:\n").expect("commands").1;
    let lines = rest.lines().take_while(|line| !line.is_empty()).filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<String> =
        lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).filter(|name| name != "help").collect();
    assert!(names.len() > 8, "{names:?}");
    names
}

#[test]
fn every_shell_is_told_of_every_command_and_policy() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell]);
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        assert!(script.contains("mias-ipm-ipc"), "{shell}");
    }
    refused(&["completions", "tcsh"], &["invalid value 'tcsh'"]);
}

/// bash itself parses the script, and completes with it.
#[test]
fn bash_completes_a_command() {
    let script =
        "eval \"$(\"$MIAS\" completions bash)\"; COMP_WORDS=(mias firm); COMP_CWORD=1; _mias mias firm mias; echo \"${COMPREPLY[@]}\"";
    let program = assert_cmd::cargo::cargo_bin!("mias");
    match std::process::Command::new("bash").args(["-c", script]).env("MIAS", program).output() {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "firmware", "{}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => eprintln!("no bash: only read, by the test beside this one"),
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let page = printed(&["man"]);
    assert!(page.contains(".TH mias 1"), "{page}");
    for command in commands() {
        assert!(page.contains(&format!("mias\\-{command}(1)")), "{command}: {page}");
        assert!(printed(&["man", &command]).contains(&format!(".TH mias-{command} 1")), "{command}");
    }
    assert!(printed(&["man", "firmware", "generate"]).contains("\\-\\-force"));
    refused(&["man", "firmware", "erase"], &["`mias firmware` has no command `erase`; it has replay, generate"]);
    refused(&["man", "compare", "mm"], &["`mias compare` has no subcommands: unknown command `mm`"]);
}

/// A GPU without the coefficient of mias-linear causes a warning; a run of a few cycles
/// suffices.
const WARNED: [&str; 8] = ["compare", "fwt:8192", "--policy", "mias-linear", "--cycles", "6000", "--gpu", "none.toml"];

fn warned(more: &[&str]) -> assert_cmd::Command {
    let folder = tempfile::tempdir().unwrap().keep();
    let shown = printed(&["gpu", "show"]);
    let from = shown.find("linear_coefficient_q16 = ").expect("the coefficient");
    let line = shown[from..].lines().next().unwrap();
    std::fs::write(folder.join("none.toml"), shown.replace(line, "linear_coefficient_q16 = 0")).unwrap();
    let mut command = mias(&[&WARNED[..], more].concat());
    command.current_dir(&folder).env_remove("NO_COLOR").env_remove("CLICOLOR").env_remove("CLICOLOR_FORCE");
    command
}

#[test]
fn quiet_says_errors_only_and_verbose_where_things_come_from() {
    let usual = warned(&[]).assert().success().stderr(contains("warning: `rtx2060` has no coefficient").and(contains("note:").not()));
    let quiet = warned(&["--quiet"]).assert().success().stderr("");
    let verbose = warned(&["-v"]).assert().success();
    // The report is unaffected.
    let report = |run: &assert_cmd::assert::Assert| run.get_output().stdout.clone();
    assert_eq!(report(&usual), report(&quiet));
    assert_eq!(report(&usual), report(&verbose));
    verbose.stderr(contains("note: GPU `rtx2060`: file none.toml").and(contains("note: `fwt:8192`: executed")));
    mias(&["-q", "compare", "no-such-kernel"]).assert().code(2).stderr(contains("error: "));
    refused(&["-q", "-v", "gpu", "show"], &["cannot be used with"]);
}

#[test]
fn a_trace_is_said_to_be_cached_where_it_is() {
    let cache = tempfile::tempdir().unwrap();
    let run = || {
        let mut run = mias(&["run", "fwt:8192", "--cycles", "6000", "-v", "--check"]);
        run.env_remove("MIAS_CACHE_LIMIT").env("MIAS_CACHE", cache.path());
        run
    };
    run().assert().success().stderr(contains("note: GPU `rtx2060`: built in").and(contains("note: `fwt:8192`: executed")));
    run().assert().success().stderr(contains("note: `fwt:8192`: trace from the cache"));
}

/// <https://bixense.com/clicolors>: colors can be forced without a terminal, and `NO_COLOR` has
/// precedence.
#[test]
fn colors_follow_the_environment() {
    let escape = contains("\u{1b}[");
    warned(&[]).assert().stderr(escape.clone().not());
    warned(&[]).env("CLICOLOR_FORCE", "1").assert().stderr(escape.clone().and(contains("warning")));
    warned(&[]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").assert().stderr(escape.clone().not());
    mias(&["compare", "no-such-kernel"]).env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR").assert().stderr(escape);
}

/// A plan's GPUs are listed once each, though two settings have each of them.
#[test]
fn an_evaluation_says_where_its_gpus_are_from() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.toml"), printed(&["gpu", "show"]).replacen("\"rtx2060\"", "\"mine\"", 1)).unwrap();
    let plan = "name = \"p\"\ndescription = \"d\"\n[[experiment]]\nname = \"e\"\ntitle = \"t\"\ngpu = [\"rtx2060\", \"mine.toml\"]\n\
                kernels = [\"fwt:4096\"]\ntogether = 1\npolicies = [\"left-over\"]\n[experiment.parameters]\ncycles = [6000, 7000]\n";
    std::fs::write(folder.path().join("p.toml"), plan).unwrap();
    let mut list = mias(&["-v", "evaluate", "p.toml", "--list"]);
    let said = String::from_utf8(list.current_dir(folder.path()).assert().success().get_output().stderr.clone()).unwrap();
    for line in ["note: GPU `rtx2060`: built in\n", "note: GPU `mine`: file mine.toml\n"] {
        assert_eq!(said.matches(line).count(), 1, "{said}");
    }
}

/// A quota, limit, way or weight for a missing kernel. It is refused if an option of this run sets
/// it. In a GPU's file, which also applies to runs with fewer kernels, it causes a message with
/// a remedy.
#[test]
fn numbers_for_kernels_that_are_not_there_are_said() {
    for (way, key) in [
        ("sm.memory_issue.order=scheduler", "sm.memory_issue.warp_quota"),
        ("sm.memory_issue.in_flight=static", "sm.memory_issue.limits"),
        ("l1.partition.by=fixed", "l1.partition.ways"),
        ("l1.miss_resources.by=weights", "l1.miss_resources.weights"),
    ] {
        refused(
            &["run", "fwt:8192", "mm:64", "--set", way, "--set", &format!("{key}=[1, 1, 1]")],
            &[&format!("`--set {key}`"), "3 numbers for 2 kernels: use at most one per kernel"],
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let gpu = printed(&["gpu", "show"]) + "\n[sm.memory_issue]\nwarp_quota = [1000, 2000]\n";
    std::fs::write(folder.path().join("mine.toml"), gpu).unwrap();
    let mut run = mias(&["run", "fwt:8192", "--gpu", "mine.toml", "--cycles", "6000"]);
    run.current_dir(folder.path()).assert().success().stderr(contains(
        "GPU `rtx2060`: sm.memory_issue.warp_quota has 2 numbers, one per kernel, and this run has 1 kernels: the last have no effect; leave them out if no run has more",
    ));
}
