//! MIAS: try every maximal multi-kernel configuration on disjoint SMs, and keep the best by a
//! metric (Nasef 2023, section 3.2).
//!
//! If there are more configurations than SMs, they are tried in consecutive rounds. If two rounds
//! or the table do not suffice, the first round tries a sample at a fixed stride. The second round
//! then tries the neighbors of its best (sources.md D21). Configurations are generated once, and
//! ahead of their use if time permits ([`Policy::prepare`]). They are never cut off by order.

use core::cmp::Ordering;
use core::ops::Range;

use super::{Context, Plan, Policy, Verdict, fall_back, space};
use crate::configs::{ConfigTable, Entry, Rules, Stride, TbVector};
use crate::counters::CounterSet;
use crate::metric::{Metric, Score};

/// Maximum number of profiling rounds.
const MAX_ROUNDS: u8 = 2;

/// MIAS with metric `M`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mias<M> {
    /// Metric of the decision.
    pub metric: M,
}

/// Returns the rules for candidate configurations.
fn rules(context: &Context<'_>) -> Rules {
    Rules { require_all_present: context.settings.require_all_present }
}

/// Adds the configurations at positions `first` to `last` to the table. It skips those that earlier
/// rounds have `tried`, and takes those of the rest that the stride picks.
#[inline(never)]
fn add<const C: usize>(
    context: &Context<'_>,
    table: &mut ConfigTable<C>,
    (first, last): (u32, u32),
    mut tried: Range<usize>,
    mut stride: Stride,
) {
    let capacity = &context.gpu.limits.capacity;
    let mut tail = table.pool().tail();
    let mut position = first;
    // The last position is below the number of configurations, so one beyond it does not overflow.
    while position <= last {
        // Up to the next tried configuration, or to the end.
        let next_tried = tried.next().and_then(|index| Some(table.entries().get(index)?.position));
        let end = next_tried.unwrap_or(last.wrapping_add(1));
        while position < end {
            if stride.pick() {
                let Some(vector) = table.pool().at(position, capacity, &mut tail) else { return };
                if !table.push(vector, position) {
                    return;
                }
            }
            position = position.wrapping_add(1);
        }
        position = position.wrapping_add(1);
    }
}

/// Returns the order unchanged, except in the image for a test that only the image decides.
#[inline(always)]
const fn order(order: Ordering) -> Ordering {
    if cfg!(mias_invert_comparison) { order.reverse() } else { order }
}

/// Returns the number of configurations that the first round tries.
fn first_round(total: u32, sms: u32, room: u32) -> u32 {
    if total <= sms.min(room) {
        total
    } else if total <= sms.saturating_mul(2).min(room) {
        total.div_ceil(2)
    } else {
        sms.min(room / 2).max(1)
    }
}

/// Position of a configuration that is profiled only for comparison.
const REFERENCE: u32 = u32::MAX;

/// Search steps per part. Assumption: enough that the preceding check of the kernels is a small
/// share.
const STEPS: u32 = 4;

/// Finds some of the configurations that [`first_configs`] will need; returns false if none is
/// left.
#[inline(never)]
pub fn prepare_configs<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> bool {
    space::gather(table.pool_mut(), context, rules(context));
    (0..STEPS).all(|_| table.pool_mut().step(&context.gpu.limits.capacity))
}

/// Fills the table with the first round, or with a fallback.
///
/// It is the same for all metrics, with one copy in the image. The single-kernel configurations of
/// the first `references` kernels come first, on SMs of their own.
#[inline(never)]
pub fn first_configs<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>, references: u8) -> Plan {
    space::gather(table.pool_mut(), context, rules(context));
    let capacity = &context.gpu.limits.capacity;
    let total = table.pool_mut().fill(capacity);
    table.set_total(total);
    let spare = u32::from(context.gpu.sm_count).saturating_sub(references.into());
    if total == 0 || spare == 0 {
        return fall_back(context, table);
    }
    for (index, kernel) in context.kernels.iter().enumerate().take(references.into()) {
        table.push(TbVector::single(index, context.cap(kernel)), REFERENCE);
    }
    let room = u32::try_from(C.saturating_sub(table.entries().len())).unwrap_or(u32::MAX);
    let want = first_round(total, spare, room);
    add(context, table, (0, total.saturating_sub(1)), 0..0, Stride::new(want, total));
    if total == 1 && references == 0 { Plan::Place } else { Plan::Profile }
}

/// Returns the index of the first configuration at or after `position` in the first round, which is
/// ordered by position after the references.
#[inline(never)]
fn place<const C: usize>(table: &ConfigTable<C>, references: usize, position: u32) -> usize {
    let tried = table.entries().get(references..).unwrap_or_default();
    references.wrapping_add(tried.partition_point(|entry| entry.position < position))
}

/// Adds the second round; returns false if no configuration is left.
///
/// It adds all remaining configurations if they fit with `spare` more entries, and otherwise the
/// neighbors of the best one of the first round.
#[inline(never)]
pub fn add_round<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>, best: u32, references: u8, spare: usize) -> bool {
    let tried = table.entries().len();
    // Below 2^32, and no fewer than the references.
    let left = table.total().saturating_sub((tried as u32).wrapping_sub(references.into()));
    if left == 0 || table.round().saturating_add(1) >= MAX_ROUNDS {
        return false;
    }
    let room = u32::try_from(C.saturating_sub(tried).saturating_sub(spare)).unwrap_or(u32::MAX).min(context.gpu.sm_count.into());
    // As many neighbors on each side as fit, and all of them if everything left fits. If the table
    // is full, only the best itself is in range, and no untried neighbor is left.
    let reach = if left <= room { u32::MAX } else { room };
    let (first, last) = (best.saturating_sub(reach), best.saturating_add(reach).min(table.total().saturating_sub(1)));
    let references = usize::from(references);
    let (from, leader, past) =
        (place(table, references, first), place(table, references, best), place(table, references, last.wrapping_add(1)));
    let near = last.saturating_sub(first).saturating_add(1).saturating_sub(past.saturating_sub(from) as u32);
    if near == 0 {
        return false;
    }
    table.next_round();
    table.set_leader(leader);
    add(context, table, (first, last), from..past, Stride::new(room, near));
    true
}

/// Returns the best measured configuration by a metric, without the first `references`.
///
/// It is the highest score, then the lexicographically lowest vector. A second round does not
/// revisit those that the best of the first round has beaten. Champion and challenger alternate
/// between two places, so no score is copied. The function is out of line, so that the scores are
/// off the stack when a second round is looked up.
#[inline(never)]
pub fn best<'a, M: Metric, const C: usize>(metric: &M, table: &'a ConfigTable<C>, references: u8) -> Option<&'a Entry> {
    let mut places = [Score::LEAST; 2];
    let [one, other] = &mut places;
    let (mut champion, mut challenger) = (one, other);
    let mut best: Option<&Entry> = None;
    // One loop for both parts, so that there is one inlined copy of the score.
    let (mut part, mut rest) = table.contenders(references);
    loop {
        for entry in part.iter().filter(|entry| entry.sums.sms != 0) {
            *challenger = metric.score_entry(entry, table.totals(entry.round));
            let better = best.is_none_or(|best| match order(M::compare(challenger, champion)) {
                Ordering::Greater => true,
                Ordering::Equal => entry.vector < best.vector,
                Ordering::Less => false,
            });
            if better {
                best = Some(entry);
                core::mem::swap(&mut champion, &mut challenger);
            }
        }
        if rest.is_empty() {
            return best;
        }
        (part, rest) = (rest, &[]);
    }
}

/// Returns the score of a configuration in the table; none if it was not measured, or serves only
/// for comparison.
pub fn score<M: Metric, const C: usize>(metric: &M, table: &ConfigTable<C>, index: usize) -> Option<Score> {
    let entry = table.tried().get(index).filter(|entry| entry.sums.sms != 0 && entry.position != REFERENCE)?;
    Some(metric.score_entry(entry, table.totals(entry.round)))
}

impl<M: Metric> Policy for Mias<M> {
    fn prepare<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> bool {
        prepare_configs(context, table)
    }

    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        first_configs(context, table, 0)
    }

    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        let Some(best) = best(&self.metric, table, 0) else { return Verdict::NoSamples };
        let (vector, position) = (best.vector, best.position);
        if add_round(context, table, position, 0, 0) { Verdict::NextRound } else { Verdict::Broadcast(vector) }
    }

    fn counters(&self) -> CounterSet {
        self.metric.counters()
    }

    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        score(&self.metric, table, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{GpuProperties, Settings};
    use crate::kernel::Kernel;
    use crate::resources::{Resources, SmLimits};
    use std::vec::Vec;

    #[test]
    fn a_first_round_tries_all_a_half_or_a_sample() {
        for (total, sms, room, expected) in [
            (30, 30, 64, 30),
            (31, 30, 64, 16),
            (60, 30, 64, 30),
            (61, 30, 64, 30),
            (61, 32, 64, 31),
            (65, 32, 64, 32),
            (200, 132, 264, 100),
            (5, 1, 64, 1),
            (9, 8, 1, 1),
        ] {
            assert_eq!(first_round(total, sms, room), expected, "{total} configurations, {sms} SMs, space for {room}");
        }
    }

    /// Returns the positions of both rounds on SMs that hold `tbs` TBs of two kernels, so that
    /// there are `tbs - 1` configurations.
    fn rounds(sms: u16, tbs: u8, best: u32) -> [Vec<u32>; 2] {
        let capacity = Resources { tbs: tbs.into(), ..Resources::NONE };
        let gpu = GpuProperties { sm_count: sms, limits: SmLimits { capacity, ..SmLimits::NONE }, ..GpuProperties::NONE };
        let demand = Resources { tbs: 1, ..Resources::NONE };
        let kernel = Kernel { demand, max_tbs: tbs, grid_tbs: 1_000_000, unfinished_tbs: 1_000_000, ..Kernel::default() };
        let (settings, kernels) = (Settings::default(), [kernel; 2]);
        let context = Context { gpu: &gpu, settings: &settings, kernels: &kernels };
        let mut table = ConfigTable::<64>::default();
        table.reset(0..2);
        assert_eq!(first_configs(&context, &mut table, 0), Plan::Profile);
        let first: Vec<u32> = table.entries().iter().map(|entry| entry.position).collect();
        assert!(add_round(&context, &mut table, best, 0, 0));
        assert!(!add_round(&context, &mut table, best, 0, 0), "there are two rounds");
        let second = table.entries()[first.len()..].iter().map(|entry| entry.position).collect();
        [first, second]
    }

    /// The second round reaches as many positions as there are SMs to both sides of the best, and
    /// tries untried ones at a fixed stride.
    #[test]
    fn a_second_round_tries_the_neighbors_of_the_best() {
        let first = [0, 10, 20, 30];
        for (best, second) in [(20, [16, 18, 21, 23]), (0, [1, 2, 3, 4]), (30, [26, 28, 31, 33])] {
            assert_eq!(rounds(4, 41, best), [first.to_vec(), second.to_vec()]);
        }
        // Everything left fits.
        assert_eq!(rounds(4, 8, 6), [[0, 2, 4, 6].to_vec(), [1, 3, 5].to_vec()]);
    }
}
