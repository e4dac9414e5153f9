//! What decides where TBs go, by the names that users type.

use super::own::Own;
use crate::choices;

/// A policy that a run can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// Kernels in launch order, each as far as it goes; the next takes what is left.
    LeftOver,
    /// Disjoint sets of SMs.
    Spatial,
    /// Only the kernel with the largest isolated IPC, on every SM: what a gain in S has to beat.
    Null,
    /// The kernels one after the other, derived from their runs alone: what STP compares with.
    Sequential,
    /// MIAS, by instructions per cycle.
    MiasIpc,
    /// MIAS, by instructions per miss times instructions per cycle.
    MiasIpmIpc,
    /// MIAS, by IPC with memory stalls scaled by the share of outstanding accesses.
    MiasFactor,
    /// MIAS, by IPC with memory stalls corrected linearly.
    MiasLinear,
    /// MIAS, by normalised progress.
    MiasStp,
    /// MIAS by instructions per miss times instructions per cycle; spatial where sharing SMs is predicted to lose.
    MiasGuard,
    /// Warped-Slicer: kernels profiled alone, the largest loss of a kernel made small.
    WarpedSlicer,
    /// Warped-Slicer without its scaling factor.
    WarpedSlicerUnscaled,
    /// Warped-Slicer's profile, the sum of instructions made large.
    WarpedSlicerSum,
    /// SMK-P: TBs by dominant resource fairness.
    Smk,
    /// TBs by the utilisation of schedulers, interconnect and DRAM.
    Coordinated,
    /// The better of spatial and smk, each measured on the whole GPU.
    Maestro,
    /// MIAS, by what the whole GPU would do, limited by DRAM: speedup, then progress.
    MiasRoofline,
    /// MIAS, by the normalised progress that the whole GPU would make, limited by DRAM.
    MiasRooflineStp,
    /// One that the program brings itself.
    Own(Own),
}

impl Policy {
    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Policy::LeftOver => "left-over",
            Policy::Spatial => "spatial",
            Policy::Null => "null",
            Policy::Sequential => "sequential",
            Policy::MiasIpc => "mias-ipc",
            Policy::MiasIpmIpc => "mias-ipm-ipc",
            Policy::MiasFactor => "mias-factor",
            Policy::MiasLinear => "mias-linear",
            Policy::MiasStp => "mias-stp",
            Policy::MiasGuard => "mias-guard",
            Policy::WarpedSlicer => "warped-slicer",
            Policy::WarpedSlicerUnscaled => "warped-slicer-unscaled",
            Policy::WarpedSlicerSum => "warped-slicer-sum",
            Policy::Smk => "smk",
            Policy::Coordinated => "coordinated",
            Policy::Maestro => "maestro",
            Policy::MiasRoofline => "mias-roofline",
            Policy::MiasRooflineStp => "mias-roofline-stp",
            Policy::Own(own) => own.name(),
        }
    }

    /// What it is, in a line.
    pub fn help(self) -> &'static str {
        match self {
            Policy::LeftOver => "Kernels in launch order, each as far as it goes; the next takes what is left",
            Policy::Spatial => "Disjoint sets of SMs",
            Policy::Null => "Only the kernel with the largest isolated IPC, on every SM: what a gain in S has to beat",
            Policy::Sequential => "The kernels one after the other, derived from their runs alone: what STP compares with",
            Policy::MiasIpc => "MIAS, by instructions per cycle",
            Policy::MiasIpmIpc => "MIAS, by instructions per miss times instructions per cycle",
            Policy::MiasFactor => "MIAS, by IPC with memory stalls scaled by the share of outstanding accesses",
            Policy::MiasLinear => "MIAS, by IPC with memory stalls corrected linearly",
            Policy::MiasStp => "MIAS, by normalised progress",
            Policy::MiasGuard => {
                "MIAS by instructions per miss times instructions per cycle; spatial where sharing SMs is predicted to lose"
            }
            Policy::WarpedSlicer => "Warped-Slicer: kernels profiled alone, the largest loss of a kernel made small",
            Policy::WarpedSlicerUnscaled => "Warped-Slicer without its scaling factor",
            Policy::WarpedSlicerSum => "Warped-Slicer's profile, the sum of instructions made large",
            Policy::Smk => "SMK-P: TBs by dominant resource fairness",
            Policy::Coordinated => "TBs by the utilisation of schedulers, interconnect and DRAM",
            Policy::Maestro => "The better of spatial and smk, each measured on the whole GPU",
            Policy::MiasRoofline => "MIAS, by what the whole GPU would do, limited by DRAM: speedup, then progress",
            Policy::MiasRooflineStp => "MIAS, by the normalised progress that the whole GPU would make, limited by DRAM",
            Policy::Own(own) => own.help(),
        }
    }

    /// Whether it decides by measuring; one of the program's own is taken to.
    pub fn measures(self) -> bool {
        self.decides() && !matches!(self, Policy::LeftOver | Policy::Spatial | Policy::Smk)
    }

    /// Whether it is a policy; if not, it is a notion of experiments: a configuration once the isolated runs are known, or no run at all.
    pub fn decides(self) -> bool {
        !matches!(self, Policy::Null | Policy::Sequential)
    }

    /// Fewest SMs on which it can place `kernels` kernels.
    pub fn least_sms(self, kernels: u32) -> u32 {
        match self {
            Policy::Spatial => kernels,
            _ => 1,
        }
    }

    /// All that are built in, in the order of reports.
    pub const ALL: [Policy; 18] = [
        Policy::LeftOver,
        Policy::Spatial,
        Policy::Null,
        Policy::Sequential,
        Policy::MiasIpc,
        Policy::MiasIpmIpc,
        Policy::MiasFactor,
        Policy::MiasLinear,
        Policy::MiasStp,
        Policy::MiasGuard,
        Policy::WarpedSlicer,
        Policy::WarpedSlicerUnscaled,
        Policy::WarpedSlicerSum,
        Policy::Smk,
        Policy::Coordinated,
        Policy::Maestro,
        Policy::MiasRoofline,
        Policy::MiasRooflineStp,
    ];

    /// [`PolicySet::Thesis`], in the order of reports.
    const THESIS: [Policy; 7] =
        [Policy::LeftOver, Policy::Spatial, Policy::Null, Policy::MiasIpc, Policy::MiasIpmIpc, Policy::MiasFactor, Policy::MiasLinear];
}

choices! {
    /// A set of policies by name.
    pub enum PolicySet {
        /// Those that the thesis implements, Warped-Slicer aside, and null.
        Thesis = "thesis",
        /// Every policy built in.
        All = "all",
    }
}

impl PolicySet {
    /// Its policies, in the order of reports.
    pub fn policies(self) -> &'static [Policy] {
        match self {
            PolicySet::Thesis => &Policy::THESIS,
            PolicySet::All => &Policy::ALL,
        }
    }
}

/// What the firmware of one run does: a policy of its own, or one configuration throughout.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// This policy, if it [decides](Policy::decides).
    Policy(Policy),
    /// These TBs of each kernel on every SM, in kernel order.
    Fixed(Vec<u32>),
}

choices! {
    /// How SMs come from one configuration to the next.
    pub enum Transition {
        /// TBs beyond the new quota run to their end (the thesis).
        Drain = "drain",
        /// TBs beyond the new quota vanish at once and start again later: no transition time.
        Ideal = "ideal",
    }
}

choices! {
    /// The time that decisions take in simulated time: counted instructions of the policy (`firmware/decision-latency.toml`) on the
    /// machine's microcontroller.
    #[derive(Default)]
    pub enum Latency {
        /// That of the slowest of MIAS' four metrics, whichever of them decides; of another policy its own.
        #[default]
        Worst = "worst",
        /// That of the metric or policy that decides.
        PerMetric = "per-metric",
        /// None.
        Off = "off",
    }
}

choices! {
    /// The instruction that IPC counts.
    pub enum IpcUnit {
        /// Instructions of active lanes, as GPGPU-Sim prints it.
        Thread = "thread",
        /// Warp instructions.
        Warp = "warp",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Choice;

    #[test]
    fn policies_have_names_of_their_own() {
        let names: std::collections::BTreeSet<&str> = Policy::ALL.iter().map(|policy| policy.name()).collect();
        assert_eq!(names.len(), Policy::ALL.len());
        assert_eq!(PolicySet::Thesis.policies().last(), Some(&Policy::MiasLinear));
    }

    /// JSON writes options as people type them.
    #[test]
    fn json_has_the_typed_names() {
        let json = serde_json::to_value((Transition::ALL, Latency::ALL, IpcUnit::ALL)).unwrap();
        assert_eq!(json, serde_json::json!([["drain", "ideal"], ["worst", "per-metric", "off"], ["thread", "warp"]]));
    }
}
