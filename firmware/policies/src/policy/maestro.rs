//! Direct measurement, after Maestro: run each of two partitions on the whole GPU for a window,
//! and keep the better (Zhao et al. 2018, sections 6 and 7.5; sources.md D53).
//!
//! The two are Spatial and SMK-P. Maestro's own search is not published in the texts available to
//! us, so there is no search beyond the two. Under Spatial each SM runs one kernel alone, so
//! Spatial's progress is 1 by definition. SMK-P is kept if the sum of its kernels' progress is
//! larger.

use super::mias_stp::references_measured;
use super::smk;
use crate::extra::{Extra, read_extra};
use crate::metric::{Progress, gains};
use mias_firmware::configs::{ConfigTable, Origin};
use mias_firmware::counters::{CounterSet, Reading};
use mias_firmware::gpu::GpuProperties;
use mias_firmware::metric::{Metric, Score};
use mias_firmware::policy::mias::score;
use mias_firmware::policy::{Context, Plan, Policy, Verdict, profile_alone, settle_for_spatial};
use mias_registers::bus::TryBus;

/// The better of Spatial and SMK-P, by measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maestro;

impl Maestro {
    /// Additional measurement of this policy.
    pub const EXTRA: Extra = Extra::Progress;
}

impl Policy for Maestro {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        profile_alone(context, table)
    }

    #[inline(never)]
    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        if table.round() == 0 {
            if references_measured(context, table)
                && let Some(vector) = smk::quotas(context)
            {
                table.next_round();
                table.push(vector, table.total());
                return Verdict::NextRound;
            }
        } else if let Some(shared) = table.entries().last().filter(|entry| gains(entry)) {
            return Verdict::Broadcast(shared.vector);
        }
        settle_for_spatial(context, table, Origin::Policy)
    }

    fn counters(&self) -> CounterSet {
        Progress::default().counters()
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
        score(&Progress::default(), table, index)
    }
}
