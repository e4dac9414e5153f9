//! Traces in place of kernels: alone, with each other and with executed kernels, in every command.

use crate::support::{header, json, printed, reference, refused, tb};
use serde_json::Value;
use std::fs;
use std::path::Path;

const EXIT: &str = "0020 ffffffff 0 EXIT 0 0 0";

/// Returns a warp that reads `lines` lines of 128 bytes from an address.
fn reads(address: u64, lines: u64) -> String {
    let load = |n: u64| format!("{:04x} ffffffff 1 R1 LDG.E 1 R2 4 1 {:#x} 4", 16 * n, address + 128 * n);
    let loads: Vec<String> = (0..lines).map(load).collect();
    let insts: Vec<&str> = loads.iter().map(String::as_str).chain([EXIT]).collect();
    tb(&[&insts])
}

/// Creates a folder with a list of these launches: name of the kernel, and the instructions of its
/// one warp.
fn list(folder: &Path, launches: &[(&str, String)]) -> String {
    let mut list = String::new();
    for (at, (name, body)) in launches.iter().enumerate() {
        let file = format!("kernel-{}.traceg", at + 1);
        fs::write(folder.join(&file), header(32).replace("-kernel name = k\n", &format!("-kernel name = {name}\n")) + body)
            .expect("a launch");
        list += &format!("{file}\n");
    }
    let path = folder.join("kernelslist.g");
    fs::write(&path, list).expect("the list");
    path.to_str().expect("UTF-8").to_owned()
}

fn launches(run: &Value) -> &Vec<Value> {
    run["launches"].as_array().expect("launches")
}

fn sum(run: &Value, field: &str) -> u64 {
    launches(run).iter().map(|launch| launch[field].as_u64().expect("a count")).sum()
}

/// Returns the numbers of a launch that both reports have.
fn counts(launch: &Value) -> Vec<u64> {
    ["cycles", "thread_insts", "l1_misses", "l2_misses", "dram_reads", "tbs_completed"]
        .map(|field| launch[field].as_u64().expect(field))
        .to_vec()
}

#[test]
fn alone_it_is_its_replay() {
    let trace = reference("micro/dram_100");
    let replayed = json(&["run", "--trace", &trace]);
    let named = json(&["run", &trace, "--until", "done", "--policy", "left-over"]);
    assert_eq!(counts(&launches(&named)[0]), counts(&launches(&replayed)[0]));
    assert_eq!(named["launches"][0]["kernel"], *trace);
    assert_eq!(named["provenance"]["options"]["share_memory"], false);
    assert!(replayed["provenance"]["options"].get("share_memory").is_none());
    // Registers, shared memory and threads are those of its header.
    let row = &json(&["kernels", &trace])[0];
    assert_eq!(
        (&row["name"], &row["registers_per_thread"], &row["threads"], &row["tbs"]),
        (&trace.as_str().into(), &32.into(), &32.into(), &1.into())
    );
}

/// Two copies on separate SMs read twice as much as one; shared addresses are read once.
#[test]
fn copies_share_memory_only_where_that_is_asked_for() {
    let trace = reference("micro/dram_100");
    let run = |more: &[&str]| json(&[&["run", "--until", "done", "--policy", "spatial", &trace], more].concat());
    let one = sum(&run(&[]), "dram_reads");
    assert!(one >= 100, "{one}");
    let apart = run(&[&trace]);
    assert_eq!((sum(&apart, "dram_reads"), &apart["provenance"]["options"]["share_memory"]), (2 * one, &false.into()));
    assert_eq!(launches(&apart)[1]["kernel"], format!("{trace}##2"));
    let shared = run(&[&trace, "--set", "share-memory=true"]);
    assert_eq!((sum(&shared, "dram_reads"), &shared["provenance"]["options"]["share_memory"]), (one, &true.into()));
    let text = |more: &[&str]| printed(&[&["run", "--until", "done", &trace, &trace], more].concat());
    assert!(text(&[]).contains("kernels share no memory"));
    assert!(text(&["--set", "share-memory=true"]).contains("traces keep their recorded addresses"));
}

#[test]
fn launches_are_named_by_number_and_by_kernel() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = 0x7f00_0000_0000;
    let trace = list(folder.path(), &[("_Z3addPfS_i", reads(first, 3)), ("_Z5scalePf", reads(first, 5)), ("_Z3addPfi", reads(first, 7))]);
    let converted = folder.path().join("all.mtrace").to_str().expect("UTF-8").to_owned();
    printed(&["trace", "convert", &trace, &converted]);
    for file in [&trace, &converted] {
        let insts = |launch: &str| sum(&json(&["run", &format!("{file}#{launch}"), "--until", "done"]), "warp_insts");
        assert_eq!(["1", "2", "3", "scale", "_Z3addPfi", "add(float*, int)"].map(insts), [4, 6, 8, 6, 8, 8]);
        let run = |word: &str, parts: &[&str]| refused(&["run", &format!("{file}{word}")], parts);
        run(
            "#add",
            &["`add` is ambiguous", "the number of one of these launches: #1 _Z3addPfS_i (add(float*, float*, int)), #3 _Z3addPfi"],
        );
        run("#4", &["has no launch #4: it has #1 to #3"]);
        run("#0", &["has no launch #0"]);
        run("#mul", &["has no launch of a kernel `mul`; it has #1 _Z3addPfS_i", "#2 _Z5scalePf (scale(float*))"]);
        run("#", &["names no launch"]);
    }
    let part = folder.path().join("kernel-1.traceg");
    refused(&["run", part.to_str().expect("UTF-8")], &["is one file of a trace; name the kernel list", "kernelslist.g"]);
    refused(&["run", "nowhere/kernelslist.g"], &["nowhere/kernelslist.g: No such file"]);
    refused(&["compare", "mm:64", "mm:64", "--set", "share-memory=true"], &["share-memory applies to traces, and no kernel is a trace"]);
    // A row for each launch of a list.
    let rows = json(&["kernels", &trace, "mm"]);
    let names: Vec<&str> = rows.as_array().expect("rows").iter().map(|row| row["name"].as_str().expect("a name")).collect();
    assert_eq!(names, [format!("{trace}#1"), format!("{trace}#2"), format!("{trace}#3"), "mm".into()]);
    let checked = json(&["kernels", "--check", &format!("{trace}#2")]);
    assert_eq!((&checked[0]["trace"], &checked[0]["right"]), (&true.into(), &Value::Null));
    assert!(printed(&["kernels", "--check", &trace]).contains("a trace: nothing to check"));
}

/// Traces run with an executed kernel, one of them late: each has the same counts as alone.
#[test]
fn they_run_beside_executed_kernels() {
    let (dram, l2) = (reference("micro/dram_100"), reference("micro/l2_100"));
    let late = format!("{l2}#1@20000");
    let l2 = format!("{l2}#1");
    let run = json(&["run", &dram, "mm:64", &l2, "--arrive", &late, "--until", "done", "--policy", "mias-ipc"]);
    let alone = |word: &str| launches(&json(&["run", word, "--until", "done"]))[0]["thread_insts"].clone();
    let insts: Vec<&Value> = launches(&run).iter().map(|launch| &launch["thread_insts"]).collect();
    assert_eq!(insts, [&alone(&dram), &alone("mm:64"), &alone(&l2)]);
    assert_eq!(launches(&run)[2]["start_cycle"], 20_000);
    let compared = json(&["compare", &l2, "mm:64", "--cycles", "12000", "--set", "profile-cycles=2000", "--policy", "spatial,mias-ipc"]);
    assert_eq!((&compared["kernels"][0]["name"], compared["results"].as_array().expect("rows").len()), (&l2.as_str().into(), 2));
    assert!(compared["sweep"].as_array().is_some_and(|sweep| !sweep.is_empty()));
    let sweep = json(&["sweep", &dram, "--cycles", "6000"]);
    assert_eq!(sweep["kernel"], *dram);
}

/// The launches of a list form one kernel: one after the other, with one range of addresses, and
/// again from the first in a window.
#[test]
fn a_list_is_a_kernel_of_several_launches() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = 0x7f00_0000_0000;
    let trace = list(folder.path(), &[("a", reads(first, 3)), ("b", reads(first, 5)), ("c", reads(first, 7))]);
    let run = |more: &[&str]| launches(&json(&[&["run", &trace], more].concat()))[0].clone();
    let done = run(&["--until", "done"]);
    assert_eq!((&done["warp_insts"], &done["tbs_completed"]), (&(4 + 6 + 8).into(), &3.into()));
    // Seven lines of four sectors; later launches find an earlier one's data in the L2.
    assert_eq!(done["dram_reads"], 4 * 7);
    let cycles = |launch: &Value| launch["cycles"].as_u64().expect("an end");
    let single = |launch: &str| cycles(&launches(&json(&["run", &format!("{trace}#{launch}"), "--until", "done"]))[0]);
    assert!(cycles(&done) > 15_000 && cycles(&done) <= single("1") + single("2") + single("3") + 3, "{done}");
    // With another kernel, the list is repeated at least four times in a window of 100,000 cycles.
    let beside = json(&["run", &trace, "mm:64", "--cycles", "100000", "--policy", "spatial"]);
    let insts = launches(&beside)[0]["warp_insts"].as_u64().expect("a count");
    assert!(insts >= 4 * 18 && launches(&beside)[0]["end_cycle"].is_null(), "{insts}");
    let once = run(&["--cycles", "100000", "--set", "relaunch=false"]);
    assert_eq!((&once["warp_insts"], &once["end_cycle"]), (&18.into(), &done["end_cycle"]));
}

/// Two launches that differ in registers: each has its own limit, and configurations include those
/// of either.
#[test]
fn launches_differ_in_what_they_take() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = 0x7f00_0000_0000;
    let trace = list(folder.path(), &[("few", reads(first, 3)), ("many", reads(first, 5))]);
    let second = folder.path().join("kernel-2.traceg");
    let text = fs::read_to_string(&second).expect("the launch");
    // A warp of 255 registers per thread takes 8,192 of the SM's 65,536; one of 32 is limited by
    // its 1,024 threads.
    fs::write(&second, text.replace("nregs = 32", "nregs = 255").replace("grid dim = (1,1,1)", "grid dim = (400,1,1)"))
        .expect("the launch");
    refused(&["run", &trace], &["kernel-2.traceg", "the grid has 400 TBs but 1 were recorded"]);
    let tbs = reads(first, 5).repeat(400);
    let body = header(32).replace("nregs = 32", "nregs = 255").replace("grid dim = (1,1,1)", "grid dim = (400,1,1)") + &tbs;
    fs::write(&second, body).expect("the launch");
    let rows = json(&["kernels", &trace]);
    assert_eq!((&rows[0]["max_tbs"], &rows[1]["max_tbs"]), (&32.into(), &8.into()));
    let gpu = folder.path().join("two.toml");
    let text = mias_gpus::text("rtx2060").expect("the GPU");
    assert!(text.contains("count = 30"));
    fs::write(&gpu, text.replacen("count = 30", "count = 2", 1)).expect("the GPU");
    let window = ["--cycles", "25000", "--set", "profile-cycles=2000", "--gpu", gpu.to_str().expect("UTF-8")];
    let compared = json(&[&["compare", &trace, "mm:64", "--policy", "spatial,null,mias-ipc,mias-linear"], &window[..]].concat());
    assert_eq!(compared["kernels"][0]["max_tbs"], 32);
    let sweep = |word: &str| -> Vec<Value> {
        let compared = json(&[&["compare", word, "mm:64", "--policy", "spatial"], &window[..]].concat());
        compared["sweep"].as_array().expect("a sweep").iter().map(|point| point["config"].clone()).collect()
    };
    let mut either = [sweep(&format!("{trace}#1")), sweep(&format!("{trace}#2"))].concat();
    either.sort_by_key(|config| (config[0].as_u64(), config[1].as_u64()));
    either.dedup();
    let both: Vec<Value> = compared["sweep"].as_array().expect("a sweep").iter().map(|point| point["config"].clone()).collect();
    assert_eq!(both, either);
    // A static run gives the kernel TBs at every launch, and the other kernel's capacity is not
    // lent in between.
    let points = compared["sweep"].as_array().expect("a sweep");
    assert!(points.iter().all(|point| point["fairness"].as_f64().is_some_and(|fairness| fairness > 0.0)), "{points:#?}");
}

/// A plan names traces relative to its own folder; the run's key is that of the recording.
#[test]
fn plans_name_them() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("app")).expect("a folder");
    let app = folder.path().join("app");
    let address = 0x7f00_0000_0000;
    list(&app, &[("a", reads(address, 40)), ("b", reads(address, 40))]);
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let plan = |kernels: &str, parameters: &str| {
        let text = format!(
            "name = \"traces\"\ndescription = \"d\"\n[[experiment]]\nname = \"t\"\ntitle = \"T\"\ngpu = \"rtx2060\"\nkernels = {kernels}\n\
             policies = [\"spatial\", \"left-over\"]\nconfigurations = false\n[experiment.parameters]\nuntil = \"done\"\n{parameters}"
        );
        fs::write(path("plan.toml"), text).expect("the plan");
    };
    plan("[\"app/kernelslist.g#1\", \"app/kernelslist.g#b\", \"mm:64\"]", "share-memory = [false, true]\n");
    let out = path("out");
    printed(&["evaluate", &path("plan.toml"), "--out", &out]);
    let results: Value = serde_json::from_slice(&fs::read(path("out/results.json")).expect("results")).expect("JSON");
    let studies = results["studies"].as_array().expect("studies");
    assert_eq!((studies.len(), studies[0].get("share_memory"), &studies[1]["share_memory"]), (2, None, &true.into()));
    let names: Vec<&Value> = studies[0]["kernels"].as_array().expect("kernels").iter().map(|kernel| &kernel["name"]).collect();
    assert_eq!(names, ["app/kernelslist.g#1", "app/kernelslist.g#b", "mm:64"]);
    // Another program in the same file is another run.
    let keys = || -> Vec<String> {
        let listed = printed(&["evaluate", &path("plan.toml"), "--list"]);
        listed.lines().filter(|line| line.contains("kernelslist.g#1: left-over")).map(|line| line[..16].to_owned()).collect()
    };
    let before = keys();
    assert_eq!((before.len(), keys() == before), (1, true));
    list(&app, &[("a", reads(address, 41)), ("b", reads(address, 40))]);
    assert_ne!(keys(), before);
    plan("[\"app/kernelslist.g#3\", \"mm:64\"]", "");
    refused(&["evaluate", &path("plan.toml"), "--out", &out, "--list"], &["plan.toml", "kernels: ", "has no launch #3: it has #1 to #2"]);
    plan("[\"app/kernel-1.traceg\", \"mm:64\"]", "");
    refused(&["evaluate", &path("plan.toml"), "--list"], &["plan.toml", "is one file of a trace"]);
}

/// On request, data that was copied to the device is in the L2 at cycle 0: none of it is read from
/// DRAM.
#[test]
fn copies_to_the_device_warm_the_l2_on_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let first: u64 = 0x7f00_0000_0000;
    let trace = list(folder.path(), &[("a", reads(first, 40)), ("b", reads(first + (1 << 20), 8))]);
    let with = |copies: &[(u64, u64)]| {
        let lines: String = copies.iter().map(|(address, bytes)| format!("MemcpyHtoD,{address:#018x},{bytes}\n")).collect();
        fs::write(&trace, format!("{lines}kernel-1.traceg\nkernel-2.traceg\n")).expect("the list");
    };
    let reads = |words: &[&str], more: &[&str]| {
        sum(&json(&[&["run", "--until", "done", "--policy", "spatial"], words, more].concat()), "dram_reads")
    };
    let launch = format!("{trace}#1");
    with(&[(first, 10 * 128)]);
    assert_eq!((reads(&[&launch], &[]), reads(&[&launch], &["--set", "warm-l2=true"])), (160, 160 - 40));
    // A partially copied sector is present as a whole; two copies of the trace have a warm range
    // each.
    with(&[(first + 4, 40 * 128 - 8)]);
    assert_eq!((reads(&[&launch], &["--set", "warm-l2=true"]), reads(&[&launch, &launch], &["--set", "warm-l2=true"])), (0, 0));
    assert_eq!(reads(&[&launch, &launch], &["--set", "warm-l2=true", "--set", "share-memory=true"]), 0);
    // Of the whole list, only the first launch's data were copied.
    assert_eq!((reads(&[&trace], &[]), reads(&[&trace], &["--set", "warm-l2=true"])), (192, 32));
    // 64 MiB, of which no L2 keeps the beginning: the data copied last is present.
    with(&[(first, 64 << 20)]);
    assert_eq!(reads(&[&launch], &["--set", "warm-l2=true"]), 160);
    with(&[(first + (40 * 128) - (64 << 20), 64 << 20)]);
    assert_eq!(reads(&[&launch], &["--set", "warm-l2=true"]), 0);
    let warm = json(&["run", &launch, "--until", "done", "--set", "warm-l2=true"]);
    assert_eq!(warm["provenance"]["options"]["warm_l2"], true);
    let replayed = json(&["run", "--trace", &trace, "--set", "warm-l2=true"]);
    assert_eq!((&launches(&replayed)[0]["dram_reads"], &launches(&replayed)[1]["dram_reads"]), (&0.into(), &32.into()));
    assert!(printed(&["sweep", &launch, "--cycles", "6000", "--set", "warm-l2=true"]).contains("TBs/SM"));

    let nothing = "warm-l2: no kernel is a trace with a copy to the device (MemcpyHtoD) in its list";
    refused(&["run", "mm:64", "--set", "warm-l2=true"], &[nothing]);
    refused(&["sweep", "mm:64", "--set", "warm-l2=true"], &[nothing]);
    with(&[]);
    refused(&["run", &launch, "--set", "warm-l2=true"], &[nothing]);
    fs::write(&trace, "MemcpyHtoD,0x7f0000000000,4\nkernel-1.traceg\n").expect("the list");
    let converted = folder.path().join("a.mtrace").to_str().expect("UTF-8").to_owned();
    printed(&["trace", "convert", &trace, &converted]);
    refused(&["run", &converted, "--set", "warm-l2=true"], &["a.mtrace: a converted trace does not record copies", "use the kernel list"]);
    fs::write(&trace, "MemcpyHtoD,0x7f0000000000,18446744073709551615\nkernel-1.traceg\n").expect("the list");
    refused(&["run", &trace], &["kernelslist.g:1: malformed copy"]);
}
