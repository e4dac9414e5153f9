//! What is asked for of TBs beyond those that fit, before a run: whether it can be (Lin et al. 2018, section 6.4; sources.md D161).

use super::machine::RunError;
use super::transition::Transition;
use super::workload::Workload;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::Gpu;

/// Checks that an SM has room for as many extra TBs of each kernel as the machine's file or an option asks for.
///
/// # Errors
/// [`RunError::Workload`], which says how many there is room for, or why for none.
pub(super) fn check(gpu: &GpuConfig, workloads: &[&Workload], transition: Transition) -> Result<(), RunError> {
    let Some(contexts) = gpu.sm.contexts else { return Ok(()) };
    if transition.preempts() {
        let message = "TBs are to leave before their end (`--transition preempt`), and contexts to be switched on SMs (`sm.contexts`): \
                       a context has one place only, so leave out one of the two";
        return Err(RunError::Workload(message.into()));
    }
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
