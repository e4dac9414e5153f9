//! Numbers of the thesis, and the pairs behind them (Nasef 2023, sections 4.2.1 to 4.2.4;
//! sources.md D9 to D11).

use mias_lab::evaluate::results::{GroupResult, StudyResult};
use mias_lab::evaluate::summary;

/// Origin of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Stated by the thesis.
    Said,
    /// Derived from statements of the thesis (sources.md D11).
    Solved,
}

/// Mean speedup of the thesis: class of pairs, policy, S.
type MeanSpeedup = (&'static str, &'static str, f64, Source);

/// Mean speedups of the thesis.
const MEANS: [MeanSpeedup; 17] = [
    ("all", "mias-ipm-ipc", 1.32, Source::Said),
    ("all", "mias-ipc", 1.30, Source::Said),
    ("all", "mias-linear", 1.27, Source::Said),
    ("all", "mias-factor", 1.24, Source::Said),
    ("all", "warped-slicer", 1.10, Source::Said),
    ("CC", "mias-ipc", 1.19, Source::Said),
    ("CC", "mias-linear", 1.19, Source::Said),
    ("CC", "mias-ipm-ipc", 1.165, Source::Solved),
    ("MM", "mias-ipc", 1.19, Source::Said),
    ("MM", "mias-ipm-ipc", 1.19, Source::Said),
    ("MM", "mias-linear", 0.79, Source::Solved),
    ("MC", "mias-ipm-ipc", 1.43, Source::Said),
    ("MC", "mias-factor", 1.43, Source::Said),
    ("MC", "mias-linear", 1.43, Source::Said),
    ("MC", "mias-ipc", 1.38, Source::Solved),
    ("MC", "warped-slicer", 1.117, Source::Solved),
    ("fwt+dxtc", "warped-slicer", 1.6, Source::Said),
];

/// Returns the thesis' speedup for a class of pairs, or a pair.
pub(super) fn speedup(class: &str, policy: &str) -> Option<(f64, Source)> {
    MEANS.iter().find(|mean| (mean.0, mean.1) == (class, policy)).map(|mean| (mean.2, mean.3))
}

/// Classes of pairs in the thesis, with the letter of figure 4.2.
pub(super) const CLASSES: [(&str, &str); 3] = [("CC", "a"), ("MM", "b"), ("MC", "c")];

/// GPU of the thesis, by its name here (section 4.1).
pub(super) const GPU: &str = "rtx2060";
/// Window of the thesis in core cycles (section 4.1).
pub(super) const WINDOW_CYCLES: u64 = 5_000_000;

/// Kernels of the thesis, memory- and compute-intensive (sources.md D9).
const MEMORY: [&str; 3] = ["bfs", "fwt", "blk"];
const COMPUTE: [&str; 4] = ["mm", "nbdy", "bopt", "dxtc"];

/// Returns whether a study has exactly the thesis' 21 pairs, on any GPU and inputs.
pub(super) fn is_of(study: &StudyResult) -> bool {
    let names: Vec<Vec<&str>> = study.groups.iter().map(|group| group.kernels.iter().map(|kernel| bare(kernel)).collect()).collect();
    are_pairs(summary::ALL, &names)
}

/// Returns the pairs behind the thesis' mean over a class; empty if it has no such class.
fn pairs(class: &str) -> Vec<[&'static str; 2]> {
    let of = |kernels: &[&'static str]| -> Vec<[&'static str; 2]> {
        kernels.iter().enumerate().flat_map(|(at, &first)| kernels[at + 1..].iter().map(move |&second| [first, second])).collect()
    };
    match class {
        "CC" => of(&COMPUTE),
        "MM" => of(&MEMORY),
        "MC" => MEMORY.iter().flat_map(|&memory| COMPUTE.map(|compute| [memory, compute])).collect(),
        "all" => of(&[MEMORY.as_slice(), &COMPUTE].concat()),
        _ => Vec::new(),
    }
}

/// Returns a kernel's name without its settings.
pub(super) fn bare(kernel: &str) -> &str {
    kernel.split([':', '#']).next().unwrap_or_default()
}

/// Returns the group of two kernels, in any order.
pub(super) fn pair<'s>(study: &'s StudyResult, kernels: [&str; 2]) -> Option<&'s GroupResult> {
    study.groups.iter().find(|group| {
        let names: Vec<&str> = group.kernels.iter().map(|kernel| bare(kernel)).collect();
        names == kernels || names == [kernels[1], kernels[0]]
    })
}

/// Returns whether these groups are the pairs of a class, each in any order.
fn are_pairs(class: &str, groups: &[Vec<&str>]) -> bool {
    let pairs = pairs(class);
    let has = |[first, second]: &[&str; 2]| groups.iter().any(|group| *group == [*first, *second] || *group == [*second, *first]);
    groups.len() == pairs.len() && pairs.iter().all(has)
}

/// Pairs of figure 3.1; the last is our choice, since the thesis does not name it.
pub(super) const FIGURE_3_1: [[&str; 2]; 4] = [["mm", "bopt"], ["fwt", "dxtc"], ["bfs", "bopt"], ["fwt", "blk"]];

/// Pairs of figure 4.3; that of (b) is the best pair of memory-intensive kernels, which the thesis
/// does not name.
pub(super) const FIGURE_4_3: [(&str, Option<[&str; 2]>, &str); 4] = [
    ("a", Some(["mm", "bopt"]), "sharing reduces mm's compute-pipeline stalls and bopt's idle slots"),
    ("b", None, "the gain comes from more diverse arithmetic"),
    ("c", Some(["fwt", "dxtc"]), "RAW stalls of the co-run equal those of dxtc alone"),
    ("d", Some(["bfs", "mm"]), "memory stalls do not fall enough; no configuration improves on running alone"),
];

/// Range in which IPC settles in figure 3.4, in cycles.
pub(super) const SETTLED_CYCLES: (f64, f64) = (45_000.0, 50_000.0);

#[cfg(test)]
mod tests {
    use super::*;

    /// 7 kernels make 21 pairs, each in one class (sources.md D9).
    #[test]
    fn every_pair_is_in_one_class() {
        let classes = ["CC", "MM", "MC"].map(pairs);
        assert_eq!(classes.each_ref().map(Vec::len), [6, 3, 12]);
        let (mut together, mut all) = (classes.concat(), pairs("all"));
        for pairs in [&mut together, &mut all] {
            pairs.iter_mut().for_each(|pair| pair.sort_unstable());
            pairs.sort_unstable();
        }
        assert_eq!(together, all);
        assert_eq!(pairs("MMC"), Vec::<[&str; 2]>::new());
    }

    #[test]
    fn means_are_compared_only_where_they_are_of_the_same_pairs() {
        for class in ["CC", "MM", "MC", "all"] {
            let launched = pairs(class).into_iter().rev().enumerate();
            let mut groups: Vec<Vec<&str>> =
                launched.map(|(at, [first, second])| if at % 2 == 0 { vec![second, first] } else { vec![first, second] }).collect();
            assert!(are_pairs(class, &groups));
            groups.push(vec!["saxpy", "mm"]);
            assert!(!are_pairs(class, &groups), "one more");
            groups.swap_remove(0);
            assert!(!are_pairs(class, &groups), "another");
            groups.pop();
            assert!(!are_pairs(class, &groups), "one fewer");
        }
    }

    /// sources.md D11: 21 times the mean of all is 6 times that of CC, 3 times that of MM and 12
    /// times that of MC, to the rounding of each.
    #[test]
    fn means_of_classes_give_the_mean_of_all() {
        for policy in ["mias-ipm-ipc", "mias-ipc", "mias-linear"] {
            let of = |class| speedup(class, policy).unwrap().0;
            let sum = 6.0 * of("CC") + 3.0 * of("MM") + 12.0 * of("MC");
            assert!((sum - 21.0 * of("all")).abs() < 0.2, "{policy}: {sum}");
        }
    }
}
