//! The time of decisions: names for each decision in a run the cycle in which it takes effect.
//!
//! It reads the situation from the register block, as a host's debugger could, so that the firmware in this process and an image in
//! QEMU take the same time.

use super::machine::DecisionTime;
use super::machine::Options;
use super::own::Own;
use super::policy::{Control, IpcUnit, Latency, Policy};
use crate::latency::{LatencyTable, Metric, Situation};
use mias_firmware::regs::{MAX_SLOTS, PhaseCode, interrupt};
use mias_hw_model::config::{GpuConfig, MicrocontrollerConfig};
use mias_hw_model::register_file::RegisterFile;

/// Times the decisions of a run.
#[derive(Clone, Debug)]
pub(super) struct DecisionTimer {
    microcontroller: MicrocontrollerConfig,
    core_khz: u32,
    /// The metric whose counts to take; none: the worst of all.
    metric: Option<Metric>,
    /// The policy that may state its own counts.
    own: Option<Own>,
    /// Whether what it states replaces the worst of all metrics, or stands beside it.
    per_metric: bool,
    /// The unit that the firmware counts.
    ipc: IpcUnit,
    /// Profiling had timed out when the firmware was called.
    timed_out: bool,
    /// Reschedulings when configurations were last scored, and how many were by then.
    scored: (u32, u32),
    spent: DecisionTime,
}

impl DecisionTimer {
    /// A timer; none if decisions take no time.
    pub(super) fn new(gpu: &GpuConfig, options: Options, control: &Control) -> Option<Self> {
        let metric = match (options.latency, control) {
            (Latency::Off, _) => return None,
            (Latency::PerMetric, Control::Policy(policy)) => Metric::of(*policy),
            (Latency::Worst, _) | (Latency::PerMetric, Control::Fixed(_)) => None,
        };
        let own = if let Control::Policy(Policy::Own(own)) = control { Some(*own) } else { None };
        let per_metric = options.latency == Latency::PerMetric;
        let (microcontroller, core_khz) = (gpu.microcontroller, gpu.clocks.core_khz);
        let (ipc, spent) = (options.ipc, DecisionTime::default());
        Some(DecisionTimer { microcontroller, core_khz, metric, own, per_metric, ipc, timed_out: false, scored: (0, 0), spent })
    }

    /// The firmware is about to be called.
    pub(super) fn begin(&mut self, registers: &RegisterFile) {
        self.timed_out = registers.pending_events() & interrupt::TIMER != 0;
    }

    /// If the interrupt just served was a decision: when it takes effect. `configs` is how many configurations there are; none if
    /// the firmware's account of them is lost, which is then taken for the largest that was measured.
    pub(super) fn finish(&mut self, registers: &mut RegisterFile, configs: Option<u32>) {
        let Some(phase) = registers.undated_decision() else { return };
        let (table, core) = (LatencyTable::measured(), self.microcontroller.core);
        let (reschedulings, profiled) = (registers.reschedulings(), profiled(registers));
        let before = if self.scored.0 == reschedulings { self.scored.1 } else { 0 };
        let scored = before.saturating_add(profiled.len() as u32);
        self.scored = (reschedulings, scored);
        let another_round = phase == PhaseCode::Transition;
        let situation = Situation {
            late: self.timed_out || self.ipc == IpcUnit::Warp,
            sms: registers.machine().sm_count,
            kernels: (0..MAX_SLOTS).filter(|&slot| profiled.iter().any(|quotas| quotas[slot] != 0)).count() as u32,
            scored,
            generated: if another_round { configs.unwrap_or_else(|| table.most_generated(core)).max(1) } else { 0 },
        };
        let measured = table.instructions(core, situation, self.metric);
        let instructions = match self.own.and_then(|own| own.instructions(&situation)) {
            Some(stated) if self.per_metric => stated,
            Some(stated) => stated.max(measured),
            None => measured,
        };
        let cycles = self.microcontroller.core_cycles(self.core_khz, instructions);
        registers.finish_decision(registers.now().saturating_add(cycles));
        self.spent.decisions += 1;
        self.spent.instructions += instructions;
        self.spent.cycles += cycles;
    }

    /// The time of all decisions so far.
    pub(super) fn spent(&self) -> DecisionTime {
        self.spent
    }
}

/// The configurations that SMs hold, each once.
fn profiled(registers: &RegisterFile) -> Vec<[u32; MAX_SLOTS]> {
    let of = |sm| std::array::from_fn(|slot| registers.quota(sm, slot));
    let mut quotas: Vec<[u32; MAX_SLOTS]> = (0..registers.machine().sm_count as usize).map(of).collect();
    quotas.sort_unstable();
    quotas.dedup();
    quotas
}
