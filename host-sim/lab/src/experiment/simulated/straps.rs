//! Straps of the register block, by which a run configures the firmware.

use super::SimulatedGpu;
use crate::experiment::gpu_runner::Run;
use crate::experiment::policy::{Control, IpcUnit, PREEMPT_LIMIT_NS, Policy, Transition};
use mias_hw_model::config::{InFlightLimit, MemoryIssueFrom, NoFails};
use mias_hw_model::register_block::Straps;
use mias_registers::{PolicyCode, option};

impl SimulatedGpu {
    /// Returns the straps of a run.
    pub(super) fn straps(&self, run: &Run<'_>) -> Straps {
        let (policy, option_of_policy) = match &run.control {
            // Policies without a code in the firmware. Experiments run the harness notions as a
            // configuration or not at all. A custom policy starts without this strap.
            Control::Policy(policy) => policy.in_firmware().map_or((PolicyCode::FixedConfig, 0), |named| (named.code, named.option)),
            Control::Fixed(_) => (PolicyCode::FixedConfig, 0),
        };
        let fixed = if let Control::Fixed(config) = &run.control { config.as_slice() } else { &[] };
        let shares = run.options.shares.filter(|_| run.control == Control::Policy(Policy::Spatial));
        let mut straps = Straps::new(if shares.is_some() { PolicyCode::GivenShares } else { policy });
        straps.profile_window = run.options.profile_cycles;
        (straps.search.warm_up_cycles, straps.search.window_cycles) = (run.options.search_cycles, run.options.search_cycles);
        // sources.md D27: kernels that arrive within one launch latency are scheduled together.
        straps.coalesce_window = self.config.launch.latency_cycles;
        straps.options = option::READ_ALL_COUNTERS | option_of_policy;
        if run.options.ipc == IpcUnit::Warp {
            straps.options |= option::WARP_IPC;
        }
        if run.options.transition == Transition::Ideal {
            straps.options |= option::IDEAL_TRANSITION;
        }
        if let Some(scheme) = run.options.transition.scheme() {
            straps.preempt = scheme.code();
            let cycles = PREEMPT_LIMIT_NS * u64::from(self.config.clocks.core_khz) / 1_000_000;
            straps.preempt_limit = u32::try_from(cycles).unwrap_or(u32::MAX);
        }
        if let Some(memory) = &self.config.sm.memory_issue {
            let firmware = memory.in_flight == InFlightLimit::Firmware;
            for (asked, bit) in [
                (firmware, option::LIMIT_MEMORY),
                (firmware && memory.no_fails == NoFails::Grow, option::LIMIT_GROWS),
                (firmware && memory.wide_fails, option::LIMIT_WIDE),
                (memory.from == MemoryIssueFrom::Decision, option::MEMORY_FROM_DECISION),
            ] {
                straps.options |= if asked { bit } else { 0 };
            }
            straps.memory_interval = if firmware { memory.interval() } else { 0 };
        }
        if let Some(oversubscription) =
            self.config.sm.oversubscription.filter(|oversubscription| oversubscription.is_controlled_by_firmware())
        {
            straps.options |= option::CONTROL_OVERSUBSCRIPTION;
            straps.context_interval = oversubscription.interval();
        }
        run.options.levels.strap(&mut straps);
        // The firmware counts kernels as they arrive, except those with priority.
        let has_quotas = |&kernel: &usize| !run.workloads[kernel].is_beside_quotas(run.options.transition);
        let mut order: Vec<usize> = (0..run.workloads.len()).filter(has_quotas).collect();
        order.sort_by_key(|&kernel| run.workloads[kernel].arrival_cycle);
        for (strap, kernel) in straps.search.shares.iter_mut().zip(&order) {
            *strap = shares.and_then(|shares| shares.sms().get(*kernel).copied()).map_or(0, u32::from);
        }
        for (strap, kernel) in straps.fixed.iter_mut().zip(order) {
            *strap = fixed.get(kernel).map_or(0, |&tbs| u8::try_from(tbs).unwrap_or(u8::MAX));
        }
        straps
    }
}
