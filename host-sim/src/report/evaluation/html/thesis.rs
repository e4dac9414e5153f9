//! The thesis' own numbers (seed 000 sections 4.2.1 to 4.2.4; algorithms.md section 6.1, M-N1 to M-N8).

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The thesis says it.
    Said,
    /// Solved from what it says (M-N8).
    Solved,
}

/// A mean speedup of the thesis: class of pairs, policy, S.
type MeanSpeedup = (&'static str, &'static str, f64, Source);

/// Its mean speedups.
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

/// The thesis' speedup for a class of pairs, or a pair.
pub(super) fn speedup(class: &str, policy: &str) -> Option<(f64, Source)> {
    MEANS.iter().find(|mean| (mean.0, mean.1) == (class, policy)).map(|mean| (mean.2, mean.3))
}

/// The pairs of figure 3.1; the last is our choice, for the thesis does not name it.
pub(super) const FIGURE_3_1: [[&str; 2]; 4] = [["mm", "bopt"], ["fwt", "dxtc"], ["bfs", "bopt"], ["fwt", "blk"]];

/// The pairs of figure 4.3; that of (b) is the best pair of memory-intensive kernels, which the thesis does not name.
pub(super) const FIGURE_4_3: [(&str, Option<[&str; 2]>, &str); 4] = [
    ("a", Some(["mm", "bopt"]), "sharing reduces mm's compute-pipeline stalls and bopt's idle slots"),
    ("b", None, "the gain comes from more diverse arithmetic"),
    ("c", Some(["fwt", "dxtc"]), "RAW stalls together are those of dxtc alone"),
    ("d", Some(["bfs", "mm"]), "memory stalls are not reduced enough; no configuration gains"),
];

/// Where IPC settles in figure 3.4, in cycles.
pub(super) const SETTLED_CYCLES: (f64, f64) = (45_000.0, 50_000.0);

#[cfg(test)]
mod tests {
    use super::*;

    /// M-N8: 21 times the mean of all is 6 times that of CC, 3 times that of MM and 12 times that of MC, to the rounding of each.
    #[test]
    fn means_of_classes_give_the_mean_of_all() {
        for policy in ["mias-ipm-ipc", "mias-ipc", "mias-linear"] {
            let of = |class| speedup(class, policy).unwrap().0;
            let sum = 6.0 * of("CC") + 3.0 * of("MM") + 12.0 * of("MC");
            assert!((sum - 21.0 * of("all")).abs() < 0.2, "{policy}: {sum}");
        }
    }
}
