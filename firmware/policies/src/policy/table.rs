//! Table of the policies that users can name: name, code in
//! [`mias_registers::global::STRAP_POLICY`], decision cost, and description. The target does not
//! use it, so no image contains it.

use mias_registers::{PolicyCode, option};

/// Calls a macro with the policies that users can name, in the order of reports.
///
/// Each entry has these parts: the expression for its code, the name, the code and an option bit,
/// the class of its decision cost ([`Charged`]), and a one-line description.
#[macro_export]
macro_rules! named_policies {
    ($with:ident) => {
        $with! {
            LeftOver, "left-over", LeftOver, 0, SlowestMetric,
                "Kernels in launch order, each as far as it goes; the next takes what is left";
            Spatial, "spatial", Spatial, 0, SlowestMetric, "Disjoint sets of SMs";
            MiasIpc, "mias-ipc", MiasIpc, 0, Metric, "MIAS, by instructions per cycle";
            MiasIpmIpc, "mias-ipm-ipc", MiasIpmIpc, 0, Metric,
                "MIAS, by instructions per miss times instructions per cycle";
            MiasFactor, "mias-factor", MiasFactor, 0, Metric,
                "MIAS, by IPC with memory stalls scaled by the share of outstanding accesses";
            MiasLinear, "mias-linear", MiasLinear, 0, Metric, "MIAS, by IPC with memory stalls corrected linearly";
            MiasStp, "mias-stp", MiasStp, 0, WithAlone, "MIAS, by normalized progress";
            MiasGuard, "mias-guard", MiasGuard, 0, WithAlone,
                "MIAS by instructions per miss times instructions per cycle; spatial where sharing SMs is predicted to lose";
            WarpedSlicer, "warped-slicer", WarpedSlicer, 0, WaterFill,
                "Warped-Slicer: kernels profiled alone, the largest loss of a kernel made small";
            WarpedSlicerUnscaled, "warped-slicer+unscaled", WarpedSlicer, option::UNSCALED_PROFILE, WaterFill,
                "Warped-Slicer without its scaling factor";
            WarpedSlicerSum, "warped-slicer+sum", WarpedSlicerSum, 0, Sum,
                "Warped-Slicer's profile, the sum of instructions made large";
            Smk, "smk", Smk, 0, SlowestMetric, "SMK-P: TBs by dominant resource fairness";
            Coordinated, "coordinated", Coordinated, 0, OneByOne,
                "TBs by the utilization of schedulers, interconnect and DRAM";
            Maestro, "maestro", Maestro, 0, OneByOne,
                "The better of spatial and smk, each measured on the whole GPU";
            MiasRoofline, "mias-roofline", MiasRoofline, 0, WithAlone,
                "MIAS, by what the whole GPU would do, limited by DRAM: speedup, then progress";
            MiasRooflineStp, "mias-roofline+stp", MiasRooflineStp, 0, WithAlone,
                "MIAS, by the normalized progress that the whole GPU would make, limited by DRAM";
            MiasDuel, "mias-duel", MiasDuel, 0, WithAlone,
                "The better of what mias-roofline+stp and smk choose, each tried on the whole GPU";
            MiasTrial, "mias-trial", MiasTrial, 0, Trial,
                "The best of smk, a TB of each kernel, and fewer TBs of one that gains little from them, each tried on the whole GPU";
            CdSearch, "cd-search", CdSearch, 0, Search,
                "Fewer SMs for kernels that are memory-intensive: for the others, or without power where all are";
            CdSearchPerformance, "cd-search+performance", CdSearchPerformance, 0, Search,
                "The same, always for performance";
            CdSearchPower, "cd-search+power", CdSearchPower, 0, Search, "The same, always for power";
            CdSearchReassign, "cd-search+reassign", CdSearch, option::SEARCH_REASSIGNS, Search,
                "cd-search, which hands SMs over in every step";
            CdSearchUtilization, "cd-search+utilization", CdSearch, option::SEARCH_BY_UTILIZATION, Search,
                "cd-search that classifies kernels by their share of DRAM bandwidth";
            CdSearchShare, "cd-search+share", CdSearch, option::SEARCH_BY_SHARE, Search,
                "cd-search that classifies kernels by the demand of their own SMs";
            MaestroSearch, "maestro+search", MaestroSearch, 0, Search,
                "The better of spatial and shared SMs, the latter found by hill climbing from smk";
            CdSearchMaestro, "cd-search+maestro", CdSearchMaestro, 0, Search,
                "The better of cd-search and shared SMs, the latter found by hill climbing from smk";
            FairShare, "fair-share", FairShare, 0, Search,
                "SMs from the kernel that is slowed least to the one that is slowed most, until all are equally slow";
            FairShareModel, "fair-share+model", FairShareModel, 0, Search,
                "The same; a model tells how slow kernels are, and none has to be left alone";
            EffectiveBandwidth, "effective-bandwidth", EffectiveBandwidth, 0, Search,
                "As many active warps of each kernel, on its even share of the SMs, as make the sum of effective bandwidths large";
            EffectiveBandwidthFair, "effective-bandwidth+fair", EffectiveBandwidthFair, 0, Search,
                "The same, by the smallest effective bandwidth over the largest";
            EffectiveBandwidthHarmonic, "effective-bandwidth+harmonic", EffectiveBandwidthHarmonic, 0, Search,
                "The same, by their harmonic mean";
        }
    };
}

/// Class of a policy's decision cost: the counted instructions, and the situations in which they
/// are counted on the target (`host-sim/lab/decision-latency.toml`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Charged {
    /// Cost of the slowest of MIAS' four metrics, because the policy does not profile.
    SlowestMetric,
    /// Own cost, or that of the slowest of the four: MIAS by one of the thesis' metrics.
    Metric,
    /// Own cost: MIAS with each kernel alone in addition to the configurations.
    WithAlone,
    /// Own cost: points of each kernel alone, and water-filling over them.
    WaterFill,
    /// Own cost: points of each kernel alone, and the largest sum.
    Sum,
    /// Own cost: TBs are added one by one.
    OneByOne,
    /// Own cost: SMs are taken and given in steps.
    Search,
    /// Own cost: configurations of all SMs are tried in steps.
    Trial,
}

/// Policy that users can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// Name that users type: lower-case letters, digits and hyphens; for a variant, its base and a
    /// plus before them.
    pub name: &'static str,
    /// Code of the policy.
    pub code: PolicyCode,
    /// Option in [`mias_registers::global::STRAP_OPTIONS`] that distinguishes a variant from its
    /// code alone; 0 for none.
    pub option: u32,
    /// Class of the policy's decision cost.
    pub charged: Charged,
    /// Help: one line without a full stop.
    pub help: &'static str,
}

macro_rules! table {
    ($($Policy:ident, $name:literal, $Code:ident, $option:expr, $Charged:ident, $help:literal;)+) => {
        /// The policies that users can name, in the order of reports.
        pub const NAMED: &[Named] = &[$(Named {
            name: $name,
            code: PolicyCode::$Code,
            option: $option,
            charged: Charged::$Charged,
            help: $help,
        },)+];
    };
}

named_policies!(table);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_different_and_plain() {
        let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-+".contains(&byte));
        assert!(NAMED.iter().all(|named| plain(named.name) && !named.help.ends_with('.')));
        assert_eq!(NAMED.iter().map(|named| named.name).collect::<BTreeSet<_>>().len(), NAMED.len());
    }

    /// Users can name every policy except those to which experiments give a configuration or
    /// shares.
    #[test]
    fn all_codes_but_two_have_a_name() {
        for code in PolicyCode::ALL {
            assert_eq!(
                NAMED.iter().any(|named| named.code == code),
                !matches!(code, PolicyCode::FixedConfig | PolicyCode::GivenShares),
                "{code:?}"
            );
        }
    }

    /// Of policies with one code the first is the code alone. All have the same cost class, because
    /// the first was counted.
    #[test]
    fn policies_of_one_code_differ_in_an_option() {
        let mut seen = BTreeSet::new();
        for named in NAMED {
            assert!(seen.insert((named.code, named.option)), "{}", named.name);
            let first = NAMED.iter().find(|first| first.code == named.code).unwrap();
            assert_eq!((first.option, first.charged), (0, named.charged), "{}", named.name);
        }
    }
}
