//! MIAS: try every maximal multi-kernel configuration side by side, keep the best by a metric (Nasef 2023, section 3.2).
//!
//! More configurations than SMs are tried in consecutive rounds. Where two rounds do not suffice, or the table has no room
//! for all, the first round tries a sub-sample at a fixed stride and the second those around its best (sources.md
//! D21). Configurations stream from the generator and are never cut off by order.

use core::cmp::Ordering;

use super::space::Space;
use super::{Context, Plan, Policy, Verdict, fall_back};
use crate::configs::{ConfigTable, Entry, Rules, Stride, TbVector};
use crate::counters::CounterSet;
use crate::metric::{Metric, Score};

/// Rounds of profiling at most.
const MAX_ROUNDS: u8 = 2;

/// MIAS deciding by metric `M`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mias<M> {
    /// The metric.
    pub metric: M,
}

/// Which configurations are candidates.
fn rules(context: &Context<'_>) -> Rules {
    Rules { require_all_present: context.settings.require_all_present }
}

/// A round's part of the admitted configurations: all of them, or those within a range of positions that have not been tried.
struct Part {
    first: u32,
    last: u32,
    untried: bool,
}

impl Part {
    const ALL: Self = Self { first: 0, last: u32::MAX, untried: false };

    fn holds<const C: usize>(&self, table: &ConfigTable<C>, position: u32) -> bool {
        (self.first..=self.last).contains(&position) && !(self.untried && table.contains(position))
    }
}

/// How many configurations there are in a part. Out of line, as [`add`]: each has its iterator on the stack only while it runs.
#[inline(never)]
fn count<const C: usize>(space: &Space, context: &Context<'_>, table: &ConfigTable<C>, part: &Part) -> u32 {
    let mut count = 0_u32;
    for (position, _) in space.configs(context, rules(context)) {
        count = count.saturating_add(u32::from(part.holds(table, position)));
    }
    count
}

/// Adds those of a part that the stride picks to the table.
#[inline(never)]
fn add<const C: usize>(space: &Space, context: &Context<'_>, table: &mut ConfigTable<C>, part: &Part, mut stride: Stride) {
    for (position, vector) in space.configs(context, rules(context)) {
        if part.holds(table, position) && stride.pick() && !table.push(vector, position) {
            return;
        }
    }
}

/// As it is, but for the feature that turns it round.
#[inline(always)]
const fn order(order: Ordering) -> Ordering {
    if cfg!(feature = "invert-comparison") { order.reverse() } else { order }
}

/// Configurations that the first round tries.
fn first_round(total: u32, sms: u32, room: u32) -> u32 {
    if total <= sms.min(room) {
        total
    } else if total <= sms.saturating_mul(2).min(room) {
        total.div_ceil(2)
    } else {
        sms.min(room / 2).max(1)
    }
}

/// Position of a configuration that is profiled for comparison only.
const REFERENCE: u32 = u32::MAX;

/// Fills the table with the first round, or with a fall-back. The same for all metrics, and one copy of it in the image. The
/// configurations of the first `references` kernels alone come first, on SMs of their own.
#[inline(never)]
pub(super) fn first_configs<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>, references: u8) -> Plan {
    let mut space = Space::new();
    space.gather(context);
    let total = count(&space, context, table, &Part::ALL);
    table.set_total(total);
    let spare = u32::from(context.machine.sm_count).saturating_sub(references.into());
    if total == 0 || spare == 0 {
        return fall_back(context, table);
    }
    for (index, kernel) in context.kernels.iter().enumerate().take(references.into()) {
        table.push(TbVector::single(index, context.cap(kernel)), REFERENCE);
    }
    let room = u32::try_from(C.saturating_sub(table.entries().len())).unwrap_or(u32::MAX);
    let want = first_round(total, spare, room);
    add(&space, context, table, &Part::ALL, Stride::new(want, total));
    if total == 1 && references == 0 { Plan::Place } else { Plan::Profile }
}

/// Adds the second round: all that are left if they fit, else those around the best of the first. False if none is left.
#[inline(never)]
pub(super) fn add_round<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>, best: u32, references: u8) -> bool {
    let tried = table.entries().len();
    let sms = u32::from(context.machine.sm_count);
    let room = u32::try_from(C.saturating_sub(tried)).unwrap_or(u32::MAX).min(sms);
    let tried = u32::try_from(tried).unwrap_or(u32::MAX).saturating_sub(references.into());
    let left = table.total().saturating_sub(tried);
    if table.round().saturating_add(1) >= MAX_ROUNDS || room == 0 || left == 0 {
        return false;
    }
    let mut space = Space::new();
    space.gather(context);
    // As many neighbours on each side as there is room for, all of them if everything left fits.
    let reach = if left <= room { u32::MAX } else { room };
    let near = Part { first: best.saturating_sub(reach), last: best.saturating_add(reach), untried: true };
    let total = count(&space, context, table, &near);
    if total == 0 {
        return false;
    }
    table.next_round();
    add(&space, context, table, &near, Stride::new(room, total));
    true
}

/// The best measured configuration by a metric, the first `references` aside: the highest score, then the lexicographically lowest
/// vector. Champion and challenger take turns in two places: no score is copied. Out of line: they are off the stack when a second
/// round is generated.
#[inline(never)]
pub(super) fn best<'a, M: Metric, const C: usize>(metric: &M, table: &'a ConfigTable<C>, references: u8) -> Option<&'a Entry> {
    let mut places = [Score::LEAST; 2];
    let [one, other] = &mut places;
    let (mut champion, mut challenger) = (one, other);
    let mut best: Option<&Entry> = None;
    let entries = table.entries().get(references.into()..).unwrap_or_default();
    for entry in entries.iter().filter(|entry| entry.sums.sms != 0) {
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
    best
}

/// Score of a configuration in the table; none if it was not measured, or is there for comparison only.
pub(super) fn score<M: Metric, const C: usize>(metric: &M, table: &ConfigTable<C>, index: usize) -> Option<Score> {
    let entry = table.tried().get(index).filter(|entry| entry.sums.sms != 0 && entry.position != REFERENCE)?;
    Some(metric.score_entry(entry, table.totals(entry.round)))
}

impl<M: Metric> Policy for Mias<M> {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        first_configs(context, table, 0)
    }

    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        let Some(best) = best(&self.metric, table, 0) else { return Verdict::NoSamples };
        let (vector, position) = (best.vector, best.position);
        if add_round(context, table, position, 0) { Verdict::NextRound } else { Verdict::Broadcast(vector) }
    }

    fn counters(&self) -> CounterSet {
        self.metric.counters()
    }

    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        score(&self.metric, table, index)
    }
}
