//! Direct measurement, after Maestro: run each of two partitions on the whole machine for a window, and keep the better (Zhao et al.
//! 2018, sections 6 and 7.5; sources.md D53).
//!
//! The two are Spatial and SMK-P. Maestro's own search is not published in what we could read; here there is none beyond the two.
//! A kernel alone is an SM of its own under Spatial, so that Spatial's progress is 1 by definition, and SMK-P is kept if its
//! kernels' progress adds up to more.

use super::mias::score;
use super::mias_stp::references_measured;
use super::{Context, Plan, Policy, Verdict, profile_alone, settle_for_spatial, smk};
use crate::configs::{ConfigTable, Origin};
use crate::counters::CounterSet;
use crate::metric::{Metric, Progress, Score, gains};

/// The better of Spatial and SMK-P, as measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maestro;

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

    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        score(&Progress::default(), table, index)
    }
}
