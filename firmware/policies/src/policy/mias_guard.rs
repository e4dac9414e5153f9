//! MIAS with guard: MIAS by IPM*IPC, the thesis' choice, unless sharing SMs is predicted to lose
//! (sources.md D44).
//!
//! Every kernel is also profiled alone, as for MIAS-STP. If the kernels make no more progress
//! together under the chosen configuration than one after the other, they get SMs of their own. The
//! policy is then Spatial, or Left-over if there are fewer SMs than kernels.

use super::mias_stp::{references_measured, with_references};
use crate::extra::{Extra, read_extra};
use crate::metric::gains;
use mias_firmware::configs::{ConfigTable, Origin};
use mias_firmware::counters::{CounterSet, Reading};
use mias_firmware::gpu::GpuProperties;
use mias_firmware::metric::{IpmIpc, Metric, Score};
use mias_firmware::policy::mias::{add_round, best, prepare_configs, score};
use mias_firmware::policy::{Context, Plan, Policy, Verdict, settle_for_spatial};
use mias_registers::bus::TryBus;

/// MIAS by IPM*IPC, with guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MiasGuard;

impl MiasGuard {
    /// Additional measurement of this policy.
    pub const EXTRA: Extra = Extra::Progress;
}

impl Policy for MiasGuard {
    fn prepare<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> bool {
        prepare_configs(context, table)
    }

    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        with_references(context, table)
    }

    #[inline(never)]
    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        let references = context.kernels.len() as u8;
        let Some(best) = best(&IpmIpc, table, references) else {
            return settle_for_spatial(context, table, Origin::SpatialFallback);
        };
        let (vector, position, loses) = (best.vector, best.position, !gains(best));
        if add_round(context, table, position, references, 0) {
            Verdict::NextRound
        } else if loses && references_measured(context, table) {
            settle_for_spatial(context, table, Origin::SpatialFallback)
        } else {
            Verdict::Broadcast(vector)
        }
    }

    fn counters(&self) -> CounterSet {
        IpmIpc.counters()
    }

    fn read_more<B: TryBus, const C: usize>(
        &self,
        table: &mut ConfigTable<C>,
        bus: &mut B,
        reading: &Reading<'_>,
        gpu: &GpuProperties,
    ) -> Result<(), B::Error> {
        read_extra(table, bus, reading, Self::EXTRA, gpu.dram_sectors)
    }

    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        score(&IpmIpc, table, index)
    }
}
