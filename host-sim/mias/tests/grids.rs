//! Grids executed during simulation: the same bytes as complete ones, and errors where they must
//! stop.

use assert_cmd::Command;
use predicates::prelude::*;

fn mias(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mias"));
    command.args(args);
    command
}

/// Returns the report of a run without a cache.
fn report(args: &[&str]) -> String {
    let output = mias(args).args(["--no-cache", "--format", "json"]).assert().success().get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

/// 240 TBs of two tiles: more than are executed before a run begins, but quick. nbdy's default is
/// 30 times as large.
const SYSTEMS: &str = "nbdy:61440,systems=120";

#[test]
fn amounts_of_memory_are_checked() {
    let run = ["run", "mm:64", "--cycles", "20000", "--no-cache", "--memory"];
    let message = "error: invalid value '0' for '--memory <BYTES>': 0 bytes hold no trace; use a number of bytes such as 2GiB or 500MB";
    mias(&run).arg("0").assert().code(2).stdout("").stderr(predicate::str::starts_with(message));
    let message =
        "error: invalid value 'much' for '--memory <BYTES>': expected a number of bytes, alone or with a unit as in 2GiB or 500MB";
    mias(&run).arg("much").assert().code(2).stdout("").stderr(predicate::str::starts_with(message));
}

/// The minimum budget for execution is stated if it exceeds the kernel's budget, and only then.
#[test]
fn a_budget_below_the_least_is_said() {
    let run = ["run", "mm:256", "--cycles", "20000"];
    let whole = report(&run);
    let message = "warning: `mm` is executed in up to 64.0 MiB of memory, more than the 10.0 KiB that it has of --memory\n";
    let found = mias(&run).args(["--no-cache", "--format", "json", "--memory", "10KiB"]).assert().success().stderr(message);
    assert_eq!(String::from_utf8(found.get_output().stdout.clone()).unwrap(), whole);
    mias(&run).args(["--no-cache", "--memory", "64MiB"]).assert().success().stderr("");
}

/// A warp's record grows in every iteration of an endless loop, including loops with a barrier.
#[test]
fn records_end_where_the_budget_does() {
    let folder = tempfile::tempdir().unwrap();
    let ptx = folder.path().join("loops.ptx");
    let turns = LOOPS.replace("bra L;\n}\n.visible .entry spins", "bar.sync 0;\nbra L;\n}\n.visible .entry spins");
    for (text, lines) in [(LOOPS, "12 to 13"), (&turns, "12 to 14")] {
        std::fs::write(&ptx, text).unwrap();
        let options =
            ["--entry", "gathers", "--grid", "4", "--block", "1024", "--regs", "16", "--arg", "buf:u32:32768:zeros", "--no-cache"];
        let run = [&["run", "--ptx", ptx.to_str().unwrap(), "--memory", "64MiB"][..], &options].concat();
        let message = format!("filled its 16777216 bytes of --memory, in lines {lines}");
        mias(&run).assert().code(2).stdout("").stderr(predicate::str::contains(message).and(predicate::str::contains("larger --memory")));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_buffer_for_which_there_is_no_memory_is_told() {
    let limited = |kernel: &str| {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "ulimit -v 1000000; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_mias"),
            "run",
            kernel,
            "--cycles",
            "9000",
            "--no-cache",
        ]);
        command.env("RAYON_NUM_THREADS", "2");
        command
    };
    let message = "cannot allocate 1.0 GiB for it; use a smaller size, or raise the memory limit (`ulimit -v`)";
    limited("fwt:268435456")
        .assert()
        .code(2)
        .stdout("")
        .stderr(predicate::str::contains("buffer `").and(predicate::str::contains(message)));
    limited("fwt:1048576").assert().success();
}

#[test]
fn what_is_no_run_is_not_listed() {
    mias(&["run", "--help"]).assert().success().stdout(predicate::str::contains("sequential").not());
    mias(&["policies"]).assert().success().stdout(predicate::str::contains("sequential"));
    mias(&["run", "mm:64", "--policy", "sequential"]).assert().code(2).stderr(predicate::str::contains("`sequential` is not a run"));
}

const LOOPS: &str = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry gathers(.param .u64 p)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n\
ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd3, %rd1, %rd2;\nL: ld.global.u32 %r2, [%rd3];\nbra L;\n}\n\
.visible .entry spins()\n{\nL: bra L;\n}\n.visible .entry ends()\n{\nret;\n}\n";

#[test]
fn endless_loops_end_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let ptx = folder.path().join("loops.ptx");
    std::fs::write(&ptx, LOOPS).unwrap();
    let ptx = ptx.to_str().unwrap();
    let run = |entry: &str, args: &[&str]| {
        let options = ["run", "--ptx", ptx, "--entry", entry, "--grid", "4", "--block", "1024", "--regs", "16", "--no-cache"];
        mias(&options).args(args).assert().code(2)
    };
    let gathers = run("gathers", &["--arg", "buf:u32:32768:zeros", "--memory", "8GiB"]);
    gathers.stderr(predicate::str::contains("still running after a record of 268435456 bytes, in lines 12 to 13"));
    let message = "still running after 40000000 instructions of all its warps, in line 17; if it needs more, raise `tb_instructions`";
    run("spins", &[]).stderr(predicate::str::contains(message));
}

const PRINTS: &str = ".version 7.8\n.target sm_75\n.address_size 64\n\
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n.global .align 1 .b8 text[12] = {84, 66, 32, 37, 117, 10, 0};\n\
.visible .entry prints()\n{\n.local .align 8 .b8 d[8];\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\nmov.u64 %rd1, d;\ncvta.local.u64 %rd2, %rd1;\n\
mov.u32 %r1, %ctaid.x;\nst.local.u32 [%rd1], %r1;\nmov.u64 %rd3, text;\ncvta.global.u64 %rd3, %rd3;\n\
{\n.param .b64 a;\nst.param.b64 [a], %rd3;\n.param .b64 b;\nst.param.b64 [b], %rd2;\n.param .b32 c;\ncall.uni (c), vprintf, (a, b);\n}\nret;\n}\n";

#[test]
fn what_threads_print_is_shown_if_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let ptx = folder.path().join("prints.ptx");
    std::fs::write(&ptx, PRINTS).unwrap();
    let run = ["run", "--ptx", ptx.to_str().unwrap(), "--grid", "3", "--block", "1", "--regs", "16", "--cycles", "9000"];
    let cached = |args: &[&str]| mias(&run).args(args).env("MIAS_CACHE", folder.path().join("cache")).assert().success();
    cached(&[]).stderr(predicate::str::contains("threads of `prints` print; `mias run --print` shows what"));
    // The second time, the trace comes from the cache.
    for _ in 0..2 {
        cached(&["--print"]).stderr("TB 0\nTB 1\nTB 2\n");
    }
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` leaves out.
mod slow {
    use super::*;

    #[test]
    fn a_window_of_a_grid_is_that_of_the_whole_grid() {
        let run = ["run", SYSTEMS, "fwt:262144", "--cycles", "20000"];
        let whole = report(&[&run[..], &["--check"]].concat());
        assert_eq!(report(&run), whole);
        for memory in ["3GiB", "16MiB"] {
            assert_eq!(report(&[&run[..], &["--memory", memory]].concat()), whole, "{memory}");
        }
    }

    #[test]
    fn what_is_cached_does_not_show() {
        let folder = tempfile::tempdir().unwrap();
        let run = ["run", SYSTEMS, "--cycles", "20000", "--format", "json"];
        let printed = || mias(&run).env("MIAS_CACHE", folder.path()).assert().success().get_output().stdout.clone();
        let cold = printed();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "not all of the grid was needed");
        mias(&run).arg("--check").env("MIAS_CACHE", folder.path()).assert().success();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(printed(), cold);
    }

    /// fwt is relaunched repeatedly and overwrites its input, but every launch repeats the first
    /// one's trace.
    #[test]
    fn a_relaunch_reads_what_was_too_much_for_memory() {
        let run = ["run", "fwt:262144", "--set", "relaunch=true", "--cycles", "100000"];
        let whole = report(&[&run[..], &["--check"]].concat());
        assert_eq!(report(&[&run[..], &["--memory", "1MiB"]].concat()), whole);
    }

    #[test]
    fn a_grid_of_a_billion_runs_its_window() {
        let folder = tempfile::tempdir().unwrap();
        let ptx = folder.path().join("loops.ptx");
        std::fs::write(&ptx, LOOPS).unwrap();
        let run = ["run", "--entry", "ends", "--grid", "1000000000", "--block", "32", "--regs", "16", "--cycles", "10000", "--ptx"];
        let found = report(&[&run[..], &[ptx.to_str().unwrap()]].concat());
        // A TB is one instruction: some were issued, and none was left over from a smaller grid.
        assert!(!found.contains("\"tbs_issued\": 0"), "{found}");
    }
}
