//! Tests of the scripts: valid bash, with the resources that the engines need. `cargo xtask slurm`
//! runs the scripts on Slurm.

use super::*;
use std::io::Write;
use std::process::{Command, Stdio};

const SIZES: Sizes = Sizes { shards: 12, cores: 4, hours: 7, memory_mib: 3_072 };

fn command() -> Vec<String> {
    ["/opt/it's mine/mias", "evaluate", "/data/$HOME/my plan.toml", "--out", "/data/a;b"].map(str::to_owned).to_vec()
}

fn script(engine: Engine, name: &str) -> String {
    engine.scripts("thesis", &command(), &SIZES).into_iter().find(|(known, _)| *known == name).unwrap().1
}

/// Runs a script in bash, or only parses it; returns whether bash succeeded, and its output.
fn bash(options: &[&str], script: &str) -> (bool, String) {
    let mut bash = Command::new("bash").args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("bash");
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn scripts_are_bash() {
    for engine in [Engine::Slurm, Engine::HyperQueue] {
        for (name, text) in engine.scripts("thesis", &command(), &SIZES) {
            assert!(text.starts_with("#!/bin/bash\n"), "sbatch takes no script without");
            assert!(bash(&["-n"], &text).0, "{name}: {text}");
        }
    }
    assert!(!bash(&["-n"], "for; do\n").0, "bash says what is wrong");
}

/// Directives stand before the first command, each once, and the merge is no array.
#[test]
fn slurm_is_told_what_a_job_needs() {
    let shard = script(Engine::Slurm, "shard.sh");
    let directives: Vec<&str> = shard.lines().skip(1).take_while(|line| line.starts_with("#SBATCH --")).collect();
    assert_eq!(directives.len(), shard.matches("#SBATCH").count());
    for needed in ["array=1-12", "cpus-per-task=4", "ntasks=1", "nodes=1", "mem=3072M", "time=7:00:00", "requeue", "open-mode=append"] {
        assert_eq!(directives.iter().filter(|line| line.strip_prefix("#SBATCH --") == Some(needed)).count(), 1, "{needed}");
    }
    let merge = script(Engine::Slurm, "merge.sh");
    assert!(!merge.contains("--array") && merge.contains("#SBATCH --cpus-per-task=1\n") && merge.ends_with(" --merge\n"));
    let submit = script(Engine::Slurm, "submit.sh");
    assert!(submit.contains("--dependency=\"afterany:"), "one that waits for success would wait for ever");
}

#[test]
fn hyperqueue_is_told_what_a_task_needs() {
    let submit = script(Engine::HyperQueue, "submit.sh");
    let line = submit.lines().find(|line| line.contains("--array")).unwrap();
    for needed in [" --wait ", " --array=1-12 ", " --cpus=4 ", " --time-limit=7h ", " -- bash \"$PWD/shard.sh\" || true"] {
        assert!(line.contains(needed), "{needed}: {line}");
    }
    let merge = submit.lines().find(|line| line.contains("merge.sh")).unwrap();
    assert!(merge.contains(" --wait ") && !merge.contains("|| true"), "its failure is that of the script: {merge}");
}

/// Every word arrives as it is, with the number of the shard; a shard that fails is tried again,
/// and its code is that of the script.
#[test]
fn a_shard_is_run_until_it_succeeds() {
    for (engine, number) in [(Engine::Slurm, "SLURM_ARRAY_TASK_ID=3 SLURM_CPUS_PER_TASK=4"), (Engine::HyperQueue, "HQ_TASK_ID=3")] {
        let mut words = command();
        words[0] = "fake".into();
        let script = engine.scripts("thesis", &words, &SIZES).swap_remove(0).1;
        let with = |fake: &str| bash(&[], &format!("{number}\nsleep() {{ :; }}\nfake() {{ {fake}; }}\n{script}"));
        let (done, printed) = with("printf '<%s>' \"$@\"");
        let words = "<evaluate></data/$HOME/my plan.toml><--out></data/a;b><--jobs><4><--shard><3/12>";
        assert_eq!((done, printed.as_str()), (true, words));
        let (done, printed) = with("echo tried; return 2");
        assert_eq!((done, printed.lines().count()), (false, 3));
        let (done, printed) = with("echo tried; [ \"$try\" = 2 ]");
        assert_eq!((done, printed.lines().count()), (true, 2));
    }
}

#[test]
fn words_are_quoted_where_the_shell_would_read_more() {
    assert_eq!([quoted("/a/b-1.toml"), quoted("a b"), quoted("it's"), quoted("")], ["/a/b-1.toml", "'a b'", r"'it'\''s'", "''"]);
}
