//! Levels of scheduling that the firmware sets in addition to the policy (sources.md D200 to D204).
//!
//! They are the order of queued launches, arbitration among memory instructions, and the order of
//! DRAM requests.
//!
//! Levels not named are off: launches in order of arrival, the warp scheduler's own order, row hits
//! first.

use crate::choice::Choice;
use crate::choices;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::register_block::Straps;
use mias_registers::{dram_order, memory_mode, option};
use std::borrow::Cow;

choices! {
    /// Levels that the firmware sets in addition to the policy.
    #[derive(Default)]
    pub enum Levels {
        /// None: launches in order of arrival, memory arbitration and DRAM order of the GPU file
        #[default]
        None = "none",
        /// Kernels: the firmware says which launch of the queue is next
        Kernels = "kernels",
        /// Warps: memory instructions by quotas and limits of each kernel (QBMI and DMIL)
        Warps = "warps",
        /// Requests: DRAM serves an older request of another kernel after a few row hits
        Requests = "requests",
        /// Kernels and warps
        KernelsWarps = "kernels+warps",
        /// Kernels and requests
        KernelsRequests = "kernels+requests",
        /// Warps and requests
        WarpsRequests = "warps+requests",
        /// All three
        All = "kernels+warps+requests",
    }
}

/// Number of times a launch may be passed over (assumption: half a window, so that launches chosen
/// first delay the rest only briefly).
pub const PATIENCE: u32 = 8;

impl Levels {
    /// Returns whether the firmware chooses the next launch.
    pub fn kernels(self) -> bool {
        matches!(self, Levels::Kernels | Levels::KernelsWarps | Levels::KernelsRequests | Levels::All)
    }

    /// Returns whether the firmware sets limits on memory instructions.
    pub fn warps(self) -> bool {
        matches!(self, Levels::Warps | Levels::KernelsWarps | Levels::WarpsRequests | Levels::All)
    }

    /// Returns whether the firmware sets the order of DRAM requests.
    pub fn requests(self) -> bool {
        matches!(self, Levels::Requests | Levels::KernelsRequests | Levels::WarpsRequests | Levels::All)
    }

    /// Returns the combination of these three levels.
    pub fn of(kernels: bool, warps: bool, requests: bool) -> Self {
        match (kernels, warps, requests) {
            (false, false, false) => Levels::None,
            (true, false, false) => Levels::Kernels,
            (false, true, false) => Levels::Warps,
            (false, false, true) => Levels::Requests,
            (true, true, false) => Levels::KernelsWarps,
            (true, false, true) => Levels::KernelsRequests,
            (false, true, true) => Levels::WarpsRequests,
            (true, true, true) => Levels::All,
        }
    }

    /// Returns the level that sets a key of the GPU's file, if any.
    pub(crate) fn setting(self, key: &str) -> Option<&'static str> {
        let sets = [
            (self.warps(), Levels::Warps, ["sm.memory_issue.order", "sm.memory_issue.in_flight", "sm.memory_issue.limits"].as_slice()),
            (self.requests(), Levels::Requests, &["dram.scheduler.by"]),
        ];
        sets.into_iter().find(|(on, _, keys)| *on && keys.iter().any(|set| key.starts_with(set))).map(|(_, level, _)| level.name())
    }

    /// Returns the levels without the choice of launches.
    #[must_use]
    pub fn without_kernels(self) -> Self {
        Levels::of(false, self.warps(), self.requests())
    }

    /// Sets the straps that enable these levels in the firmware.
    pub(crate) fn strap(self, straps: &mut Straps) {
        for (asked, bit) in [
            (self.kernels(), option::SCHEDULE_LAUNCHES),
            (self.warps(), option::SET_MEMORY_ISSUE),
            (self.requests(), option::SET_DRAM_ORDER),
        ] {
            straps.options |= if asked { bit } else { 0 };
        }
        straps.queue_patience = if self.kernels() { PATIENCE } else { 0 };
        straps.memory_mode = if self.warps() { memory_mode::QUOTA | memory_mode::FOUND } else { 0 };
        straps.dram_order = if self.requests() { dram_order::KERNEL_CAP } else { 0 };
    }

    /// Returns a GPU that supports the levels: SMs can hold memory instructions back if the
    /// firmware sets that.
    pub(crate) fn on<'g>(self, gpu: Cow<'g, GpuConfig>) -> Cow<'g, GpuConfig> {
        if !self.warps() || gpu.sm.memory_issue.is_some() {
            return gpu;
        }
        let mut gpu = gpu.into_owned();
        gpu.sm.memory_issue = Some(Default::default());
        Cow::Owned(gpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name lists the levels that are on.
    #[test]
    fn names_say_what_is_set() {
        for levels in Levels::ALL {
            let has = |word: &str| levels.name().split('+').any(|part| part == word);
            assert_eq!(
                (levels.kernels(), levels.warps(), levels.requests()),
                (has("kernels"), has("warps"), has("requests")),
                "{levels:?}"
            );
            assert_eq!(Levels::of(levels.kernels(), levels.warps(), levels.requests()), *levels);
            assert!(!levels.without_kernels().kernels());
        }
    }
}
