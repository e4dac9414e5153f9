//! MIAS-STP: MIAS that decides by normalized progress (sources.md D43).
//!
//! In addition to the configurations of MIAS, the first round profiles every kernel alone, with as
//! many TBs as fit, on SMs of its own. A configuration's score is the sum over kernels of their
//! instructions over their isolated ones. This STP is invisible to a decision by IPC. MIAS-Roofline
//! is the same with another score ([`crate::metric::roofline`]).

use crate::extra::read_extra;
use crate::metric::Progress;
use mias_firmware::configs::{ConfigTable, Origin};
use mias_firmware::counters::{CounterSet, Reading};
use mias_firmware::gpu::GpuProperties;
use mias_firmware::metric::{Metric, Score};
use mias_firmware::policy::mias::{add_round, best, first_configs, prepare_configs, score};
use mias_firmware::policy::{Context, Plan, Policy, Verdict, settle_for_spatial, spatial};
use mias_registers::bus::TryBus;

/// MIAS by STP, or by the prediction for the whole GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MiasStp {
    /// Metric of the decision.
    pub metric: Progress,
}

impl Policy for MiasStp {
    fn prepare<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> bool {
        prepare_configs(context, table)
    }

    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        with_references(context, table)
    }

    #[inline(never)]
    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        let references = context.kernels.len() as u8;
        let Some(best) = best(&self.metric, table, references) else {
            return settle_for_spatial(context, table, Origin::SpatialFallback);
        };
        let (vector, position) = (best.vector, best.position);
        if !references_measured(context, table) {
            return settle_for_spatial(context, table, Origin::SpatialFallback);
        }
        if add_round(context, table, position, references, 0) { Verdict::NextRound } else { Verdict::Broadcast(vector) }
    }

    fn counters(&self) -> CounterSet {
        self.metric.counters()
    }

    fn read_more<B: TryBus, const C: usize>(
        &self,
        table: &mut ConfigTable<C>,
        bus: &mut B,
        reading: &Reading<'_>,
        gpu: &GpuProperties,
    ) -> Result<(), B::Error> {
        read_extra(table, bus, reading, self.metric.extra(), gpu.dram_sectors)
    }

    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        score(&self.metric, table, index)
    }
}

/// Plans the first round of MIAS with every kernel alone. One kernel alone leaves nothing to
/// compare.
#[inline(always)]
pub(super) fn with_references<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
    match context.kernels.len() {
        0 | 1 => {
            spatial::fill(context, table);
            Plan::Place
        }
        kernels => first_configs(context, table, kernels as u8),
    }
}

/// Returns whether every kernel was measured alone.
pub(super) fn references_measured<const C: usize>(context: &Context<'_>, table: &ConfigTable<C>) -> bool {
    table.entries().iter().take(context.kernels.len()).all(|entry| entry.sums.sms != 0)
}
