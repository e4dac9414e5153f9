//! What decides where TBs go, by the names that users type.

use super::own::Own;
use clap::ValueEnum;

/// A policy that a run can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
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
    #[value(skip)]
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

/// A set of policies by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PolicySet {
    /// Those that the thesis implements, Warped-Slicer aside, and null.
    Thesis,
    /// Every policy built in.
    All,
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

/// How SMs come from one configuration to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transition {
    /// TBs beyond the new quota run to their end (the thesis).
    Drain,
    /// TBs beyond the new quota vanish at once and start again later: no transition time.
    Ideal,
}

impl Transition {
    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Transition::Drain => "drain",
            Transition::Ideal => "ideal",
        }
    }
}

/// The time that decisions take in simulated time: counted instructions of the policy (`firmware/decision-latency.toml`) on the
/// machine's microcontroller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Latency {
    /// That of the slowest of MIAS' four metrics, whichever of them decides; of another policy its own.
    #[default]
    Worst,
    /// That of the metric or policy that decides.
    PerMetric,
    /// None.
    Off,
}

impl Latency {
    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Latency::Worst => "worst",
            Latency::PerMetric => "per-metric",
            Latency::Off => "off",
        }
    }
}

/// The instruction that IPC counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IpcUnit {
    /// Instructions of active lanes, as GPGPU-Sim prints it.
    Thread,
    /// Warp instructions.
    Warp,
}

impl IpcUnit {
    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            IpcUnit::Thread => "thread",
            IpcUnit::Warp => "warp",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is printed is what is parsed, and the only way to type it.
    fn reads_back<T: ValueEnum + PartialEq + std::fmt::Debug>(name: fn(T) -> &'static str) {
        for value in T::value_variants() {
            let printed = name(value.clone());
            assert_eq!(T::from_str(printed, false).as_ref(), Ok(value));
            assert_eq!(value.to_possible_value().unwrap().get_name(), printed);
        }
    }

    #[test]
    fn typed_names_are_printed_names() {
        reads_back(Policy::name);
        reads_back(Transition::name);
        reads_back(Latency::name);
        reads_back(IpcUnit::name);
        assert_eq!(Policy::value_variants(), Policy::ALL);
        assert_eq!(PolicySet::Thesis.policies().last(), Some(&Policy::MiasLinear));
    }

    /// JSON writes options as people type them.
    #[test]
    fn json_has_the_typed_names() {
        let json = serde_json::to_value((Transition::value_variants(), Latency::value_variants(), IpcUnit::value_variants())).unwrap();
        assert_eq!(json, serde_json::json!([["drain", "ideal"], ["worst", "per-metric", "off"], ["thread", "warp"]]));
    }
}
