//! MIAS: try every maximal multi-kernel configuration side by side, keep the best by a metric (seed 000 section 3.2).
//!
//! More configurations than SMs are tried in consecutive rounds. Where two rounds do not suffice, or the table has no room
//! for all, the first round tries a sub-sample at a fixed stride and the second those around its best (DESIGN.md section 4;
//! algorithms.md section 9 item 13). Configurations stream from the generator and are never cut off by order.

use core::cmp::Ordering;

use heapless::Vec;

use super::{Context, Plan, Policy, Verdict, fall_back_to_left_over, spatial};
use crate::configs::{Candidate, ConfigTable, Entry, Generator, MAX_KERNELS, Origin, RoundTotals, Rules, Stride, TbVector};
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
    /// No kernel.
    const fn new(context: &Context<'_>) -> Self {
        Self { candidates: Vec::new(), rules: Rules { require_all_present: context.settings.require_all_present } }
    }

    /// Takes the kernels in. In place and out of line: a space is large for the stack.
    #[inline(never)]
    fn gather(&mut self, context: &Context<'_>) {
        for kernel in context.kernels {
            // A context holds no more than MAX_KERNELS.
            if self.candidates.push(Candidate { demand: kernel.demand, cap: context.cap(kernel) }).is_err() {
                return;
            }
        }
    }

    /// All admitted configurations with their positions, in lexicographic order.
    fn configs(&self, context: &Context<'_>) -> Admitted<'_> {
        let generator = Generator::new(context.machine.limits.capacity, &self.candidates);
        Admitted { generator, rules: self.rules, kernels: self.candidates.len(), position: 0 }
    }
}

/// The configurations that may be tried. One iterator without adaptors: those would be moved about the stack.
struct Admitted<'a> {
    generator: Generator<'a>,
    rules: Rules,
    kernels: usize,
    position: u32,
}

impl Iterator for Admitted<'_> {
    type Item = (u32, TbVector);

    #[inline(always)]
    fn next(&mut self) -> Option<(u32, TbVector)> {
        loop {
            let vector = self.generator.next()?;
            if self.rules.admit(&vector, self.kernels) {
                let position = self.position;
                self.position = position.saturating_add(1);
                return Some((position, vector));
            }
        }
    }
}

/// How many admitted configurations there are whose position passes. Out of line, as [`add`]: each has its iterator on the stack
/// only while it runs.
#[inline(never)]
fn count(space: &Space, context: &Context<'_>, passes: impl Fn(u32) -> bool) -> u32 {
    let mut count = 0_u32;
    for (position, _) in space.configs(context) {
        count = count.saturating_add(u32::from(passes(position)));
    }
    count
}

/// Adds to the table those of the admitted configurations that `picks` picks.
#[inline(never)]
fn add<const C: usize>(
    space: &Space,
    context: &Context<'_>,
    table: &mut ConfigTable<C>,
    mut picks: impl FnMut(&ConfigTable<C>, u32) -> bool,
) {
    for (position, vector) in space.configs(context) {
        if picks(table, position) && !table.push(vector, position) {
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

/// Fills the table with the first round, or with a fall-back. The same for all metrics, and one copy of it in the image.
#[inline(never)]
fn first_configs<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
    let mut space = Space::new(context);
    space.gather(context);
    let total = count(&space, context, |_| true);
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
    let mut stride = Stride::new(want, total);
    add(&space, context, table, |_, _| stride.pick());
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
    let mut space = Space::new(context);
    space.gather(context);
    // As many neighbours on each side as there is room for, all of them if everything left fits.
    let reach = if left <= room { u32::MAX } else { room };
    let near = best.saturating_sub(reach)..=best.saturating_add(reach);
    let is_new = |table: &ConfigTable<C>, position: u32| near.contains(&position) && !table.contains(position);
    let total = count(&space, context, |position| is_new(table, position));
    if total == 0 {
        return false;
    }
    table.next_round();
    let mut stride = Stride::new(room, total);
    add(&space, context, table, |table, position| is_new(table, position) && stride.pick());
    true
}

impl<M: Metric> Mias<M> {
    /// The best measured configuration: the highest score, then the lexicographically lowest vector. Out of line: the scores are
    /// off the stack when a second round is generated.
    #[inline(never)]
    fn best<'a, const C: usize>(&self, table: &'a ConfigTable<C>) -> Option<&'a Entry> {
        let (first, second) = table.rounds();
        let mut contest = Contest { best: None, places: [Score::LEAST; 2], swapped: false };
        self.enter(&mut contest, first, table.totals(0));
        if !second.is_empty() {
            self.enter(&mut contest, second, table.totals(1));
        }
        contest.best
    }

    /// Enters the configurations of a round. One copy per metric, however many rounds.
    #[inline(never)]
    fn enter<'a>(&self, contest: &mut Contest<'a>, entries: &'a [Entry], totals: &RoundTotals) {
        let [one, other] = &mut contest.places;
        let (mut champion, mut challenger) = if contest.swapped { (other, one) } else { (one, other) };
        for entry in entries.iter().filter(|entry| entry.sums.sms != 0) {
            *challenger = self.metric.score(&entry.sums, totals);
            let better = contest.best.is_none_or(|best| match order(M::compare(challenger, champion)) {
                Ordering::Greater => true,
                Ordering::Equal => entry.vector < best.vector,
                Ordering::Less => false,
            });
            if better {
                contest.best = Some(entry);
                contest.swapped = !contest.swapped;
                core::mem::swap(&mut champion, &mut challenger);
            }
        }
    }
}

/// A search for the best. Champion and challenger take turns in two places: no score is copied.
struct Contest<'a> {
    best: Option<&'a Entry>,
    places: [Score; 2],
    /// The champion's score is in the second place.
    swapped: bool,
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
