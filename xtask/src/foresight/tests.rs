//! Made-up folders of which every rate is a function of TBs, so that the best configuration is known.

use std::path::PathBuf;

use super::*;

/// Writes a folder with one pair, of which an SM holds eight TBs together, four each by SMK-P. `rate` gives both rates in a configuration; alone both do 8.
fn folder(at: &tempfile::TempDir, kernels: [&str; 2], rate: impl Fn(u32, u32) -> [f64; 2]) -> PathBuf {
    let folder = at.path().join(kernels.join("+"));
    std::fs::create_dir_all(folder.join("runs")).unwrap();
    let configuration = |first: u32| {
        let [one, other] = rate(first, 8 - first);
        format!(r#"{{"config": [{first}, {}], "ipc": [{one}, {other}], "stp": {}}}"#, 8 - first, (one + other) / 8.0)
    };
    let configurations: Vec<_> = (1..8).map(configuration).collect();
    let [one, other] = kernels;
    let results = format!(
        r#"{{"studies": [{{"gpu": "g", "kernels": [{{"name": "{one}", "max_tbs": 8}}, {{"name": "{other}", "max_tbs": 8}}],
            "groups": [{{"kernels": ["{one}", "{other}"], "class": "MC", "isolated_ipc": [8, 8], "configurations": [{}],
            "policies": [{{"policy": "smk", "run": "r", "config": [4, 4]}}]}}]}}]}}"#,
        configurations.join(", ")
    );
    let launch = |insts: f64| {
        format!(
            r#"{{"warp_insts": {insts}, "l1": {{"accesses": 2, "hits": 1, "reservation_fails": 0}}, "l2": {{"accesses": 1, "hits": 0, "reservation_fails": 0}},
                "dram_reads": 1, "dram_writes": 0, "issue_slots": [1, 1]}}"#
        )
    };
    let launches = rate(4, 4).map(|rate| launch((1000.0 * rate).round()));
    std::fs::write(folder.join("results.json"), results).unwrap();
    std::fs::write(folder.join("runs/r.json"), format!(r#"{{"outcome": {{"launches": [{}], "sm_cycles": 1000}}}}"#, launches.join(", ")))
        .unwrap();
    folder
}

/// The first kernel gains by every TB, the second by none: seven and one are the best.
fn saturated(first: u32, _: u32) -> [f64; 2] {
    [f64::from(first), 1.0]
}

fn chosen(from: &[PathBuf], judge: PathBuf) -> Vec<String> {
    let (known, judged) = (data::read(from).unwrap(), data::read(&[judge]).unwrap());
    let from: Vec<&Mix> = known.iter().filter(|other| !other.shares_kernel(&judged[0])).collect();
    choose(&from, &judged[0]).unwrap().iter().map(|&choice| judged[0].choices[choice].label()).collect()
}

#[test]
fn what_is_always_so_is_learned_by_all() {
    let at = tempfile::tempdir().unwrap();
    let from = [["a", "b"], ["c", "d"], ["e", "f"]].map(|kernels| folder(&at, kernels, saturated));
    assert_eq!(chosen(&from, folder(&at, ["x", "y"], saturated)), ["4-4", "7-1", "7-1", "7-1", "7-1"]);
}

/// In the table the kernel that issues most comes first, wherever it stands in the mix.
#[test]
fn the_table_knows_kernels_by_what_they_issue() {
    let at = tempfile::tempdir().unwrap();
    let from = [["a", "b"], ["c", "d"]].map(|kernels| folder(&at, kernels, saturated));
    let turned = folder(&at, ["x", "y"], |_, second| [1.0, f64::from(second)]);
    assert_eq!(chosen(&from, turned)[1], "1-7");
}

/// Nothing is learned from a mix with a kernel of the one that is judged: what is left says that who issues most needs least.
#[test]
fn a_kernel_of_its_own_teaches_nothing() {
    let at = tempfile::tempdir().unwrap();
    let other = |_: u32, second: u32| [9.0, f64::from(second)];
    let from = [folder(&at, ["x", "b"], saturated), folder(&at, ["c", "d"], other), folder(&at, ["e", "f"], other)];
    let choices = chosen(&from, folder(&at, ["x", "y"], saturated));
    assert_eq!((choices[1].as_str(), choices[4].as_str()), ("1-7", "7-1"));
}

#[test]
fn the_way_is_from_smks_to_the_best() {
    assert_eq!(ways([1.0, 1.25, 0.5, 1.5, 2.0]), ["0 %", "25 %", "-50 %", "50 %", "100 %"]);
    assert_eq!(ways([1.0; 5])[0], "-");
}

#[test]
fn a_folder_that_lacks_something_is_refused() {
    let at = tempfile::tempdir().unwrap();
    let made = folder(&at, ["a", "b"], saturated);
    std::fs::remove_file(made.join("runs/r.json")).unwrap();
    let message = |folders: &[PathBuf]| format!("{:#}", data::read(folders).err().unwrap());
    assert!(message(std::slice::from_ref(&made)).contains("r.json"));
    let text = std::fs::read_to_string(made.join("results.json")).unwrap();
    std::fs::write(made.join("results.json"), text.replace(r#""config": [4, 4]}]"#, r#""config": [9, 9]}]"#)).unwrap();
    assert!(message(&[made]).contains("no static run of SMK-P's configuration"));
    assert!(message(&[at.path().into()]).contains("results.json"));
}
