//! Given configuration on all SMs for kernels with several launches. The built-in
//! [`FixedConfig`](mias_firmware::policy::FixedConfig) uses the number of a launch since reset,
//! which does not identify a kernel's second launch. This policy identifies the kernel in a slot by
//! its stream. It runs in the same firmware.
//!
//! In a window with relaunches, the other kernels keep their quotas between two launches of a
//! kernel, since the kernel returns. Otherwise a remaining kernel fills the SMs, as under the
//! built-in policy, since another launch may never arrive.

use super::decider::Decider;
use super::gpu_runner::Decision;
use super::victims::VictimChoice;
use crate::cosim::recording::Recorder;
use mias_firmware::configs::{ConfigTable, TbVector};
use mias_firmware::counters::CounterSet;
use mias_firmware::driver::{DEFAULT_CONFIGS, StartError};
use mias_firmware::gpu::Settings;
use mias_firmware::policy::{Context, Plan, Policy};
use mias_hw_model::register_block::RegisterBlock;
use mias_policies::Firmware;
use mias_registers::KERNEL_SLOTS;
use std::sync::atomic::{AtomicU8, Ordering};

/// Requested configuration.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Stream and TBs per SM of each kernel.
    pub(super) of_stream: Vec<(u32, u8)>,
    /// Whether kernels are relaunched until the window ends.
    pub(super) endless: bool,
}

/// TBs per SM by slot, for resident kernels.
#[derive(Debug)]
struct BySlot {
    tbs: [AtomicU8; KERNEL_SLOTS],
    /// Number of kernels with TBs.
    present: usize,
    endless: bool,
}

impl BySlot {
    fn of(&self, slot: u8) -> u8 {
        self.tbs.get(usize::from(slot)).map_or(0, |tbs| tbs.load(Ordering::Relaxed))
    }
}

impl Clone for BySlot {
    fn clone(&self) -> Self {
        let tbs = std::array::from_fn(|slot| AtomicU8::new(self.of(slot as u8)));
        BySlot { tbs, ..*self }
    }
}

impl Policy for BySlot {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        let mut rest = context.gpu.limits.capacity;
        let mut vector = TbVector::default();
        for (index, kernel) in context.kernels.iter().enumerate() {
            let fits = u8::try_from(rest.max_tbs(&kernel.demand)).unwrap_or(u8::MAX);
            let tbs = self.of(kernel.slot).min(fits);
            vector.set(index, tbs);
            rest = rest.minus(&kernel.demand, tbs.into()).unwrap_or_default();
        }
        let left_alone = context.kernels.len() == 1 && self.present > 1;
        if !self.endless
            && (vector.present() == 0 || left_alone)
            && let Some(first) = context.kernels.first()
        {
            vector.set(0, first.max_tbs);
        }
        table.push(vector, 0);
        Plan::Place
    }
}

/// Firmware with that policy.
#[derive(Debug)]
pub(super) struct FixedInTurn {
    firmware: Firmware<BySlot, DEFAULT_CONFIGS>,
    of_stream: Vec<(u32, u8)>,
}

impl FixedInTurn {
    pub(super) fn start(wanted: Wanted, bus: &mut Recorder<'_, RegisterBlock>) -> Result<Self, StartError> {
        let Wanted { of_stream, endless } = wanted;
        let present = of_stream.iter().filter(|(_, tbs)| *tbs > 0).count();
        let policy = BySlot { tbs: std::array::from_fn(|_| AtomicU8::new(0)), present, endless };
        let Ok(settings) = Settings::read(bus);
        Ok(FixedInTurn { firmware: Firmware::start(bus, settings, |_| policy)?, of_stream })
    }
}

impl Decider for FixedInTurn {
    fn on_interrupt(&mut self, bus: &mut Recorder<'_, RegisterBlock>, seen: Option<&mut Vec<VictimChoice>>) {
        for (slot, tbs) in self.firmware.scheduler().policy().tbs.iter().enumerate() {
            let stream = bus.bus.kernel(slot).map(|kernel| kernel.stream);
            let given = self.of_stream.iter().find(|(of, _)| Some(*of) == stream);
            tbs.store(given.map_or(0, |(_, given)| *given), Ordering::Relaxed);
        }
        Decider::on_interrupt(&mut self.firmware, bus, seen);
    }

    fn total_configs(&self) -> u32 {
        self.firmware.total_configs()
    }

    fn counters(&self) -> CounterSet {
        self.firmware.counters()
    }

    fn decision(&self, registers: &RegisterBlock, streams: &[u32], noted: u32) -> Option<(u32, Decision)> {
        self.firmware.decision(registers, streams, noted)
    }

    fn copy(&self) -> Box<dyn Decider> {
        Box::new(FixedInTurn { firmware: self.firmware.clone(), of_stream: self.of_stream.clone() })
    }
}
