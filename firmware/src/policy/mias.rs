//! MIAS: try every maximal multi-kernel configuration side by side, keep the best by a metric (seed 000 section 3.2).
//!
//! More configurations than SMs are tried in consecutive rounds. Where two rounds do not suffice, or the table has no room
//! for all, the first round tries a sub-sample at a fixed stride and the second those around its best (DESIGN.md section 4;
//! algorithms.md section 9 item 13). Configurations stream from the generator and are never cut off by order.

use core::cmp::Ordering;

use heapless::Vec;

use super::{Context, Plan, Policy, Verdict, fall_back_to_left_over, spatial};
use crate::configs::{Candidate, ConfigTable, Entry, Generator, MAX_KERNELS, Origin, Rules, Stride, TbVector, subsample};
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

/// The kernels of a context as the generator wants them.
struct Space {
    candidates: Vec<Candidate, MAX_KERNELS>,
    rules: Rules,
}

impl Space {
    fn new(context: &Context<'_>) -> Self {
        let mut candidates = Vec::new();
        for kernel in context.kernels {
            // A context holds no more than MAX_KERNELS.
            if candidates.push(Candidate { demand: kernel.demand, cap: context.cap(kernel) }).is_err() {
                break;
            }
        }
        Self { candidates, rules: Rules { require_all_present: context.settings.require_all_present } }
    }

    /// All admitted configurations with their positions, in lexicographic order.
    fn configs(&self, context: &Context<'_>) -> impl Iterator<Item = (u32, TbVector)> {
        let all = Generator::new(context.machine.limits.capacity, &self.candidates);
        (0_u32..).zip(all.filter(|vector| self.rules.admit(vector, self.candidates.len())))
    }

    fn count(&self, context: &Context<'_>) -> u32 {
        self.configs(context).fold(0, |count, _| count.saturating_add(1))
    }
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

/// Fills the table with the first round, or with a fall-back. The same for all metrics, and one copy of it in the image.
#[inline(never)]
fn first_configs<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
    let space = Space::new(context);
    let total = space.count(context);
    table.set_total(total);
    if total == 0 {
        table.restart(Origin::SpatialFallback);
        if !spatial::fill(context, table) {
            fall_back_to_left_over(context, table);
        }
        return Plan::Place;
    }
    let room = u32::try_from(C).unwrap_or(u32::MAX);
    let want = first_round(total, context.machine.sm_count.into(), room);
    for (position, vector) in subsample(space.configs(context), want, total) {
        if !table.push(vector, position) {
            break;
        }
    }
    if total == 1 { Plan::Place } else { Plan::Profile }
}

/// Adds the second round: all that are left if they fit, else those around the best of the first. False if none is left.
#[inline(never)]
fn add_round<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>, best: u32) -> bool {
    let tried = table.entries().len();
    let sms = u32::from(context.machine.sm_count);
    let room = u32::try_from(C.saturating_sub(tried)).unwrap_or(u32::MAX).min(sms);
    let left = table.total().saturating_sub(u32::try_from(tried).unwrap_or(u32::MAX));
    if table.round().saturating_add(1) >= MAX_ROUNDS || room == 0 || left == 0 {
        return false;
    }
    let space = Space::new(context);
    // As many neighbours on each side as there is room for, all of them if everything left fits.
    let reach = if left <= room { u32::MAX } else { room };
    let near = best.saturating_sub(reach)..=best.saturating_add(reach);
    let is_new = |table: &ConfigTable<C>, position: u32| near.contains(&position) && !table.contains(position);
    let count = space.configs(context).filter(|(position, _)| is_new(table, *position)).count();
    if count == 0 {
        return false;
    }
    table.next_round();
    let mut stride = Stride::new(room, u32::try_from(count).unwrap_or(u32::MAX));
    for (position, vector) in space.configs(context) {
        if is_new(table, position) && stride.pick() && !table.push(vector, position) {
            break;
        }
    }
    true
}

impl<M: Metric> Mias<M> {
    /// The best measured configuration: the highest score, then the lexicographically lowest vector.
    #[inline(never)]
    fn best<'a, const C: usize>(&self, table: &'a ConfigTable<C>) -> Option<&'a Entry> {
        let mut best: Option<&Entry> = None;
        // Champion and challenger take turns in two places: no score is copied.
        let (mut one, mut other) = (Score::LEAST, Score::LEAST);
        let (mut champion, mut challenger) = (&mut one, &mut other);
        for entry in table.entries().iter().filter(|entry| entry.sums.sms != 0) {
            *challenger = self.metric.score(&entry.sums, table.totals(entry.round));
            let better = best.is_none_or(|best| match M::compare(challenger, champion) {
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
}

impl<M: Metric> Policy for Mias<M> {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        first_configs(context, table)
    }

    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        let Some(best) = self.best(table) else { return Verdict::NoSamples };
        let (vector, position) = (best.vector, best.position);
        if add_round(context, table, position) { Verdict::NextRound } else { Verdict::Broadcast(vector) }
    }

    fn counters(&self) -> CounterSet {
        self.metric.counters()
    }

    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        let entry = table.entries().get(index).filter(|entry| entry.sums.sms != 0)?;
        Some(self.metric.score(&entry.sums, table.totals(entry.round)))
    }
}
