//! Connects a run to the stopping rule of [`Stop`].

use super::SimulatedGpu;
use crate::experiment::controller::Controller;
use crate::experiment::decider::slot_of;
use crate::experiment::gpu_runner::{End, Run};
use crate::experiment::policy::Counted;
use crate::experiment::precision::{Known, Progress, Stop};
use mias_hw_model::gpu::{Gpu, Stats};
use mias_hw_model::register_block::RegisterBlock;
use mias_registers::PhaseCode;

impl SimulatedGpu {
    /// Returns the rule that may end a run before its window. It is `None` if no precision is
    /// requested, kernels are not relaunched, all of the window is sampled, or the register block
    /// is recorded.
    pub(super) fn stop(&self, run: &Run<'_>) -> Option<Stop> {
        let options = run.options;
        let End::Cycles(window) = options.end else { return None };
        let relaunch = options.relaunch && run.workloads.iter().all(|workload| workload.latency_limit == 0);
        let precision =
            options.precision.filter(|_| relaunch && options.sample_cycles.is_none() && !self.record && !self.record_firmware)?;
        let tbs = run.workloads.iter().map(|workload| {
            let launches = std::iter::once(&workload.trace).chain(&workload.then);
            launches.map(|trace| u64::from(trace.tbs())).sum()
        });
        let not_before = self.samples.map_or(0, |sampling| sampling.until_cycle.min(window));
        let stop = Stop::new(precision, window, not_before, tbs.collect());
        Some(if options.counted == Counted::FirstRun { stop.after_first_runs() } else { stop })
    }
}

/// Checks a run if a check is due in this cycle; returns the result once the run is known.
pub(super) fn look(stop: &mut Stop, gpu: &mut Gpu, controller: &Controller) -> Option<Known> {
    if !Stop::looks_at(gpu.cycle()) {
        return None;
    }
    let stats = gpu.stats();
    let latency = u64::from(gpu.config().launch.latency_cycles);
    let registers = gpu.registers();
    let arrived = stats.launches.iter().all(|launch| launch.start_cycle.is_some_and(|start| start + latency < stats.cycles));
    let phase = matches!(registers.phase(), Some(PhaseCode::Steady | PhaseCode::Idle));
    let out = controller.streams().iter().map(|&stream| is_out(registers, &stats, stream)).collect();
    stop.look(Progress { settled: arrived && phase, placements: (registers.generation(), registers.reschedulings()), out, stats })
}

/// Returns whether the kernel on `stream` has neither a TB nor the quota for one on any SM.
fn is_out(registers: &RegisterBlock, stats: &Stats, stream: u32) -> bool {
    slot_of(registers, stream)
        .is_some_and(|slot| stats.sms.iter().enumerate().all(|(sm, of_sm)| of_sm.resident[slot] == 0 && registers.quota(sm, slot) == 0))
}
