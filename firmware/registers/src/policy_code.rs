//! Policy codes. A code never changes; the firmware decides which implementation it selects.

/// Declares [`PolicyCode`] with the number and the meaning of each code.
macro_rules! policy_codes {
    ($($Code:ident = $number:literal, $meaning:literal;)+) => {
        /// Code of a policy, in [`crate::global::STRAP_POLICY`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum PolicyCode {
            $(#[doc = $meaning] $Code = $number,)+
        }

        impl PolicyCode {
            /// All policies in the order of their codes.
            pub const ALL: [Self; [$($number),+].len()] = [$(Self::$Code),+];

            /// Returns the policy of a code.
            #[must_use]
            pub fn from_code(code: u32) -> Option<Self> {
                Self::ALL.into_iter().find(|policy| *policy as u32 == code)
            }

            /// Returns the meaning of the code, in words.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$Code => $meaning,)+
                }
            }

            /// Definition lines for the register map's fingerprint, one per code: `LeftOver = 0,`.
            pub(crate) const DEFINITIONS: [&'static str; Self::ALL.len()] = [$(concat!(stringify!($Code), " = ", $number, ",")),+];
        }
    };
}

policy_codes! {
    LeftOver = 0, "Left-over.";
    Spatial = 1, "Spatial.";
    MiasIpc = 2, "MIAS deciding by IPC.";
    MiasIpmIpc = 3, "MIAS deciding by IPM*IPC.";
    MiasFactor = 4, "MIAS deciding by Factor.";
    MiasLinear = 5, "MIAS deciding by Linear.";
    FixedConfig = 6, "The vector in `STRAP_FIXED` on all SMs.";
    Smk = 7, "SMK-P: TBs by dominant resource fairness.";
    WarpedSlicer = 8, "Warped-Slicer.";
    WarpedSlicerSum = 9, "Warped-Slicer, by the sum of performances.";
    MiasStp = 10, "MIAS deciding by STP.";
    MiasGuard = 11, "MIAS deciding by IPM*IPC, with guard.";
    Maestro = 12, "The better of Spatial and SMK-P, as measured.";
    Coordinated = 13, "Coordinated TB combination.";
    MiasRoofline = 14, "MIAS deciding by what the whole GPU would do, in S and STP.";
    MiasRooflineStp = 15, "The same, in STP alone.";
    CdSearch = 16, "Classification-driven search, in the mode that the kernels call for.";
    CdSearchPerformance = 17, "The same for performance.";
    CdSearchPower = 18, "The same for power.";
    GivenShares = 19, "Spatial with as many SMs of each kernel as `STRAP_SHARES` says.";
    MaestroSearch = 20, "The better of Spatial and shared SMs, with hill climbing.";
    CdSearchMaestro = 21, "The better of what classification-driven search finds and shared SMs.";
    FairShare = 22, "SMs for each kernel so that all are equally slow, by what each does alone.";
    FairShareModel = 23, "The same, by a model of what each would do alone.";
    EffectiveBandwidth = 24, "Active warps of each kernel by the sum of effective bandwidths.";
    EffectiveBandwidthFair = 25, "The same by the smallest of them over the largest.";
    EffectiveBandwidthHarmonic = 26, "The same by their harmonic mean.";
    MiasDuel = 27, "The better of what `MiasRooflineStp` and `Smk` choose, each tried on the whole GPU.";
    MiasTrial = 28, "What `Smk` has, a TB of each kernel, or fewer of one that gains little, each tried on the whole GPU.";
}

impl PolicyCode {
    /// Returns whether the policy searches for the number of SMs that each kernel needs.
    #[must_use]
    pub const fn searches(self) -> bool {
        matches!(
            self,
            Self::CdSearch
                | Self::CdSearchPerformance
                | Self::CdSearchPower
                | Self::GivenShares
                | Self::MaestroSearch
                | Self::CdSearchMaestro
                | Self::FairShare
                | Self::FairShareModel
                | Self::EffectiveBandwidth
                | Self::EffectiveBandwidthFair
                | Self::EffectiveBandwidthHarmonic
                | Self::MiasTrial
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_count_from_zero() {
        for (number, code) in PolicyCode::ALL.into_iter().enumerate() {
            assert_eq!((code as usize, PolicyCode::from_code(number as u32)), (number, Some(code)));
        }
        assert_eq!(PolicyCode::from_code(PolicyCode::ALL.len() as u32), None);
    }
}
