//! What the text and the tables of Lin et al. 2018 say of their kernels. What only their figures show is not here: heights are not read off bars.

/// A kernel of table 2.
pub(super) struct Kernel {
    /// Its name there.
    pub(super) paper: &'static str,
    /// Its name here.
    pub(super) name: &'static str,
    /// The part that binds it (section 4.2).
    pub(super) bound_by: &'static str,
    /// Its level by table 3, if it is one of the fifteen of section 7.1.
    pub(super) level: Option<&'static str>,
}

const fn kernel(paper: &'static str, name: &'static str, bound_by: &'static str, level: Option<&'static str>) -> Kernel {
    Kernel { paper, name, bound_by, level }
}

const UNDER: Option<&str> = Some("underutilised");
const MODERATE: Option<&str> = Some("moderate");
const SATURATED: Option<&str> = Some("saturated");

/// Table 2, in its order. ST is among two categories there, CP in none (sources.md D167).
pub(super) const KERNELS: [Kernel; 22] = [
    kernel("BFS", "bfs1", "under", UNDER),
    kernel("BP_1", "bpl", "scheduler", SATURATED),
    kernel("BP_2", "bpa", "DRAM", None),
    kernel("BT", "bt", "under", UNDER),
    kernel("CFD", "cd", "L2->SM", SATURATED),
    kernel("CONV", "conv", "L2->SM", MODERATE),
    kernel("CP", "cp", "scheduler", None),
    kernel("DWT_1", "dwtc", "DRAM", None),
    kernel("DWT_2", "dwt", "under", UNDER),
    kernel("FDTD_1", "fdtd1", "DRAM", None),
    kernel("FDTD_2", "fdtd2", "L2->SM", None),
    kernel("GEMM", "gemm", "SM->L2", None),
    kernel("HG", "hg", "under", UNDER),
    kernel("HS", "hs", "under", UNDER),
    kernel("KM", "ks", "L2->SM", SATURATED),
    kernel("LBM", "lbm", "DRAM", SATURATED),
    kernel("MM", "mm2", "SM->L2", MODERATE),
    kernel("MMS", "mms", "L2->SM", MODERATE),
    kernel("SAD_1", "sad1", "scheduler", None),
    kernel("SAD_2", "s2", "DRAM", SATURATED),
    kernel("SPMV", "sv", "L2->SM", MODERATE),
    kernel("ST", "stc", "DRAM", MODERATE),
];

/// The kernel of our name.
pub(super) fn find(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

/// Mean speed-up over the ten that are not saturated, by bytes of a context per cycle (section 7.4).
pub(super) const BY_PORT: [(u32, f64); 3] = [(256, 1.24), (128, 1.22), (64, 1.18)];

/// TLP of Virtual Thread and of GPUDuet over the baseline's, over the ten that are not saturated (section 7.3).
pub(super) const TLP: [(&str, f64); 2] = [("virtual", 1.18), ("duet", 1.70)];

/// Mean speed-up of GPUDuet over the ten (section 1).
pub(super) const DUET: f64 = 1.22;

#[cfg(test)]
mod tests {
    use super::*;

    /// "8 out of 22 benchmarks are bounded by the interconnect", 6 by replies and 2 by requests (sections 1 and 4.2); five of each level (section 7.1).
    #[test]
    fn the_table_has_the_papers_counts() {
        let bound = |by: &str| KERNELS.iter().filter(|kernel| kernel.bound_by == by).count();
        assert_eq!(["L2->SM", "SM->L2", "scheduler", "DRAM", "under"].map(bound), [6, 2, 3, 6, 5]);
        for level in [UNDER, MODERATE, SATURATED] {
            assert_eq!(KERNELS.iter().filter(|kernel| kernel.level == level).count(), 5, "{level:?}");
        }
    }
}
