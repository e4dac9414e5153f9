//! Kernels that ship with `mias`, as text: original CUDA sources, the PTX compiled from them by
//! nvcc, the ptxas report of registers and shared memory, and the launch descriptions. README.md
//! describes each kernel.
//!
//! Use this crate to read the files of a kernel without a checkout of the repository. The crate
//! `mias-workloads` parses and launches them.
//!
//! ```rust
//! let kernel = mias_kernels::find("mm").unwrap();
//! assert!(kernel.ptx.contains(".entry"));
//! ```

/// Files of a kernel. File names are relative to the repository's root, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Benchmark suite that the kernel is modeled on; also the folder.
    pub suite: &'static str,
    /// Short name, also the stem of the file names.
    pub name: &'static str,
    /// CUDA source.
    pub source: &'static str,
    /// Name of the description file.
    pub description_file: &'static str,
    /// Description of launch and data, in TOML.
    pub description: &'static str,
    /// Name of the PTX file.
    pub ptx_file: &'static str,
    /// PTX text.
    pub ptx: &'static str,
    /// Name of the ptxas report.
    pub report_file: &'static str,
    /// Registers and shared memory as reported by ptxas.
    pub report: &'static str,
}

/// Embeds the files `SUITE/NAME/NAME.*`.
macro_rules! kernels {
    ($($suite:literal / $name:literal),* $(,)?) => {
        &[$(Kernel {
            suite: $suite,
            name: $name,
            source: include_str!(concat!($suite, "/", $name, "/", $name, ".cu")),
            description_file: concat!("kernels/", $suite, "/", $name, "/", $name, ".toml"),
            description: include_str!(concat!($suite, "/", $name, "/", $name, ".toml")),
            ptx_file: concat!("kernels/", $suite, "/", $name, "/", $name, ".ptx"),
            ptx: include_str!(concat!($suite, "/", $name, "/", $name, ".ptx")),
            report_file: concat!("kernels/", $suite, "/", $name, "/", $name, ".ptxas.txt"),
            report: include_str!(concat!($suite, "/", $name, "/", $name, ".ptxas.txt")),
        }),*]
    };
}

/// All kernels, in list order. Names are unique across suites.
pub const ALL: &[Kernel] = kernels![
    "cuda-samples" / "mm",
    "cuda-samples" / "fwt",
    "cuda-samples" / "nbdy",
    "cuda-samples" / "blk",
    "cuda-samples" / "bopt",
    "rodinia" / "bfs",
    "cuda-samples" / "dxtc",
    "parboil" / "cp",
    "rodinia" / "hs",
    "cuda-samples" / "dc",
    "rodinia" / "pf",
    "rodinia" / "bp",
    "rodinia" / "bs",
    "parboil" / "st",
    "polybench" / "3m",
    "parboil" / "sv",
    "rodinia" / "cd",
    "parboil" / "s2",
    "rodinia" / "ks",
    "polybench" / "ax",
    "rodinia" / "sc",
    "rodinia" / "dwt",
    "rodinia" / "dwtc",
    "rodinia" / "km",
    "parboil" / "stc",
    "rodinia" / "sr1",
    "rodinia" / "sr2",
    "rodinia" / "btr",
    "rodinia" / "bt",
    "rodinia" / "nw1",
    "rodinia" / "nw2",
    "rodinia" / "bfs1",
    "rodinia" / "bfs2",
    "rodinia" / "bpl",
    "rodinia" / "bpa",
    "rodinia" / "hw",
    "mias" / "preempt",
    "parboil" / "tpacf",
    "rodinia" / "leu",
    "gpgpu-sim" / "coulomb",
    "cuda-samples" / "merge",
    "rodinia" / "lavamd",
    "rodinia" / "gaussian",
    "parboil" / "lbm",
    "polybench" / "gesummv",
    "mars" / "pvc",
    "polybench" / "conv",
    "polybench" / "fdtd1",
    "polybench" / "fdtd2",
    "polybench" / "gemm",
    "rodinia" / "hg",
    "polybench" / "mm2",
    "cuda-samples" / "mms",
    "parboil" / "sad1",
];

/// Seven kernels of the MIAS thesis (Nasef 2023, section 4.1.2), in list order. Characterization
/// and calibration use them.
pub const THESIS: [&str; 7] = ["mm", "fwt", "nbdy", "blk", "bopt", "bfs", "dxtc"];

/// Fourteen kernels of Zhao et al. 2018, in the order of table 1: the paper's name in lower case,
/// and the word for the kernel here with the table's number of TBs. The paper's CP is `coulomb`
/// here, since `cp` is the kernel of Dai et al. 2018.
pub const ZHAO: [(&str, &str); 14] = [
    ("dxtc", "dxtc:512"),
    ("tpacf", "tpacf:100"),
    ("bino", "bino:512"),
    ("leu", "leu:640"),
    ("cp", "coulomb:1024"),
    ("merge", "merge:4194304"),
    ("pathfinder", "pathfinder:4480,starts=463"),
    ("lavamd", "lavamd:10"),
    ("gaussian", "gaussian:2048"),
    ("lbm", "lbm:150"),
    ("dwt2d", "dwt2d:25042944"),
    ("gesummv", "gesummv:32768"),
    ("pvc", "pvc:12000000"),
    ("sc", "sc:261888"),
];

/// Twenty-two kernels of Lin et al. 2018, in the order of table 2: the paper's name in lower case,
/// and the word for the kernel here. The word selects the paper's data set, or a substitute where
/// the table has only a file name (see kernels/README.md). It also sets the registers per thread of
/// the original, compiled for the paper's architecture (sources.md D167).
pub const LIN: [(&str, &str); 22] = [
    ("bfs", "bfs1:registers=19"),
    ("bp_1", "bpl:65536,registers=20"),
    ("bp_2", "bpa:65536,registers=23"),
    ("bt", "bt:10000,registers=27"),
    ("cfd", "cd:193536,threads=192,registers=59"),
    ("conv", "conv:4096"),
    ("cp", "cp:16,registers=32"),
    ("dwt_1", "dwtc:1048576"),
    ("dwt_2", "dwt:2048,rows=2048,columns=128,registers=48"),
    ("fdtd_1", "fdtd1:2048"),
    ("fdtd_2", "fdtd2:2048"),
    ("gemm", "gemm:512,inner=512"),
    ("hg", "hg:4194304"),
    ("hs", "hs:512,registers=32"),
    ("km", "ks:494020,registers=22"),
    ("lbm", "lbm:150,registers=40"),
    ("mm", "mm2:2048,inner=2048"),
    ("mms", "mms:1024,inner=1024"),
    ("sad_1", "sad1:176"),
    ("sad_2", "s2:1620,registers=32"),
    ("spmv", "sv:146688,registers=28"),
    ("st", "stc:512,rows=512,registers=32"),
];

/// Aliases of kernels with the kernels' names: names in Zhao et al. 2018 for kernels that already
/// existed here. No alias equals the name of a kernel.
pub const OTHER_NAMES: [(&str, &str); 3] = [("bino", "bopt"), ("pathfinder", "pf"), ("dwt2d", "dwtc")];

/// Finds a kernel by its name or an alias.
pub fn find(name: &str) -> Option<&'static Kernel> {
    let own = OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(name, |(_, own)| own);
    ALL.iter().find(|kernel| kernel.name == own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    /// Returns the subfolders of a folder.
    fn folders(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
        entries.filter(|entry| entry.file_type().unwrap().is_dir()).map(|entry| entry.path()).collect()
    }

    #[test]
    fn the_list_is_the_folder() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let suites = folders(root).into_iter().filter(|suite| !folders(suite).is_empty());
        let mut found: Vec<PathBuf> = suites.flat_map(|suite| folders(&suite)).collect();
        let mut listed: Vec<PathBuf> = ALL.iter().map(|kernel| root.join(kernel.suite).join(kernel.name)).collect();
        found.sort();
        listed.sort();
        assert_eq!(found, listed);
    }

    #[test]
    fn the_thesis_kernels_come_first() {
        assert!(ALL.iter().map(|kernel| kernel.name).zip(THESIS).all(|(name, thesis)| name == thesis));
    }

    #[test]
    fn names_are_different() {
        let mut names: Vec<&str> = ALL.iter().map(|kernel| kernel.name).chain(OTHER_NAMES.map(|(other, _)| other)).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len() + OTHER_NAMES.len());
    }

    #[test]
    fn other_names_are_of_kernels() {
        for (other, own) in OTHER_NAMES {
            assert_eq!(find(other).map(|kernel| kernel.name), Some(own));
        }
    }

    /// A PTX identifier cannot begin with a digit: the entry of `3m` is `m3`.
    #[test]
    fn files_are_those_of_the_kernel() {
        for kernel in ALL {
            let letters = kernel.name.trim_start_matches(|first: char| first.is_ascii_digit());
            let entry = format!(".entry {letters}{}", &kernel.name[..kernel.name.len() - letters.len()]);
            let says = |key: &str, value: &str| kernel.description.lines().any(|line| line == format!("{key} = {value:?}"));
            assert!(says("name", kernel.name) && says("suite", kernel.suite), "{}", kernel.description_file);
            assert!(kernel.ptx.contains(&entry) && kernel.report.contains("registers") && kernel.source.contains("__global__"));
        }
        assert_eq!(find("bfs").map(|kernel| kernel.ptx_file), Some("kernels/rodinia/bfs/bfs.ptx"));
        assert_eq!(find("bfd"), None);
    }
}
