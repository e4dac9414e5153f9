//! Time of decisions: the cycle in which each decision of a run takes effect.
//!
//! The situation is read from the register block, as a host's debugger could. So the firmware in
//! this process and an image in QEMU take the same time.

use super::custom_policy::Custom;
use super::gpu_runner::DecisionTime;
use super::gpu_runner::Options;
use super::policy::{Control, IpcUnit, Latency, Policy};
use crate::cosim::recording::Access;
use crate::decision_cost::{Batch, Charge, LatencyTable, Situation};
use mias_firmware::counters::CounterSet;
use mias_hw_model::config::{GpuConfig, MicrocontrollerConfig, SelectorConfig};
use mias_hw_model::register_block::RegisterBlock;
use mias_registers::counters::Counter;
use mias_registers::{KERNEL_SLOTS, PhaseCode, interrupt, sm};

/// Timer of the decisions of a run.
#[derive(Clone, Debug)]
pub(super) struct DecisionTimer {
    microcontroller: MicrocontrollerConfig,
    core_khz: u32,
    /// Hardware selector of preemption victims, if the GPU has one.
    selector: Option<SelectorConfig>,
    /// Source of the instruction counts.
    charge: Charge,
    /// Custom policy that may state its own counts.
    own: Option<Custom>,
    /// Whether the stated count replaces the slowest metric's instead of being compared with it.
    per_metric: bool,
    /// Unit of instructions that the firmware counts.
    ipc: IpcUnit,
    /// Whether profiling had timed out when the firmware was called.
    timed_out: bool,
    /// Cycle since which launches are collected, if they are.
    collecting: Option<u64>,
    /// Whether placements take time: the policy measures, and several kernels are scheduled
    /// together.
    places: bool,
    /// Configurations scored last.
    scored: Scored,
    spent: DecisionTime,
    /// Cycle in which the last decision ends.
    last_end: u64,
    /// Cycle in which the last placement ends.
    last_placed: u64,
}

/// Configurations scored since a rescheduling.
#[derive(Clone, Copy, Debug, Default)]
struct Scored {
    /// Number of reschedulings at that time.
    reschedulings: u32,
    /// Number of configurations over both rounds.
    configs: u32,
    /// Number of kernels in the configurations: a second round may omit one.
    kernels: u32,
}

impl DecisionTimer {
    /// Creates a timer for a run of `kernels` kernels; `None` if decisions take no time.
    pub(super) fn new(gpu: &GpuConfig, options: Options, control: &Control, kernels: usize) -> Option<Self> {
        if options.latency == Latency::Off {
            return None;
        }
        let charge = match control {
            Control::Policy(policy) => Charge::of(policy.in_firmware(), options.latency == Latency::Worst),
            // Not used: a fixed configuration makes no decision.
            Control::Fixed(_) => Charge::SlowestMetric,
        };
        let own = if let Control::Policy(Policy::Custom(own)) = control { Some(*own) } else { None };
        let per_metric = options.latency == Latency::PerMetric;
        let (microcontroller, core_khz) = (gpu.microcontroller, gpu.clocks.core_khz);
        // Must agree with the detection of equal runs: `canonical` in evaluate/record/same.rs.
        let places = match control {
            Control::Policy(Policy::Custom(_)) => true,
            Control::Policy(policy) => policy.measures() && kernels > 1,
            Control::Fixed(_) => false,
        };
        Some(DecisionTimer {
            microcontroller,
            core_khz,
            selector: gpu.sm.preemption.and_then(|preemption| preemption.selector),
            charge,
            own,
            per_metric,
            ipc: options.ipc,
            timed_out: false,
            collecting: None,
            places,
            scored: Scored::default(),
            spent: DecisionTime::default(),
            last_end: 0,
            last_placed: 0,
        })
    }

    /// Returns whether the number of accesses to the register block matters.
    pub(super) fn counts_accesses(&self) -> bool {
        self.microcontroller.wait_states != 0
    }

    /// Prepares for a call of the firmware.
    pub(super) fn begin(&mut self, registers: &RegisterBlock) {
        self.timed_out = registers.pending_events() & interrupt::TIMER != 0;
    }

    /// Sets the cycle of effect if the interrupt just served was a decision. `configs` is the
    /// number of configurations; if the firmware's report of it is lost, the largest number
    /// measured is used. `accesses` counts accesses to the register block ([`accesses`]) and
    /// matters only with wait states.
    pub(super) fn finish(&mut self, registers: &mut RegisterBlock, configs: Option<u32>, accesses: u64) {
        if registers.undated_memory_limits() || registers.undated_oversubscription() {
            self.finish_looks(registers, accesses);
            return;
        }
        if registers.undated_preemption() {
            self.finish_preemption(registers, accesses);
            return;
        }
        if registers.undated_placement() {
            self.finish_placement(registers, configs, accesses);
            return;
        }
        self.collecting = match self.collecting {
            _ if registers.phase() != Some(PhaseCode::Partition) => None,
            None => Some(registers.now()),
            since => since,
        };
        let Some(phase) = registers.undated_decision() else { return };
        let (table, core) = (LatencyTable::measured(), self.microcontroller.core);
        let (reschedulings, profiled) = (registers.reschedulings(), profiled(registers));
        let before = if self.scored.reschedulings == reschedulings { self.scored } else { Scored::default() };
        let kernels = (0..KERNEL_SLOTS).filter(|&slot| profiled.iter().any(|quotas| quotas[slot] != 0)).count() as u32;
        let (configs_scored, kernels) = (before.configs.saturating_add(profiled.len() as u32), kernels.max(before.kernels));
        self.scored = Scored { reschedulings, configs: configs_scored, kernels };
        let another_round = phase == PhaseCode::Transition;
        let situation = Situation {
            late: self.timed_out || self.ipc == IpcUnit::Warp,
            sms: registers.gpu().sm_count,
            kernels,
            scored: configs_scored,
            generated: if another_round { configs.unwrap_or_else(|| table.most_generated(core, self.charge)).max(1) } else { 0 },
        };
        let measured = table.instructions(core, situation, self.charge);
        let instructions = match self.own.and_then(|own| own.instructions(&situation)) {
            Some(stated) if self.per_metric => stated,
            Some(stated) => stated.max(measured),
            None => measured,
        };
        let cycles = self.microcontroller.core_cycles(self.core_khz, instructions, accesses);
        self.last_end = registers.now().saturating_add(cycles);
        registers.finish_decision(self.last_end);
        self.spent.decisions += 1;
        self.spent.instructions += instructions;
        self.spent.cycles += cycles;
    }

    /// Delays the quotas if the interrupt just served placed a batch. Reports count placements
    /// apart from decisions.
    fn finish_placement(&mut self, registers: &mut RegisterBlock, configs: Option<u32>, accesses: u64) {
        let MicrocontrollerConfig { core, clock_khz, cpi_permille, .. } = self.microcontroller;
        let now = registers.now();
        if !self.places {
            registers.finish_decision(now);
            return;
        }
        let collected = now - self.collecting.take().unwrap_or(now).min(now);
        let executed =
            1_000 * u128::from(collected) * u128::from(clock_khz) / (u128::from(cpi_permille) * u128::from(self.core_khz)).max(1);
        let kernels = (0..KERNEL_SLOTS).filter(|&slot| registers.kernel(slot).is_some()).count() as u32;
        let batch = Batch {
            sms: registers.gpu().sm_count,
            kernels,
            configs: configs.unwrap_or(0),
            time_ahead: u64::try_from(executed).unwrap_or(u64::MAX),
        };
        let instructions = match self.charge {
            // A trial has no configurations to generate, only its own first step.
            Charge::Trial => LatencyTable::measured().first_trial(core, batch),
            _ => LatencyTable::measured().placement(core, batch),
        };
        let cycles = self.microcontroller.core_cycles(self.core_khz, instructions, accesses);
        self.last_placed = now.saturating_add(cycles);
        self.spent.placement_instructions += instructions;
        self.spent.placement_cycles += cycles;
        registers.finish_decision(self.last_placed);
    }

    /// Delays the effect if the interrupt just served read the counters of memory issue, of chip
    /// utilization, or of both in turn. Both take their own time. The accesses count with the
    /// first.
    fn finish_looks(&mut self, registers: &mut RegisterBlock, mut accesses: u64) {
        let (table, core) = (LatencyTable::measured(), self.microcontroller.core);
        let mut end = registers.now();
        if registers.undated_memory_limits() {
            let (sms, kernels) = registers.latched_kernels();
            let instructions = table.memory_limits(core, sms, kernels);
            let cycles = self.microcontroller.core_cycles(self.core_khz, instructions, std::mem::take(&mut accesses));
            self.spent.memory_limits += 1;
            self.spent.memory_limit_instructions += instructions;
            self.spent.memory_limit_cycles += cycles;
            end = end.saturating_add(cycles);
        }
        if registers.undated_oversubscription() {
            let instructions = table.context_control(core, registers.due_oversubscription());
            let cycles = self.microcontroller.core_cycles(self.core_khz, instructions, accesses);
            self.spent.context_looks += 1;
            self.spent.context_instructions += instructions;
            self.spent.context_cycles += cycles;
            end = end.saturating_add(cycles);
        }
        registers.finish_decision(end);
    }

    /// Delays the commands if the interrupt just served chose victims, by the firmware's time or
    /// the selector's.
    fn finish_preemption(&mut self, registers: &mut RegisterBlock, accesses: u64) {
        let (instructions, cycles) = match self.selector {
            Some(selector) => (0, selector.cycles(registers.preempt_work_by_sm())),
            None => {
                let (sms, tbs) = registers.preempt_work();
                let scheme = registers.gpu().straps.preempt;
                let instructions = LatencyTable::measured().preemption(self.microcontroller.core, scheme, sms, tbs);
                (instructions, self.microcontroller.core_cycles(self.core_khz, instructions, accesses))
            }
        };
        self.spent.preemptions += 1;
        self.spent.preemption_instructions += instructions;
        self.spent.preemption_cycles += cycles;
        registers.finish_decision(registers.now().saturating_add(cycles));
    }

    /// Returns the time of all decisions of a run that ends at cycle `now`.
    pub(super) fn spent(&self, now: u64) -> DecisionTime {
        let placement_cycles = self.spent.placement_cycles.saturating_sub(self.last_placed.saturating_sub(now));
        DecisionTime { beyond_end_cycles: self.last_end.saturating_sub(now), placement_cycles, ..self.spent }
    }
}

/// Returns the number of accesses of an interrupt that are the firmware's own work. In a simulation
/// it also reads counters for reports that the policy did not request. `asked` is the set
/// requested, if known.
pub(super) fn accesses(made: &[Access], asked: Option<CounterSet>) -> u64 {
    const REPORTED: [Counter; 5] =
        [Counter::Cycles, Counter::IssueCycles, Counter::MemoryStallCycles, Counter::LoadRequests, Counter::OutstandingMisses];
    let for_reports = |access: &&Access| {
        let (Access::Read { offset, .. }, Some(asked)) = (**access, asked) else { return false };
        let register = offset.checked_sub(sm::BASE).map(|rest| rest % sm::STRIDE);
        let unasked = REPORTED.iter().filter(|counter| !asked.contains(**counter));
        register == Some(sm::SATURATED) || unasked.map(|counter| counter.register()).any(|unasked| register == Some(unasked))
    };
    (made.len() - made.iter().filter(for_reports).count()) as u64
}

/// Returns the configurations on the SMs, each once.
fn profiled(registers: &RegisterBlock) -> Vec<[u32; KERNEL_SLOTS]> {
    let of = |sm| std::array::from_fn(|slot| registers.quota(sm, slot));
    let mut quotas: Vec<[u32; KERNEL_SLOTS]> = (0..registers.gpu().sm_count as usize).map(of).collect();
    quotas.sort_unstable();
    quotas.dedup();
    quotas
}
