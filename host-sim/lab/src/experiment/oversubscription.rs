//! What is asked for of TBs beyond those that fit, before a run: whether it can be (Lin et al. 2018, section 6.4; sources.md D161).

use super::gpu_runner::RunError;
use super::workload::Workload;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::Gpu;

/// Checks that an SM has room for as many extra TBs of each kernel as an option asks for. In a
/// plan, whose kernels have room for different numbers, more than there is room for are as many as
/// there is room for.
///
/// # Errors
/// [`RunError::Workload`], which says how many there is room for, or why for none.
pub fn check_extra(gpu: &GpuConfig, workloads: &[Workload]) -> Result<(), RunError> {
    let Some(contexts) = gpu.sm.oversubscription else { return Ok(()) };
    let Some(extra) = contexts.extra.filter(|&extra| extra > 0) else { return Ok(()) };
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
                        "`{name}` cannot have {extra} extra TBs on an SM of `{}`, there is room for {most}: give at most {most}, \
                         or less to move (`sm.contexts.live_permille`)",
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
