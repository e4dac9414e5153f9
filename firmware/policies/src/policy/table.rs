//! Table of the policies that users can name: name, code in
//! [`mias_registers::global::STRAP_POLICY`], decision cost, and chart color. The target does not
//! use it, so no image contains it.

use mias_registers::{PolicyCode, option};

/// Calls a macro with the policies that users can name, in the order of reports.
///
/// Each entry has these parts: the expression for its code, the name, the code and an option bit,
/// the class of its decision cost ([`Charged`]), the chart color (as in HTML), and a line of help.
///
/// The colors are the eight of Okabe and Ito (2008), which are distinct under any color vision.
/// Further ones are from Tol's muted and dark schemes (SRON/EPS/TN/09-002). Warped-Slicer has its
/// color of the thesis.
#[macro_export]
macro_rules! named_policies {
    ($with:ident) => {
        $with! {
            LeftOver, "left-over", LeftOver, 0, SlowestMetric, "#999999",
                "Kernels in launch order, each as far as it goes; the next takes what is left";
            Spatial, "spatial", Spatial, 0, SlowestMetric, "#56B4E9", "Disjoint sets of SMs";
            MiasIpc, "mias-ipc", MiasIpc, 0, Metric, "#0072B2", "MIAS, by instructions per cycle";
            MiasIpmIpc, "mias-ipm-ipc", MiasIpmIpc, 0, Metric, "#D55E00",
                "MIAS, by instructions per miss times instructions per cycle";
            MiasFactor, "mias-factor", MiasFactor, 0, Metric, "#009E73",
                "MIAS, by IPC with memory stalls scaled by the share of outstanding accesses";
            MiasLinear, "mias-linear", MiasLinear, 0, Metric, "#E69F00", "MIAS, by IPC with memory stalls corrected linearly";
            MiasStp, "mias-stp", MiasStp, 0, WithAlone, "#F0E442", "MIAS, by normalized progress";
            MiasGuard, "mias-guard", MiasGuard, 0, WithAlone, "#332288",
                "MIAS by instructions per miss times instructions per cycle; spatial where sharing SMs is predicted to lose";
            WarpedSlicer, "warped-slicer", WarpedSlicer, 0, WaterFill, "#CC79A7",
                "Warped-Slicer: kernels profiled alone, the largest loss of a kernel made small";
            WarpedSlicerUnscaled, "warped-slicer+unscaled", WarpedSlicer, option::UNSCALED_PROFILE, WaterFill, "#882255",
                "Warped-Slicer without its scaling factor";
            WarpedSlicerSum, "warped-slicer+sum", WarpedSlicerSum, 0, Sum, "#44AA99",
                "Warped-Slicer's profile, the sum of instructions made large";
            Smk, "smk", Smk, 0, SlowestMetric, "#999933", "SMK-P: TBs by dominant resource fairness";
            Coordinated, "coordinated", Coordinated, 0, OneByOne, "#117733",
                "TBs by the utilization of schedulers, interconnect and DRAM";
            Maestro, "maestro", Maestro, 0, OneByOne, "#CC6677",
                "The better of spatial and smk, each measured on the whole GPU";
            MiasRoofline, "mias-roofline", MiasRoofline, 0, WithAlone, "#AA4499",
                "MIAS, by what the whole GPU would do, limited by DRAM: speedup, then progress";
            MiasRooflineStp, "mias-roofline+stp", MiasRooflineStp, 0, WithAlone, "#663333",
                "MIAS, by the normalized progress that the whole GPU would make, limited by DRAM";
            MiasDuel, "mias-duel", MiasDuel, 0, WithAlone, "#114466",
                "The better of what mias-roofline+stp and smk choose, each tried on the whole GPU";
            MiasTrial, "mias-trial", MiasTrial, 0, Trial, "#DD2299",
                "The best of smk, a TB of each kernel, and fewer TBs of one that gains little from them, each tried on the whole GPU";
            CdSearch, "cd-search", CdSearch, 0, Search, "#993322",
                "Fewer SMs for kernels that are memory-intensive: for the others, or without power where all are";
            CdSearchPerformance, "cd-search+performance", CdSearchPerformance, 0, Search, "#EE7733",
                "The same, always for performance";
            CdSearchPower, "cd-search+power", CdSearchPower, 0, Search, "#0077BB", "The same, always for power";
            CdSearchReassign, "cd-search+reassign", CdSearch, option::SEARCH_REASSIGNS, Search, "#009988",
                "cd-search, which hands SMs over in every step";
            CdSearchUtilisation, "cd-search+utilisation", CdSearch, option::SEARCH_BY_UTILISATION, Search, "#DD5588",
                "cd-search that classifies kernels by their share of DRAM bandwidth";
            CdSearchShare, "cd-search+share", CdSearch, option::SEARCH_BY_SHARE, Search, "#AA8866",
                "cd-search that classifies kernels by the demand of their own SMs";
            MaestroSearch, "maestro+search", MaestroSearch, 0, Search, "#88CCEE",
                "The better of spatial and shared SMs, the latter found by hill climbing from smk";
            CdSearchMaestro, "cd-search+maestro", CdSearchMaestro, 0, Search, "#AA3377",
                "The better of cd-search and shared SMs, the latter found by hill climbing from smk";
            FairShare, "fair-share", FairShare, 0, Search, "#557700",
                "SMs from the kernel that is slowed least to the one that is slowed most, until all are equally slow";
            FairShareModel, "fair-share+model", FairShareModel, 0, Search, "#AA6600",
                "The same; a model tells how slow kernels are, and none has to be left alone";
            EffectiveBandwidth, "effective-bandwidth", EffectiveBandwidth, 0, Search, "#4400AA",
                "As many active warps of each kernel, on its even share of the SMs, as make the sum of effective bandwidths large";
            EffectiveBandwidthFair, "effective-bandwidth+fair", EffectiveBandwidthFair, 0, Search, "#BBCC33",
                "The same, by the smallest effective bandwidth over the largest";
            EffectiveBandwidthHarmonic, "effective-bandwidth+harmonic", EffectiveBandwidthHarmonic, 0, Search, "#AA4400",
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
    /// Class of its decision cost.
    pub charged: Charged,
    /// Color in charts, as in HTML: red, green, blue, two hexadecimal digits each.
    pub colour: &'static str,
    /// Help: one line without a full stop.
    pub help: &'static str,
}

macro_rules! table {
    ($($Policy:ident, $name:literal, $Code:ident, $option:expr, $Charged:ident, $colour:literal, $help:literal;)+) => {
        /// The policies that users can name, in the order of reports.
        pub const NAMED: &[Named] = &[$(Named {
            name: $name,
            code: PolicyCode::$Code,
            option: $option,
            charged: Charged::$Charged,
            colour: $colour,
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
    fn names_and_colours_are_different_and_plain() {
        let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-+".contains(&byte));
        let colour = |text: &str| text.len() == 7 && text.starts_with('#') && u32::from_str_radix(&text[1..], 16).is_ok();
        assert!(NAMED.iter().all(|named| plain(named.name) && colour(named.colour) && !named.help.ends_with('.')));
        assert_eq!(NAMED.iter().map(|named| named.name).collect::<BTreeSet<_>>().len(), NAMED.len());
        assert_eq!(NAMED.iter().map(|named| named.colour).collect::<BTreeSet<_>>().len(), NAMED.len());
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
