//! Levels of scheduling that the firmware sets beside the policy: which launch of the queue is
//! next, whose warp issues a memory instruction, whose request DRAM serves (sources.md D200 to
//! D204).
//!
//! What is not named is off: launches in the order of their arrival, the warp scheduler's own order, row hits first.

use crate::choice::Choice;
use crate::choices;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::register_block::Straps;
use mias_registers::{dram_order, memory_mode, option};
use std::borrow::Cow;

choices! {
    /// Levels that the firmware sets beside the policy.
    #[derive(Default)]
    pub enum Levels {
        /// None: launches in the order of their arrival, memory instructions and DRAM requests as the machine has them
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

/// How often a launch may be passed over (assumption: half a window, so that what is chosen first does not keep the rest waiting for long).
pub const PATIENCE: u32 = 8;

impl Levels {
    /// The firmware says which launch is next.
    pub fn kernels(self) -> bool {
        matches!(self, Levels::Kernels | Levels::KernelsWarps | Levels::KernelsRequests | Levels::All)
    }

    /// It sets how memory instructions are held back.
    pub fn warps(self) -> bool {
        matches!(self, Levels::Warps | Levels::KernelsWarps | Levels::WarpsRequests | Levels::All)
    }

    /// It sets the order of DRAM requests.
    pub fn requests(self) -> bool {
        matches!(self, Levels::Requests | Levels::KernelsRequests | Levels::WarpsRequests | Levels::All)
    }

    /// Those of these three.
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

    /// The level that sets a key of the GPU's file, if one does.
    pub(crate) fn setting(self, key: &str) -> Option<&'static str> {
        let sets = [
            (self.warps(), Levels::Warps, ["sm.memory_issue.order", "sm.memory_issue.in_flight", "sm.memory_issue.limits"].as_slice()),
            (self.requests(), Levels::Requests, &["dram.scheduler.by"]),
        ];
        sets.into_iter().find(|(on, _, keys)| *on && keys.iter().any(|set| key.starts_with(set))).map(|(_, level, _)| level.name())
    }

    /// The same without the choice of launches.
    #[must_use]
    pub fn without_kernels(self) -> Self {
        Levels::of(false, self.warps(), self.requests())
    }

    /// What the straps ask the firmware for.
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

    /// The machine on which it can be: SMs can hold memory instructions back, if the firmware is to set that.
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

    /// A name says what is in it.
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
