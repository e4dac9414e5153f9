//! MIAS-Duel: what MIAS-Roofline chooses for STP, and what SMK-P has without measuring, each tried on the whole GPU; the better stays (own; sources.md D197).
//!
//! A profile side by side tells which of many configurations are good, but not how good: each was measured in the company of all others. Two
//! candidates can be measured as they will run. Of pairs of the thesis' kernels the better of these two loses a third of what each of them loses alone
//! (docs/policies.md#mias-duel).
//!
//! A trial has a window to warm up, then one that counts. SMK-P's goes first, so that where the other wins, which it mostly does with three kernels, nothing
//! has to change again. Where both are the same nothing is tried. Only configurations with TBs of every kernel are candidates: without, the sum of progress is
//! made large by kernels that stand still.

use super::mias_stp::{references_measured, with_references};
use super::smk;
use crate::extra::{Extra, read_extra};
use crate::metric::Progress;
use crate::metric::roofline::Objective;
use mias_firmware::configs::{ConfigTable, Origin, TRIAL, TbVector, WARM_UP};
use mias_firmware::counters::{CounterSet, Reading};
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::metric::{Metric, Score};
use mias_firmware::policy::mias::{add_round, best, prepare_configs, score};
use mias_firmware::policy::{Context, Plan, Policy, Verdict, settle_for_spatial};
use mias_registers::bus::TryBus;

/// What profile and trials are judged by.
const METRIC: Progress = Progress { whole: Some(Objective::Stp) };
/// Rounds of trials: two configurations, and for each a window to warm up.
const TRIALS: usize = 4;

/// The better of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MiasDuel;

impl MiasDuel {
    /// What it has measured beside the sums of counters.
    pub const EXTRA: Extra = METRIC.extra();
}

impl Policy for MiasDuel {
    fn prepare<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> bool {
        prepare_configs(&Context { settings: &all_present(context), ..*context }, table)
    }

    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        with_references(&Context { settings: &all_present(context), ..*context }, table)
    }

    #[inline(never)]
    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        let Some((position, vector)) = table.tried_on_all().map(|entry| (entry.position, entry.vector)) else {
            return after_profile(context, table);
        };
        let last = table.entries().len().saturating_sub(1);
        if position == WARM_UP {
            let against = table.leader_index();
            return try_on_all(table, against, vector, TRIAL);
        }
        if table.trials() == 1 {
            // SMK-P's is over; what the profile chose is noted.
            let chosen = table.leader().map(|entry| entry.vector).unwrap_or_default();
            return try_on_all(table, last, chosen, WARM_UP);
        }
        // Both are over: SMK-P's is noted, the other is the current round's. If no SM finished either, the last stays, which is in place.
        Verdict::Broadcast(best(&METRIC, table, 0).map_or(vector, |better| better.vector))
    }

    fn counters(&self) -> CounterSet {
        METRIC.counters()
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
        table.tried().get(index).filter(|entry| entry.position != WARM_UP)?;
        score(&METRIC, table, index)
    }
}

/// As asked for, but that configurations have TBs of every kernel.
fn all_present(context: &Context<'_>) -> Settings {
    Settings { require_all_present: true, ..*context.settings }
}

/// Chooses by the profile, as MIAS-Roofline for STP does, and goes on to the trials.
fn after_profile<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
    let references = context.kernels.len() as u8;
    let Some(best) = best(&METRIC, table, references) else {
        return settle_for_spatial(context, table, Origin::SpatialFallback);
    };
    let (vector, position) = (best.vector, best.position);
    if !references_measured(context, table) {
        return settle_for_spatial(context, table, Origin::SpatialFallback);
    }
    if add_round(context, table, position, references, TRIALS) {
        return Verdict::NextRound;
    }
    let chosen = table.entries().iter().position(|entry| entry.position == position).unwrap_or(0);
    match smk::quotas(context) {
        Some(other) if other != vector => try_on_all(table, chosen, other, WARM_UP),
        _ => Verdict::Broadcast(vector),
    }
}

/// A round in which all SMs have a vector, with what it is held against noted.
fn try_on_all<const C: usize>(table: &mut ConfigTable<C>, against: usize, vector: TbVector, position: u32) -> Verdict {
    table.next_round();
    table.set_leader(against);
    if table.push(vector, position) { Verdict::NextRound } else { Verdict::Broadcast(vector) }
}
