//! Placement of TBs by name: the firmware's policies (`firmware/policies/src/policy/table.rs`), two
//! notions of experiments, configurations, any of them with mechanisms, and custom policies.

use super::custom_policy::Custom;
use super::mechanisms::Composed;
use super::palette;
use super::static_config::StaticConfig;
pub use super::transition::{PREEMPT_LIMIT_NS, Transition};
use crate::choices;
use mias_hw_model::gpu::{FirstRun, LaunchStats};
use mias_policies::named_policies;
use mias_policies::policy::{Charged, NAMED, Named};
use std::cmp::Ordering;

/// Generates [`Policy`] from the firmware's table and the additional policies of experiments.
macro_rules! policies {
    ($($Policy:ident, $name:literal, $Code:ident, $option:expr, $Charged:ident, $help:literal;)+) => {
        /// Policy that a run can request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Policy {
            $(#[doc = $help] $Policy,)+
            /// Only the kernel with the largest isolated IPC, on every SM: what a gain in S has to
            /// beat
            Null,
            /// The kernels one after the other, derived from their runs alone: what STP compares
            /// with
            Sequential,
            /// A policy that places TBs, with mechanisms that restrict kernels in addition.
            Composed(&'static Composed),
            /// One configuration for all SMs.
            Static(StaticConfig),
            /// Custom policy of the program.
            Custom(Custom),
        }

        /// Policies of the firmware, in the order of its table.
        const FIRMWARE: [Policy; NAMED.len()] = [$(Policy::$Policy),+];

        impl Policy {
            /// Returns the entry in the firmware's table, for a composed policy that of its base;
            /// `None` if it has none.
            pub fn in_firmware(self) -> Option<&'static Named> {
                match self {
                    $(Policy::$Policy => NAMED.get(Policy::$Policy.place()),)+
                    Policy::Composed(composed) => composed.base.in_firmware(),
                    Policy::Null | Policy::Sequential | Policy::Static(_) | Policy::Custom(_) => None,
                }
            }

            /// Returns the policy's index in the firmware's table; for other policies an index
            /// beyond it.
            const fn place(self) -> usize {
                /// Policies of the firmware as numbers, in the order of the table.
                enum Place {
                    $($Policy,)+
                }
                match self {
                    $(Policy::$Policy => Place::$Policy as usize,)+
                    Policy::Null | Policy::Sequential | Policy::Static(_) | Policy::Composed(_) | Policy::Custom(_) => NAMED.len(),
                }
            }
        }
    };
}

named_policies!(policies);

/// Help text of a configuration as a policy.
pub const STATIC_HELP: &str = "One configuration for all SMs: TBs of each kernel, in launch order, as in static:2-2";

impl Policy {
    /// All built-in policies, in the order of reports: the notions of experiments follow Spatial.
    pub const ALL: [Policy; NAMED.len() + 2] = {
        let mut all = [Policy::Null; NAMED.len() + 2];
        let mut at = 0;
        while at < FIRMWARE.len() {
            let after_spatial = FIRMWARE[at].place() > Policy::Spatial.place();
            all[if after_spatial { at + 2 } else { at }] = FIRMWARE[at];
            at += 1;
        }
        all[Policy::Spatial.place() + 2] = Policy::Sequential;
        all
    };

    /// [`PolicySet::Thesis`], in the order of reports.
    const THESIS: [Policy; 7] =
        [Policy::LeftOver, Policy::Spatial, Policy::Null, Policy::MiasIpc, Policy::MiasIpmIpc, Policy::MiasFactor, Policy::MiasLinear];

    /// Returns the name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Null => "null",
            Policy::Sequential => "sequential",
            Policy::Composed(composed) => composed.name,
            Policy::Static(config) => config.name(),
            Policy::Custom(own) => own.name(),
            _ => self.in_firmware().map_or("", |named| named.name),
        }
    }

    /// Returns the one-line description.
    pub fn help(self) -> &'static str {
        match self {
            Policy::Null => "Only the kernel with the largest isolated IPC, on every SM: the baseline for gains in S",
            Policy::Sequential => "The kernels one after the other, derived from their isolated runs: the baseline of STP",
            Policy::Composed(composed) => composed.help,
            Policy::Static(_) => STATIC_HELP,
            Policy::Custom(own) => own.help(),
            _ => self.in_firmware().map_or("", |named| named.help),
        }
    }

    /// Returns the color in charts, in HTML notation; `None` for custom policies.
    pub fn color(self) -> Option<&'static str> {
        match self {
            Policy::Null => Some(palette::NULL),
            Policy::Sequential => Some(palette::SEQUENTIAL),
            Policy::Composed(composed) => composed.color,
            Policy::Static(_) => Some(palette::STATIC),
            Policy::Custom(_) => None,
            _ => palette::FIRMWARE.get(self.place()).copied(),
        }
    }

    /// Returns whether the policy decides by measuring; custom policies count as measuring.
    pub fn measures(self) -> bool {
        self.decides() && self.in_firmware().is_none_or(|named| named.charged != Charged::SlowestMetric)
    }

    /// Returns whether the policy searches for the number of SMs of each kernel.
    pub fn searches(self) -> bool {
        self.in_firmware().is_some_and(|named| named.code.searches())
    }

    /// Returns the policy with its mechanisms, if it has any.
    pub fn composed(self) -> Option<&'static Composed> {
        if let Policy::Composed(composed) = self { Some(composed) } else { None }
    }

    /// Returns the policy that places TBs: the base of a composed one.
    #[must_use]
    pub fn base(self) -> Policy {
        self.composed().map_or(self, |composed| composed.base)
    }

    /// Returns whether the policy's run depends on the isolated runs of the kernels.
    pub fn waits_for_alone(self) -> bool {
        self == Policy::Null || self.composed().is_some_and(Composed::has_quotas)
    }

    /// Returns whether the firmware decides. Otherwise it is a notion of experiments: a
    /// configuration, given or derived from isolated runs, or no run at all.
    pub fn decides(self) -> bool {
        !matches!(self, Policy::Null | Policy::Sequential | Policy::Static(_))
    }

    /// Returns the minimum number of SMs on which the policy can place `kernels` kernels.
    pub fn least_sms(self, kernels: u32) -> u32 {
        match self {
            Policy::Spatial => kernels,
            _ if self.searches() => kernels,
            _ => 1,
        }
    }

    /// Returns the sort key: the position of its base in [`Policy::ALL`] or after it, the rank of
    /// its mechanisms, its name.
    fn rank(self) -> (usize, (u32, u32), &'static str) {
        let base = self.base();
        let behind = Policy::ALL.len() + usize::from(matches!(base, Policy::Custom(_)));
        let place = Policy::ALL.iter().position(|&policy| policy == base).unwrap_or(behind);
        (place, self.composed().map_or((0, 0), Composed::rank), self.name())
    }
}

/// Order of reports.
impl Ord for Policy {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Policy {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
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
    /// Returns the policies of the set, in the order of reports.
    pub fn policies(self) -> &'static [Policy] {
        match self {
            PolicySet::Thesis => &Policy::THESIS,
            PolicySet::All => &Policy::ALL,
        }
    }
}

impl Control {
    /// Returns whether the control searches for the number of SMs of each kernel.
    #[must_use]
    pub fn searches(&self) -> bool {
        if let Control::Policy(policy) = self { policy.searches() } else { false }
    }
}

/// Firmware behavior of one run: a policy, or one configuration throughout.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// A policy that [decides](Policy::decides).
    Policy(Policy),
    /// TBs of each kernel on every SM, in kernel order.
    Fixed(Vec<u32>),
}

choices! {
    /// The time that decisions take in simulated time: counted instructions of the policy
    /// (`host-sim/lab/decision-latency.toml`) on the GPU's microcontroller.
    #[derive(Default)]
    pub enum Latency {
        /// For MIAS the time of the slowest of its four metrics; for another policy its own.
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

choices! {
    /// Cycles over which IPC counts with relaunched kernels.
    #[derive(Default)]
    pub enum Counted {
        /// The whole window.
        #[default]
        Window = "window",
        /// A kernel's first run, or the window if it does not end (Zhao et al. 2018, section 6).
        FirstRun = "first-run",
    }
}

impl IpcUnit {
    /// Returns the work of a launch in its first run, in this unit.
    pub fn insts_of(self, first: &FirstRun) -> u64 {
        match self {
            IpcUnit::Thread => first.thread_insts,
            IpcUnit::Warp => first.warp_insts,
        }
    }

    /// Returns the work of a launch in this unit: issued instructions except those of flushed TBs.
    pub fn insts(self, launch: &LaunchStats) -> u64 {
        match self {
            IpcUnit::Thread => launch.useful_thread_insts(),
            IpcUnit::Warp => launch.useful_warp_insts(),
        }
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

    /// JSON uses the names that users type.
    #[test]
    fn json_has_the_typed_names() {
        let json = serde_json::to_value((&Transition::ALL[..2], Latency::ALL, IpcUnit::ALL)).unwrap();
        assert_eq!(json, serde_json::json!([["drain", "ideal"], ["worst", "per-metric", "off"], ["thread", "warp"]]));
    }
}
