//! Checks of requested extra TBs before a run (Lin et al. 2018, section 6.4; sources.md D161).

use super::gpu_runner::RunError;
use super::workload::Workload;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::Gpu;

/// Checks that an SM has capacity for the requested number of extra TBs of each kernel. In a plan,
/// whose kernels differ in capacity, a larger request is reduced to the capacity.
///
/// # Errors
/// [`RunError::Workload`] with the capacity, or with the reason why it is zero.
pub fn check_extra(gpu: &GpuConfig, workloads: &[Workload]) -> Result<(), RunError> {
    let Some(oversubscription) = gpu.sm.oversubscription else { return Ok(()) };
    let Some(extra) = oversubscription.extra.filter(|&extra| extra > 0) else { return Ok(()) };
    for workload in workloads {
        let live = workload.live_registers();
        for (at, trace) in workload.launches().enumerate() {
            let name = &workload.name;
            match Gpu::room_for_extra(gpu, trace.info(), live.get(at).copied().flatten()) {
                Some(Err(why)) => {
                    let message = format!("`{name}` cannot have {extra} extra TBs on an SM of `{}`: {why}; leave out the number", gpu.name);
                    return Err(RunError::Workload(message));
                }
                Some(Ok(most)) if most < extra => {
                    let message = format!(
                        "`{name}` cannot have {extra} extra TBs on an SM of `{}`, which has room for {most}: use at most {most}, \
                         or reduce the live state (`sm.oversubscription.live_permille`)",
                        gpu.name
                    );
                    return Err(RunError::Workload(message));
                }
                _ => {}
            }
        }
    }
    Ok(())
}
