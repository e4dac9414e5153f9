//! MIAS-Duel: the choice of MIAS-Roofline for STP and the one of SMK-P are each tried on the whole
//! GPU, and the better stays (own; sources.md D197).
//!
//! A profile on disjoint SMs finds good configurations, but not their exact performance, because
//! each was measured together with all others. Two candidates can be measured in their final state.
//! On pairs of the thesis' kernels, the better of these two loses a third of the loss of each alone
//! (docs/explanation/policies-mias.md).
//!
//! A trial has a warm-up window and a measured one. SMK-P's goes first. If the other wins, as it
//! mostly does with three kernels, no further change is needed. If both are the same, nothing is
//! tried. Only configurations with TBs of every kernel are candidates. Otherwise stalled kernels
//! could increase the sum of progress.

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

/// Metric of the profile and the trials.
const METRIC: Progress = Progress { whole: Some(Objective::Stp) };
/// Rounds of trials: two configurations, each with a warm-up window.
const TRIALS: usize = 4;

/// The better of two configurations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MiasDuel;

impl MiasDuel {
    /// Additional measurement of this policy.
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
            // SMK-P's trial is over; the choice of the profile is stored.
            let chosen = table.leader().map(|entry| entry.vector).unwrap_or_default();
            return try_on_all(table, last, chosen, WARM_UP);
        }
        // Both are over: SMK-P's is stored, and the other is the current round's. If no SM finished
        // either, the last one stays, which is in place.
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

/// Returns the settings, with the rule that configurations have TBs of every kernel.
fn all_present(context: &Context<'_>) -> Settings {
    Settings { require_all_present: true, ..*context.settings }
}

/// Chooses by the profile, as MIAS-Roofline for STP does, and continues with the trials.
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

/// Starts a round in which all SMs have a vector, and stores its reference.
fn try_on_all<const C: usize>(table: &mut ConfigTable<C>, against: usize, vector: TbVector, position: u32) -> Verdict {
    table.next_round();
    table.set_leader(against);
    if table.push(vector, position) { Verdict::NextRound } else { Verdict::Broadcast(vector) }
}
