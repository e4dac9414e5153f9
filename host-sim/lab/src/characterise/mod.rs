//! Characterization of kernels: SM resources, instruction mix, behavior alone, type by each paper's
//! rule, and comparison with published statements.
//!
//! ```text
//! geometry, ptxas report --> occupancy                            `mias kernels`
//! trace ------------------> profile (mix, Cinst/Minst, Req/Minst)  \
//! runs alone: half of the TBs, all of them --> alone, types, binding > `mias kernels --stats`
//! published figures, the thesis' words ------> comparison          /
//! every TB executed, results checked                              `mias kernels --check`
//! ```

pub mod alone;
pub mod binding;
pub mod check;
pub mod occupancy;
pub mod profile;
pub mod published;
pub mod thesis;
pub mod types;

use crate::experiment::compare::Watch;
use crate::experiment::gpu_runner::{GpuRunner, Options, Outcome, RunError};
use crate::experiment::rate::ipc;
use crate::experiment::sweep::{self, Sweep};
use crate::experiment::workload::Workload;
use alone::Alone;
use binding::Binding;
use mias_hw_model::config::GpuConfig;
use mias_warp_trace::KernelInfo;
use occupancy::Occupancy;
use profile::Profile;
use types::Types;

/// Characterization of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Character {
    /// Name as the user typed it.
    pub name: String,
    /// Name among the built-in kernels; `None` for a user's kernel.
    pub kernel: Option<&'static str>,
    /// Geometry and resources.
    pub info: KernelInfo,
    /// Number of TBs per SM, with the limiting resources.
    pub occupancy: Occupancy,
    /// Instruction mix and memory requests.
    pub profile: Profile,
    /// Isolated IPC, in the unit of the options, at half of the maximum TBs per SM (`None` if only
    /// one fits) and at the maximum.
    pub ipc: (Option<f64>, f64),
    /// Isolated behavior at the maximum number of TBs.
    pub alone: Alone,
    /// Type by each paper's rule.
    pub types: Types,
    /// Bottleneck and remedies.
    pub binding: Binding,
}

impl Character {
    fn new(
        workload: &Workload,
        kernel: Option<&'static str>,
        gpu: &GpuConfig,
        options: Options,
        half: Option<(u32, f64)>,
        all: (u32, &Outcome),
    ) -> Self {
        let info = workload.trace.info().clone();
        let alone = Alone::of(all.1, gpu);
        let all_ipc = ipc(all.1, 0, options);
        Character {
            name: workload.name.clone(),
            kernel,
            occupancy: Occupancy::of(&info, gpu),
            profile: Profile::of(&workload.trace, gpu.l1.line_bytes),
            ipc: (half.map(|(_, ipc)| ipc), all_ipc),
            binding: Binding::of(&alone, (half.map(|(_, ipc)| ipc), all_ipc)),
            types: Types::of(&alone, half.map(|half| [half, (all.0, all_ipc)]), gpu),
            alone,
            info,
        }
    }
}

/// Characterizes `workload`, which is `kernel` if it is built in, by two isolated runs, with half
/// of the maximum TBs per SM and with all. `None` if it was interrupted.
///
/// # Errors
/// The first [`RunError`]; [`RunError::Workload`] if not even one TB fits.
pub fn characterise(
    runner: &dyn GpuRunner,
    gpu: &GpuConfig,
    (workload, kernel): (&Workload, Option<&'static str>),
    options: Options,
    watch: &dyn Watch,
) -> Result<Option<Character>, RunError> {
    let all = runner.max_tbs(workload)?;
    let sweep = sweep::runs(runner, workload, [all / 2, all].into_iter().filter(|&tbs| tbs > 0), options, watch)?;
    Ok(from_sweep(&sweep, gpu, (workload, kernel), options))
}

/// Characterizes from a sweep that already has the points. `None` if one of them is missing.
pub fn from_sweep(
    sweep: &Sweep,
    gpu: &GpuConfig,
    (workload, kernel): (&Workload, Option<&'static str>),
    options: Options,
) -> Option<Character> {
    let last = sweep.points.last()?;
    let half = match last.tbs / 2 {
        0 => None,
        tbs => {
            let point = sweep.points.iter().find(|point| point.tbs == tbs)?;
            Some((tbs, sweep.ipc(point)?))
        }
    };
    Some(Character::new(workload, kernel, gpu, options, half, (last.tbs, last.outcome.as_ref()?)))
}

#[cfg(test)]
mod dai_tests;
