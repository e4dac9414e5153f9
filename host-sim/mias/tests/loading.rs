//! Loading of traces does not affect output: from text or from the cache, at once or in parts, with
//! any number of threads.

use crate::support::{mias, reference};
use std::fs;
use std::path::Path;

/// Returns a trace of 24 TBs of 8 warps, each of which loads 32 random words 20 times, no two
/// alike. An access takes 16 bytes, and a pattern of 32 sectors takes 8 bytes each, twice. That is
/// 2 MB during construction, where a part is at least 1 MiB.
fn gathers(stream: u32, seed: u64) -> String {
    let mut text = format!(
        "-kernel name = k{seed}\n-grid dim = (24,1,1)\n-block dim = (256,1,1)\n-nregs = 32\n-binary version = 75\n\
         -cuda stream id = {stream}\n-accelsim tracer version = 5\n\n#format\n"
    );
    // Constants of a linear congruential generator (Knuth, volume 2, section 3.3.4: MMIX).
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    for tb in 0..24 {
        text += &format!("\n#BEGIN_TB\n\nthread block = {tb},0,0\n");
        for warp in 0..8 {
            text += &format!("\nwarp = {warp}\ninsts = 21\n");
            for pc in 0..20 {
                text += &format!("{:04x} ffffffff 1 R4 LDG.E.SYS 1 R2 4 0", 16 * pc);
                (0..32).for_each(|_| text += &format!(" 0x{:x}", 0x10_0000 + 4 * random()));
                text += "\n";
            }
            text += "0200 ffffffff 0 EXIT 0 0\n";
        }
        text += "\n#END_TB\n";
    }
    text
}

fn list(folder: &Path, kernels: &[String]) -> String {
    let mut names = String::new();
    for (at, kernel) in kernels.iter().enumerate() {
        fs::write(folder.join(format!("kernel-{at}.traceg")), kernel).unwrap();
        names += &format!("kernel-{at}.traceg\n");
    }
    let list = folder.join("kernelslist.g");
    fs::write(&list, names).unwrap();
    list.to_str().unwrap().to_owned()
}

fn replay(list: &str, more: &[&str], cache: Option<&Path>) -> String {
    let mut command = mias(&[&["run", "--gpu", "rtx2060-accelsim", "--format", "json", "--trace", list], more].concat());
    if let Some(cache) = cache {
        command.env_remove("MIAS_CACHE_LIMIT").env("MIAS_CACHE", cache);
    }
    String::from_utf8(command.assert().success().stderr("").get_output().stdout.clone()).unwrap()
}

/// An unreadable launch is reported when it starts, with file and line, and nothing is written.
#[test]
fn a_broken_launch_in_the_middle_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let broken = gathers(0, 2).replacen("0200 ffffffff 0 EXIT", "0200 fffffffff 0 EXIT", 1);
    let line = 1 + broken.lines().position(|line| line.starts_with("0200 fffffffff")).unwrap();
    let list = list(folder.path(), &[gathers(0, 1), broken]);
    let out = folder.path().join("out.json");
    let refused = mias(&["run", "--trace", &list, "--out", out.to_str().unwrap()]).assert().code(2).stdout("");
    let told = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(
        told.contains(&format!("kernel-1.traceg:{line}: a mask of 32 lanes expected")) && told.matches("error:").count() == 1,
        "{told}"
    );
    assert!(!out.exists());
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` leaves out.
mod slow {
    use super::*;

    /// Memory for a part of a launch, one launch after the other, on one stream and on two.
    #[test]
    fn a_list_beyond_its_memory_gives_the_same_bytes() {
        for streams in [[0, 0, 0], [0, 1, 0]] {
            let folder = tempfile::tempdir().unwrap();
            let kernels: Vec<String> = streams.iter().zip(1..).map(|(&stream, seed)| gathers(stream, seed)).collect();
            let list = list(folder.path(), &kernels);
            let all = replay(&list, &["--memory", "4GiB"], None);
            let document: serde_json::Value = serde_json::from_str(&all).unwrap();
            assert_eq!(
                document["launches"].as_array().unwrap().iter().map(|launch| launch["warp_insts"].as_u64()).collect::<Vec<_>>(),
                [Some(24 * 8 * 21); 3]
            );
            for memory in ["1", "4MiB", "24MiB"] {
                assert!(replay(&list, &["--memory", memory], None) == all, "{memory}");
            }
        }
    }

    #[test]
    fn the_cache_changes_nothing_but_time() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        for trace in ["corun/mm90_fwt", "micro/ffma_100"] {
            let list = reference(trace);
            let without = replay(&list, &["--no-cache"], Some(&cache));
            let before = fs::read_dir(&cache).map_or(0, Iterator::count);
            let (first, second) = (replay(&list, &[], Some(&cache)), replay(&list, &[], Some(&cache)));
            assert!(first == without && second == without, "{trace}");
            // Both launches of the first list are cached; the other is too short.
            assert_eq!((before, fs::read_dir(&cache).unwrap().count()), (if trace.starts_with("corun") { 0 } else { 2 }, 2));
        }
    }
}
