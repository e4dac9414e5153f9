//! MIAS-Duel: what MIAS-Roofline chooses for STP, and what SMK-P has without measuring, each tried on the whole GPU; the better stays (own; sources.md D192).
//!
//! A profile side by side tells which of many configurations are good, but not how good: each was measured in the company of all others. Two
//! candidates can be measured as they will run. On kernels of the thesis the better of these two loses a third of what each of them loses alone
//! (docs/policies.md#mias-duel).
//!
//! SMK-P's goes first, so that where the other wins, which it mostly does with three kernels, nothing has to change again. Where both are the same
//! nothing is tried.

use super::mias::{add_round, best, prepare_configs, score};
use super::mias_stp::{references_measured, with_references};
use super::{Context, Plan, Policy, Verdict, settle_for_spatial, smk};
use crate::configs::{ConfigTable, Origin, TRIAL, TbVector};
use crate::counters::CounterSet;
use crate::metric::roofline::Objective;
use crate::metric::{Metric, Progress, Score};

/// What profile and trials are judged by.
const METRIC: Progress = Progress { whole: Some(Objective::Stp) };
/// Configurations tried on the whole GPU.
const TRIALS: usize = 2;

/// The better of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MiasDuel;

impl Policy for MiasDuel {
    fn prepare<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> bool {
        prepare_configs(context, table)
    }

    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        with_references(context, table)
    }

    #[inline(never)]
    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        match table.trials() {
            0 => after_profile(context, table),
            1 => {
                // SMK-P's is the last; the one that the profile was for is noted.
                let (smk, chosen) = (table.entries().len().saturating_sub(1), table.leader().map(|entry| entry.vector).unwrap_or_default());
                try_on_all(table, smk, chosen)
            }
            // The two: the first is noted, and the other is the current round's only one. If no SM finished either, the last stays, which is in place.
            _ => match best(&METRIC, table, 0).or(table.current().first()) {
                Some(better) => Verdict::Broadcast(better.vector),
                None => Verdict::NoSamples,
            },
        }
    }

    fn counters(&self) -> CounterSet {
        METRIC.counters()
    }

    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        score(&METRIC, table, index)
    }
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
    let leader = table.entries().iter().position(|entry| entry.position == position).unwrap_or(0);
    match smk::quotas(context) {
        Some(other) if other != vector => try_on_all(table, leader, other),
        _ => Verdict::Broadcast(vector),
    }
}

/// A round in which all SMs have a vector, with what it is held against noted.
fn try_on_all<const C: usize>(table: &mut ConfigTable<C>, against: usize, vector: TbVector) -> Verdict {
    table.next_round();
    table.set_leader(against);
    if table.push(vector, TRIAL) { Verdict::NextRound } else { Verdict::Broadcast(vector) }
}
