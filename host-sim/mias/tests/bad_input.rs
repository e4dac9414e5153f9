//! Malformed user files: refused by one message with file and line, exit code 2 and no output file;
//! or accepted if they have a sensible interpretation. The list is sources.md D101, and other kinds
//! of files.

use crate::support::{Trace, header, json, mias, printed, refused, tb};
use predicates::str::contains;
use std::fs;
use std::io::Write;

const MOV: &str = "0000 ffffffff 1 R1 MOV 0 0 0";
const BAR: &str = "0010 ffffffff 0 BAR.SYNC 0 0 0";
const EXIT: &str = "0020 ffffffff 0 EXIT 0 0 0";

/// Returns two warps that meet at a barrier.
fn sound() -> String {
    header(64) + &tb(&[&[MOV, BAR, EXIT], &[MOV, BAR, EXIT]])
}

/// Returns the number of the first line with `needle`, from 1.
fn line(text: &str, needle: &str) -> usize {
    text.lines().position(|line| line.contains(needle)).expect(needle) + 1
}

#[test]
fn a_missing_last_newline_is_harmless() {
    let text = sound();
    assert_eq!(Trace::new(text.trim_end()).launches(), Trace::new(&text).launches());
}

#[test]
fn warps_without_instructions_are_harmless() {
    let text = header(128) + &tb(&[&[MOV, BAR, EXIT], &[], &[MOV, BAR, EXIT], &[]]);
    assert_eq!(Trace::new(&text).launches()[0]["warp_insts"], 6);
    // The warp is missing, and the launch has no instruction.
    let missing = text.replace("warp = 1\ninsts = 0\n", "");
    assert_eq!(Trace::new(&missing).launches(), Trace::new(&text).launches());
    let empty = &Trace::new(&(header(64) + &tb(&[&[], &[]]))).launches()[0];
    assert_eq!((&empty["warp_insts"], &empty["tbs_completed"]), (&0.into(), &1.into()));
}

#[test]
fn a_barrier_mask_narrower_than_the_block_is_harmless() {
    // 48 threads: half of the second warp does not exist, with and without a mask in the trace.
    let narrow = BAR.replace("ffffffff", "0000ffff");
    let text = header(48) + &tb(&[&[MOV, BAR, EXIT], &[MOV, &narrow, EXIT]]);
    let launch = &Trace::new(&text).launches()[0];
    assert_eq!((&launch["warp_insts"], &launch["thread_insts"]), (&6.into(), &(6 * 32 - 16).into()));
    // A warp that never arrives at the barrier does not block the others.
    let absent = header(64) + &tb(&[&[MOV, BAR, EXIT], &[MOV, EXIT]]);
    assert_eq!(Trace::new(&absent).launches()[0]["tbs_completed"], 1);
}

#[test]
fn corrupt_headers_are_refused() {
    for (sound_line, broken, part) in [
        ("-nregs = 32", "-nregs = 21955", "header `nregs`: `21955` is not a number of registers from 1 to 255"),
        ("-nregs = 32", "-nregs = 0", "header `nregs`: `0` is not a number of registers from 1 to 255"),
        ("-grid dim = (1,1,1)", "-grid dim = (10000000000,1,1)", "`(10000000000,1,1)` is not a grid of at most 2147483647 TBs"),
        ("-binary version = 75", "-binary version = 0", "header `binary version`: `0` is not a known instruction set"),
        ("-grid dim = (1,1,1)", "-grid dim = (0,1,1)", "header `grid dim`: `(0,1,1)` is not three numbers (x,y,z) of at least 1"),
        ("-block dim = (64,1,1)", "-block dim = (64,1,0)", "header `block dim`: `(64,1,0)`"),
        ("-block dim = (64,1,1)", "-block dim = (2048,1,1)", "`(2048,1,1)` is not a block of at most 1024 threads"),
        ("-accelsim tracer version = 5", "-accelsim tracer version = 9", "`9` is not a version from 1 to 5"),
        ("-shmem = 512", "-shmem = -1", "header `shmem`: `-1`"),
        ("-shmem = 512", "-shmem = 300000", "header `shmem`: `300000` is not a number of bytes from 0 to 233472"),
        ("-nregs = 32", "nregs 32", "header line `-key = value` expected, found `nregs 32`"),
    ] {
        let text = sound().replace(sound_line, broken);
        Trace::new(&text).is_refused(&[&format!("kernel-1.traceg:{}: ", line(&text, broken)), part]);
    }
    let text = sound().replace("-nregs = 32\n", "");
    Trace::new(&text).is_refused(&[&format!("kernel-1.traceg:{}: ", line(&text, "#traces")), "no `-nregs = ...` line"]);
    Trace::new("").is_refused(&["kernel-1.traceg: the header has no `-kernel name = ...` line"]);
    Trace::named("kernel-1.traceg", b"\x7fELF\x02\x01\x01\0\0\xff\xfe\n\0\0").is_refused(&["kernel-1.traceg:1: "]);
}

#[test]
fn a_grid_and_a_body_that_disagree_are_refused() {
    let last = sound().lines().count();
    let none = header(64);
    Trace::new(&none).is_refused(&[&format!("kernel-1.traceg:{}: the grid has 1 TBs but 0 were recorded", none.lines().count())]);
    let more = sound() + "#BEGIN_TB\n";
    Trace::new(&more).is_refused(&[&format!("kernel-1.traceg:{}: more TBs than the 1 of the grid", last + 1)]);
    let cut = sound().replace("#END_TB\n", "");
    Trace::new(&cut).is_refused(&[&format!("kernel-1.traceg:{}: ", last - 1), "the file ends within the TB that begins at line 16"]);
    let fewer = sound().replacen("insts = 3", "insts = 4", 1);
    Trace::new(&fewer).is_refused(&[&format!("kernel-1.traceg:{}: ", line(&fewer, "warp = 1")), "after 3 of the warp's 4"]);
    let endless = sound().replacen("insts = 3", "insts = 18446744073709551615", 1);
    Trace::new(&endless).is_refused(&["kernel-1.traceg:", "after 3 of the warp's 18446744073709551615"]);
}

#[test]
fn truncated_and_damaged_xz_files_are_refused() {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
    encoder.write_all(sound().as_bytes()).unwrap();
    let whole = encoder.finish().unwrap();
    assert_eq!(Trace::named("kernel-1.traceg.xz", &whole).launches(), Trace::new(&sound()).launches());
    for length in [0, 1, 12, whole.len() / 2, whole.len() - 1] {
        Trace::named("kernel-1.traceg.xz", &whole[..length]).is_refused(&["kernel-1.traceg.xz:"]);
    }
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    Trace::named("kernel-1.traceg.xz", &damaged).is_refused(&["kernel-1.traceg.xz:"]);
    Trace::named("kernel-1.traceg.xz", sound().as_bytes()).is_refused(&["kernel-1.traceg.xz:1: "]);
}

#[test]
fn a_list_that_names_nothing_that_is_there_is_refused() {
    let trace = Trace::new(&sound());
    fs::write(&trace.list, "kernel-1.traceg\nMemcpyHtoD,0x0,4\n\nkernel-2.traceg\n").unwrap();
    trace.is_refused(&["kernelslist.g:4: `kernel-2.traceg` is named here, but missing from the folder of the list"]);
    fs::write(&trace.list, "kernel-1.traceg\nMemcpyHtoD,zero,4\n").unwrap();
    trace.is_refused(&["kernelslist.g:2: malformed copy `MemcpyHtoD,zero,4`"]);
    fs::write(&trace.list, "").unwrap();
    trace.is_refused(&["kernelslist.g: the list names no kernel trace"]);
}

#[test]
fn a_tb_that_no_sm_can_hold_is_refused_with_the_resource() {
    // 1,024 threads of 128 registers; 96 KB of shared memory.
    let mut text = header(1024).replace("nregs = 32", "nregs = 128") + &tb(&[&[EXIT]]);
    let parts = ["kernel-1.traceg: ", "one TB of kernel `k` needs 131072 registers", "an SM of `rtx2060-accelsim` has 65536"];
    Trace::new(&text).is_refused(&parts);
    text = sound().replace("shmem = 512", "shmem = 98304");
    Trace::new(&text).is_refused(&["kernel-1.traceg: ", "needs 98304 bytes of shared memory", "has 65536"]);

    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small.toml");
    fs::write(&small, mias_gpus::text("rtx2060-accelsim").unwrap().replace("threads = 1024", "threads = 512")).unwrap();
    let trace = Trace::new(&(header(1024) + &tb(&[&[EXIT]])));
    let arguments = ["run", "--trace", &trace.list, "--gpu", small.to_str().unwrap()];
    refused(&arguments, &["kernel-1.traceg: ", "needs 1024 threads", "has 512"]);
}

#[test]
fn what_the_reader_does_not_know_is_a_warning() {
    let trace = Trace::new(&sound().replace(MOV, "0000 ffffffff 1 R1 FROB.X 1 R2 0 0"));
    let assert = mias(&["run", "--gpu", "rtx2060-accelsim", "--trace", &trace.list]).assert().success();
    assert.stderr(contains("warning: unknown opcodes timed as integer: FROB (2 executed)"));
}

#[test]
fn a_trace_says_what_it_has_that_is_not_known() {
    let trace = Trace::new(&sound().replace(MOV, "0000 ffffffff 1 R1 FROB.X 1 R2 0 0"));
    assert!(printed(&["trace", "info", &trace.list]).contains("unknown opcodes, timed as integer: FROB; 2 warp instructions\n"));
    assert_eq!(json(&["trace", "info", &trace.list])["unknown_opcodes"], serde_json::json!({ "FROB": 2 }));
    assert!(json(&["trace", "info", &Trace::new(&sound()).list]).get("unknown_opcodes").is_none());
}

/// More streams than the scheduler has slots: the remaining launches wait for a slot.
#[test]
fn launches_on_many_streams_all_run() {
    let trace = Trace::new(&sound());
    let mut list = String::new();
    for stream in 0..12 {
        let name = format!("kernel-{stream}.traceg");
        fs::write(trace.folder.path().join(&name), sound().replace("stream id = 0", &format!("stream id = {stream}"))).unwrap();
        list += &format!("{name}\n");
    }
    fs::write(&trace.list, list).unwrap();
    let launches = trace.launches();
    assert_eq!(launches.len(), 12);
    assert!(launches.iter().all(|launch| launch["tbs_completed"] == 1), "{launches:?}");
}

#[test]
fn impossible_gpus_are_refused_where_they_are() {
    let original = mias_gpus::text("rtx2060-accelsim").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    for (sound_line, broken, part) in [
        ("mshrs = 256", "mshrs = 0", "l1.mshrs = 0: must be at least 1"),
        ("mshrs = 256", "mshrs = -256", "`-256`"),
        ("mshrs = 256", "mshrs = 4_000_000_000", "l1.mshrs = 4000000000: must be at most 4096"),
        ("mshrs = 256", "mshrs = 99999999999", "`99999999999`"),
        ("mshrs = 256", "mshrs = 2.5", "`2.5`"),
        ("mshrs = 256", "mshr = 256", "unknown field `mshr`"),
        ("mshrs = 256", "mshrs = 256\nmshrs = 256", "duplicate key"),
        ("sets = 64", "sets = 48", "l2.sets = 48: must be a power of two"),
        ("sets = 64", "sets = 8192", "l2.sets = 8192: the ipoly index is defined for at most 4096 sets"),
        ("banks = 16", "banks = 12", "dram.banks = 12: must be a power of two"),
        ("banks = 16", "banks = 32", "dram.address.bank_bits = 4: so many bits must number exactly dram.banks"),
        ("ways = 16", "ways = 4_000_000", "l2.ways = 4000000: sets x ways x slices must be at most 4194304 lines"),
        ("channel_shift = 8", "channel_shift = 64", "dram.address.channel_shift = 64: must be 5 to 31"),
        ("bank_bits = [7, ", "bank_bits = [12, ", "dram.address.bank_bits = 12: a bit must be named once"),
        ("bank_bits = [7, ", "bank_bits = [99, ", "dram.address.bank_bits = 99: bits must be 5 to 56"),
        ("dram_khz = 3_500_500", "dram_khz = 4_000_000_000", "clocks.dram_khz = 4000000000: must be within 1/64 and 64 times"),
        ("warp_scheduler = \"gto\"", "warp_scheduler = \"gtx\"", "unknown variant `gtx`, expected one of `gto`, `lrr`, `kernel-lrr`"),
        ("int = { latency = 2,", "int = { latency = 0,", "sm.units.int = 0: latency must be 1 to 512 cycles"),
        ("[sm.units]", "[sm.unit]", "unknown field `unit`"),
        ("[launch]", "[launch", "unclosed table"),
    ] {
        assert!(original.contains(sound_line), "{sound_line}");
        let text = original.replacen(sound_line, broken, 1);
        fs::write(&path, &text).unwrap();
        // The error points to the written line, its second occurrence, or the bank bits that no
        // longer fit.
        let fault = if part.starts_with("dram.address.bank_bits") { "bank_bits =" } else { broken.lines().last().unwrap() };
        let at = text.lines().collect::<Vec<_>>().iter().rposition(|line| line.contains(fault)).unwrap() + 1;
        let out = folder.path().join("out.json");
        let arguments = ["run", "mm", "--gpu", path.to_str().unwrap(), "--out", out.to_str().unwrap()];
        refused(&arguments, &[&format!("mine.toml:{at}:"), part]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no output");
    }
    refused(&["run", "mm", "--gpu", folder.path().to_str().unwrap()], &["cannot read the GPU file"]);
    fs::write(&path, b"name = \"\xff\"").unwrap();
    refused(&["gpu", "show", path.to_str().unwrap()], &["cannot read the GPU file"]);
}

/// More kernels than SMs under a policy that gives each its own, and SMs whose wake-up exceeds the
/// settling time of a search step.
#[test]
fn what_the_gpu_cannot_do_for_a_policy_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let gpu = |name: &str, from: &str, to: &str| {
        let text = printed(&["gpu", "show", "zhao18"]);
        assert_eq!(text.matches(from).count(), 1, "{from}");
        let file = folder.path().join(name);
        fs::write(&file, text.replace(from, to)).expect("the GPU");
        file.to_str().expect("UTF-8").to_owned()
    };
    let small = gpu("small.toml", "\ncount = 24", "\ncount = 1");
    for command in ["run", "compare"] {
        let run = [command, "fwt:8192", "blk:8192", "--gpu", &small, "--cycles", "6000", "--policy"];
        let parts = ["--policy: spatial needs 2 SMs for 2 kernels, `zhao18` has 1; use fewer kernels"];
        refused(&[&run[..], &["spatial"]].concat(), &parts);
        mias(&[&run[..], &["left-over"]].concat()).assert().success();
    }
    let slow = gpu("slow.toml", "wake_cycles = 1_000", "wake_cycles = 20001");
    for command in ["run", "compare"] {
        let run = [command, "fwt:8192", "blk:8192", "--gpu", &slow, "--cycles", "6000", "--policy", "cd-search+power"];
        let parts =
            ["cd-search+power gates SMs, which take 20001 cycles to wake", "have 20000 to settle", "set search-cycles to 20001 or more"];
        refused(&run, &parts);
        mias(&[&run[..], &["--set", "search-cycles=20001"]].concat()).assert().success();
    }
}
