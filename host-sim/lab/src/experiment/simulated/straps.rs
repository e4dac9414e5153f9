//! What the register block's straps ask the firmware for in a run.

use super::SimulatedGpu;
use crate::experiment::machine::Run;
use crate::experiment::policy::{Control, IpcUnit, Policy, Transition};
use mias_firmware::regs::{PolicyCode, option};
use mias_hw_model::register_file::Straps;

impl SimulatedGpu {
    /// The straps of a run.
    pub(super) fn straps(&self, run: &Run<'_>) -> Straps {
        let (policy, fixed) = match &run.control {
            Control::Policy(policy) => (code(*policy), &[][..]),
            Control::Fixed(config) => (PolicyCode::FixedConfig, config.as_slice()),
        };
        let mut straps = Straps::new(policy);
        straps.profile_window = run.options.profile_cycles;
        // DESIGN.md section 4: kernels that arrive within one launch latency are scheduled together.
        straps.coalesce_window = self.config.launch.latency_cycles;
        straps.options = option::READ_ALL_COUNTERS;
        if run.options.ipc == IpcUnit::Warp {
            straps.options |= option::WARP_IPC;
        }
        if run.control == Control::Policy(Policy::WarpedSlicerUnscaled) {
            straps.options |= option::UNSCALED_PROFILE;
        }
        if run.options.transition == Transition::Ideal {
            straps.options |= option::IDEAL_TRANSITION;
        }
        // The firmware counts kernels as they arrive.
        let mut order: Vec<usize> = (0..run.workloads.len()).collect();
        order.sort_by_key(|&kernel| run.workloads[kernel].arrival_cycle);
        for (strap, kernel) in straps.fixed.iter_mut().zip(order) {
            *strap = fixed.get(kernel).map_or(0, |&tbs| u8::try_from(tbs).unwrap_or(u8::MAX));
        }
        straps
    }
}

fn code(policy: Policy) -> PolicyCode {
    match policy {
        Policy::LeftOver => PolicyCode::LeftOver,
        Policy::Spatial => PolicyCode::Spatial,
        Policy::MiasIpc => PolicyCode::MiasIpc,
        Policy::MiasIpmIpc => PolicyCode::MiasIpmIpc,
        Policy::MiasFactor => PolicyCode::MiasFactor,
        Policy::MiasLinear => PolicyCode::MiasLinear,
        Policy::MiasStp => PolicyCode::MiasStp,
        Policy::MiasGuard => PolicyCode::MiasGuard,
        Policy::WarpedSlicer | Policy::WarpedSlicerUnscaled => PolicyCode::WarpedSlicer,
        Policy::WarpedSlicerSum => PolicyCode::WarpedSlicerSum,
        Policy::Smk => PolicyCode::Smk,
        Policy::Coordinated => PolicyCode::Coordinated,
        Policy::Maestro => PolicyCode::Maestro,
        Policy::MiasRoofline => PolicyCode::MiasRoofline,
        Policy::MiasRooflineStp => PolicyCode::MiasRooflineStp,
        // Harness notions: experiments ask for them as a configuration or not at all. Without one, no TB is placed. One of the program's
        // own is started without a look at this strap.
        Policy::Null | Policy::Sequential | Policy::Own(_) => PolicyCode::FixedConfig,
    }
}
