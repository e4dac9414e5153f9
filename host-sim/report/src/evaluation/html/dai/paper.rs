//! The numbers of Dai et al. 2018 that its text and tables give. What only its figures show is not here: heights are not read off bars.

use mias_lab::evaluate::results::{GroupResult, StudyResult};

/// A kernel of table 2.
pub(super) struct Kernel {
    /// Its short name.
    pub(super) name: &'static str,
    /// Percent of registers, shared memory, threads and TB slots of an SM that its TBs take.
    pub(super) occupancy: [f64; 4],
    /// Computations per memory instruction, and requests per memory instruction.
    pub(super) per_memory: [u32; 2],
    /// Misses of the L1 over its accesses.
    pub(super) miss_rate: f64,
    /// Reservation fails over its accesses.
    pub(super) fails: f64,
    /// C or M.
    pub(super) class: char,
}

const fn kernel(name: &'static str, occupancy: [f64; 4], per_memory: [u32; 2], miss_rate: f64, fails: f64, class: char) -> Kernel {
    Kernel { name, occupancy, per_memory, miss_rate, fails, class }
}

/// Table 2, in its order.
pub(super) const KERNELS: [Kernel; 13] = [
    kernel("cp", [87.5, 67.0, 66.7, 100.0], [4, 2], 0.45, 0.04, 'C'),
    kernel("hs", [98.4, 21.9, 58.3, 43.8], [7, 3], 0.97, 1.53, 'C'),
    kernel("dc", [56.2, 33.3, 33.3, 100.0], [5, 1], 0.09, 0.17, 'C'),
    kernel("pf", [75.0, 25.0, 100.0, 75.0], [6, 2], 0.99, 0.00, 'C'),
    kernel("bp", [56.2, 13.3, 100.0, 75.0], [6, 2], 0.80, 0.33, 'C'),
    kernel("bs", [75.0, 0.0, 100.0, 37.5], [4, 1], 1.00, 0.00, 'C'),
    kernel("st", [75.0, 0.0, 100.0, 37.5], [4, 1], 0.67, 1.15, 'C'),
    kernel("3m", [56.2, 0.0, 100.0, 75.0], [2, 1], 0.63, 5.45, 'M'),
    kernel("sv", [75.0, 0.0, 100.0, 100.0], [3, 3], 0.78, 5.23, 'M'),
    kernel("cd", [100.0, 0.0, 33.3, 100.0], [9, 6], 0.96, 7.23, 'M'),
    kernel("s2", [50.0, 0.0, 66.7, 100.0], [2, 2], 0.92, 6.80, 'M'),
    kernel("ks", [56.2, 0.0, 100.0, 75.0], [3, 17], 1.00, 7.96, 'M'),
    kernel("ax", [56.2, 0.0, 100.0, 75.0], [2, 11], 0.97, 79.70, 'M'),
];

/// Share of LSU stall cycles above which a kernel is memory-intensive (section 2.4).
pub(super) const MEMORY_INTENSIVE: f64 = 0.2;

/// Mean weighted speedup over all pairs, by policy (sections 4.1.1 and 4.1.2).
const SPEEDUPS: [(&str, f64); 7] = [
    ("spatial", 1.13),
    ("warped-slicer", 1.20),
    ("warped-slicer+qbmi", 1.22),
    ("warped-slicer+dmil", 1.49),
    ("smk+warp-quota", 1.10),
    ("smk+qbmi", 1.15),
    ("smk+dmil", 1.40),
];

/// Mean weighted speedup over all pairs.
pub(super) fn speedup(policy: &str) -> Option<f64> {
    SPEEDUPS.iter().find(|(known, _)| *known == policy).map(|(_, value)| *value)
}

/// What a policy gains over another, in percent: weighted speedup, ANTT (1 less the new over the old), fairness.
pub(super) struct Gain {
    /// The experiment that it is of.
    pub(super) experiment: &'static str,
    /// Key and value of its setting; none: it has no other.
    pub(super) setting: Option<(&'static str, &'static str)>,
    pub(super) policy: &'static str,
    pub(super) over: &'static str,
    pub(super) percent: [Option<f64>; 3],
}

type Setting = Option<(&'static str, &'static str)>;

const fn gain(experiment: &'static str, setting: Setting, policy: &'static str, over: &'static str, percent: [Option<f64>; 3]) -> Gain {
    Gain { experiment, setting, policy, over, percent }
}

const WAYS_48: Setting = Some(("l1.ways", "12"));
const WAYS_96: Setting = Some(("l1.ways", "24"));

/// All gains that it gives: sections 4.1.1, 4.1.2, 4.2 and 4.3.
pub(super) const GAINS: [Gain; 14] = [
    gain("pairs", None, "warped-slicer+qbmi", "warped-slicer", [Some(1.5), Some(40.5), Some(17.8)]),
    gain("pairs", None, "warped-slicer+dmil", "warped-slicer", [Some(24.6), Some(56.1), Some(32.3)]),
    gain("pairs", None, "smk+qbmi", "smk+warp-quota", [Some(4.4), Some(49.2), None]),
    gain("pairs", None, "smk+dmil", "smk+warp-quota", [Some(27.2), Some(64.6), None]),
    gain("triples", None, "warped-slicer+qbmi", "warped-slicer", [Some(3.2), Some(58.3), None]),
    gain("triples", None, "warped-slicer+dmil", "warped-slicer", [Some(19.4), Some(68.7), None]),
    gain("triples", None, "smk+qbmi", "smk+warp-quota", [Some(5.5), Some(79.1), None]),
    gain("triples", None, "smk+dmil", "smk+warp-quota", [Some(21.9), Some(85.9), None]),
    gain("cache", WAYS_48, "warped-slicer+qbmi", "warped-slicer", [Some(2.1), Some(32.1), None]),
    gain("cache", WAYS_48, "warped-slicer+dmil", "warped-slicer", [Some(18.5), Some(22.6), None]),
    gain("cache", WAYS_96, "warped-slicer+qbmi", "warped-slicer", [Some(1.5), Some(30.8), None]),
    gain("cache", WAYS_96, "warped-slicer+dmil", "warped-slicer", [Some(3.5), Some(10.1), None]),
    gain("scheduler", None, "warped-slicer+qbmi", "warped-slicer", [Some(3.2), Some(16.4), None]),
    gain("scheduler", None, "warped-slicer+dmil", "warped-slicer", [Some(25.8), Some(34.3), None]),
];

/// Normalised IPC of bp in bp+sv (figure 8d, section 3.2).
pub(super) const BP_BESIDE_SV: [(&str, f64); 3] = [("warped-slicer", 0.39), ("warped-slicer+rbmi", 0.45), ("warped-slicer+qbmi", 0.48)];

/// Miss rate of ks beside another kernel (section 3.4): other kernel, policy, rate.
pub(super) const KS_MISSES: [(&str, &str, f64); 4] = [
    ("bp", "warped-slicer+qbmi", 0.88),
    ("bp", "warped-slicer+dmil", 0.52),
    ("sv", "warped-slicer+qbmi", 0.98),
    ("sv", "warped-slicer+dmil", 0.52),
];

/// The pairs of figure 5, two of each class.
pub(super) const FIGURE_5: [[&str; 2]; 6] = [["pf", "bp"], ["bp", "hs"], ["bp", "sv"], ["bp", "ks"], ["sv", "ks"], ["sv", "ax"]];

/// The paper's classes by those that results have: memory-intensive kernels last.
pub(super) fn class(letters: &str) -> String {
    let mut letters: Vec<&str> = letters.split("").filter(|letter| !letter.is_empty()).collect();
    letters.sort_unstable();
    letters.join("+")
}

/// The group of these kernels, in whichever order.
pub(super) fn group<'s>(study: &'s StudyResult, kernels: &[&str]) -> Option<&'s GroupResult> {
    let sorted = |names: &mut dyn Iterator<Item = String>| {
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let wanted = sorted(&mut kernels.iter().map(|kernel| (*kernel).to_owned()));
    study
        .groups
        .iter()
        .find(|group| sorted(&mut group.kernels.iter().map(|kernel| super::super::means::plain(kernel).into_owned())) == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 13 kernels: 7 compute-, 6 memory-intensive; 16 TB slots, so that occupancies of slots are sixteenths.
    #[test]
    fn table_2_is_of_whole_tbs() {
        assert_eq!(KERNELS.iter().filter(|kernel| kernel.class == 'C').count(), 7);
        for kernel in KERNELS {
            let tbs = 16.0 * kernel.occupancy[3] / 100.0;
            assert!((tbs - tbs.round()).abs() < 0.01, "{}", kernel.name);
            assert!((kernel.fails > 2.0) == (kernel.class == 'M'), "{}", kernel.name);
            // "Compute-intensive kernels tend to have more compute instructions per memory one" (section 3.2): all but one.
            assert_eq!(kernel.per_memory[0] >= 4, kernel.class == 'C' || kernel.name == "cd", "{}", kernel.name);
        }
    }

    /// The gains that it gives are those of the means that it gives, to the rounding of both.
    #[test]
    fn gains_are_of_the_means() {
        for gain in GAINS.iter().filter(|gain| gain.experiment == "pairs") {
            let (new, old) = (speedup(gain.policy).unwrap(), speedup(gain.over).unwrap());
            let percent = 100.0 * (new / old - 1.0);
            assert!((percent - gain.percent[0].unwrap()).abs() < 0.9, "{} {percent}", gain.policy);
        }
    }

    #[test]
    fn classes_have_the_papers_names() {
        assert_eq!(["CC", "MC", "MM", "MMC"].map(class), ["C+C", "C+M", "M+M", "C+M+M"]);
    }
}
