//! Warped-Slicer: profile every kernel alone at 1 to N TBs on SMs of its own, and share the SM to
//! minimize the largest loss of a kernel (Nasef 2023, section 2.3; Dai et al. 2018, section 2.5;
//! reconstructed parts: sources.md D47 to D50).
//!
//! A point is a number of TBs of a kernel: kernels in launch order, 1 to as many TBs as fit. Points
//! up to the number of SMs share one window. Up to twice as many are profiled in two windows, every
//! other one in each (time sharing of SMs, Dai et al. 2018, section 2.5). Of more, or of more than
//! the table's capacity, a sample at a fixed stride is profiled.
//!
//! The IPC of a point is scaled to the bandwidth of an SM when all SMs hold as many TBs. The scaled
//! value is `IPC (1 + M / C (T / j - 1))`, with `j` TBs on this SM and an average of `T` over the
//! profiled SMs. Windows are exact, so instructions per window represent IPC.

use super::water_fill::water_fill;
use mias_firmware::configs::{ConfigTable, Entry, Measurement, Origin, Rules, Stride, TbVector};
use mias_firmware::counters::CounterSet;
use mias_firmware::metric::Score;
use mias_firmware::metric::wide::U96;
use mias_firmware::policy::{Context, Plan, Policy, Verdict, beside_one_of_each, fall_back, settle_for_spatial, space, spatial};
use mias_firmware::quantity::{Count, Scale, TbRatio, saturating, whole, wrapping};
use mias_registers::counters::Counter;

/// Objective to maximize.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// Smallest performance of a kernel relative to its best: Warped-Slicer.
    #[default]
    Least,
    /// Sum of the kernels' performances as profiled, neither scaled nor compared with Spatial: the
    /// variant of CRISP (sources.md D51).
    Sum,
}

/// Largest ratio, below 2^8: 17 bits times it fit 32.
const MOST_RATIO: TbRatio = TbRatio::const_from_int(1 << 8).wrapping_sub(TbRatio::DELTA);

/// Warped-Slicer policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpedSlicer {
    /// Objective to maximize.
    pub objective: Objective,
}

impl Policy for WarpedSlicer {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        if context.kernels.len() < 2 {
            spatial::fill(context, table);
            return Plan::Place;
        }
        if beside_one_of_each(context).is_none() {
            return fall_back(context, table);
        }
        let total = context.kernels.iter().fold(0_u32, |sum, kernel| sum.saturating_add(context.cap(kernel).into()));
        table.set_total(total);
        add_points(context, table);
        Plan::Profile
    }

    #[inline(never)]
    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        if table.round() == 0 && picks(context, table) > u32::from(context.gpu.sm_count) {
            table.next_round();
            add_points(context, table);
            return Verdict::NextRound;
        }
        let scaled = self.objective == Objective::Least && !context.settings.unscaled_profile;
        judge(table.entries_mut(), scaled);
        let choice = match self.objective {
            Objective::Least => water_fill(context, table.entries()),
            Objective::Sum => largest_sum(context, table),
        };
        match choice {
            Some(vector) => Verdict::Broadcast(vector),
            None => settle_for_spatial(context, table, Origin::SpatialFallback),
        }
    }

    fn counters(&self) -> CounterSet {
        CounterSet::of(&[Counter::Cycles, Counter::MemoryStallCycles])
    }

    /// Returns the scaled instructions in a window.
    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        let entry = table.tried().get(index).filter(|entry| entry.sums.sms != 0)?;
        Some(Score::new(U96::from(u64::from(entry.extra.count())), U96::ONE))
    }
}

/// Returns the number of profiled points.
fn picks<const C: usize>(context: &Context<'_>, table: &ConfigTable<C>) -> u32 {
    let room = u32::try_from(C).unwrap_or(u32::MAX);
    table.total().min(u32::from(context.gpu.sm_count).saturating_mul(2)).min(room)
}

/// Adds the points of the current round.
#[inline(never)]
fn add_points<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) {
    let picks = picks(context, table);
    let rounds = if picks > u32::from(context.gpu.sm_count) { 2 } else { 1 };
    let mut stride = Stride::new(picks, table.total());
    // Counts down to the next pick of this round.
    let mut wait = table.round();
    let mut position = 0_u32;
    for (index, kernel) in context.kernels.iter().enumerate() {
        for tbs in 1..=context.cap(kernel) {
            if stride.pick() {
                if wait == 0 {
                    table.push(TbVector::single(index, tbs), position);
                    wait = rounds;
                }
                wait = wait.saturating_sub(1);
            }
            position = position.saturating_add(1);
        }
    }
}

/// Stores the performance of every measured point: instructions in a window, scaled to all SMs with
/// as many TBs if `scaled`.
#[inline(never)]
fn judge(points: &mut [Entry], scaled: bool) {
    let (mut all_tbs, mut all_sms) = (0_u32, 0_u32);
    for point in points.iter() {
        all_tbs = all_tbs.wrapping_add(tbs(point).wrapping_mul(point.sums.sms.into()));
        all_sms = all_sms.wrapping_add(point.sums.sms.into());
    }
    for point in points {
        let sums = &point.sums;
        let instructions = sums.instructions.checked_div(sums.sms.into()).unwrap_or(0);
        point.extra = Measurement::of_count(instructions);
        if scaled {
            // 17 bits each. A window without a cycle has no stall either.
            let each = |sum: u32| sum.checked_div(sums.sms.into()).unwrap_or(0) & 0x1_FFFF;
            let cycles = each(sums.cycles).max(1);
            let stalls = each(sums.memory_stall_cycles).min(cycles);
            // T / j: at most 255 TBs, on at most 256 SMs.
            let all_tbs: TbRatio = whole(all_tbs);
            let ratio = all_tbs.checked_div_int(tbs(point).wrapping_mul(all_sms)).unwrap_or(TbRatio::ZERO).min(MOST_RATIO);
            // C + M (T / j - 1), less than 2^8 C; over C.
            let stretched: Count = wrapping(ratio.wide_mul(Count::from_bits(stalls)));
            let weight = cycles.wrapping_sub(stalls).wrapping_add(stretched.to_bits());
            let rest: Scale = whole(weight % cycles);
            let scale = whole(weight / cycles) | rest.wrapping_div_int(cycles);
            let scaled: Count = saturating(scale.wide_mul(Count::from_bits(instructions)));
            point.extra = Measurement::of_count(scaled.to_bits());
        }
    }
}

/// Returns the TBs of a point.
fn tbs(point: &Entry) -> u32 {
    point.vector.0.iter().fold(0, |sum, tbs| sum | u32::from(*tbs))
}

/// Returns the best point of a kernel with at most `most` TBs; among equals the one with fewer TBs.
fn best_of(points: &[Entry], kernel: usize, most: u8) -> Option<(u8, u32)> {
    let mut best: Option<(u8, u32)> = None;
    for point in points {
        let tbs = point.vector.get(kernel);
        if point.sums.sms != 0 && (1..=most).contains(&tbs) {
            let better = best
                .is_none_or(|(fewer, performance)| point.extra.count() > performance || point.extra.count() == performance && tbs < fewer);
            if better {
                best = Some((tbs, point.extra.count()));
            }
        }
    }
    best
}

/// Returns the best maximal vector, valuing each kernel by its best point with at most its TBs;
/// none if no vector was fully measured.
#[inline(never)]
fn largest_sum<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> Option<TbVector> {
    space::gather(table.pool_mut(), context, Rules { require_all_present: true });
    let capacity = &context.gpu.limits.capacity;
    table.pool_mut().fill(capacity);
    let mut tail = table.pool().tail();
    let mut best: Option<(TbVector, u64)> = None;
    let mut position = 0_u32;
    while let Some(vector) = table.pool().at(position, capacity, &mut tail) {
        position = position.saturating_add(1);
        let mut choice = TbVector::default();
        let mut sum = 0_u64;
        for kernel in 0..context.kernels.len() {
            let Some((tbs, performance)) = best_of(table.entries(), kernel, vector.get(kernel)) else { break };
            choice.set(kernel, tbs);
            sum = sum.saturating_add(performance.into());
        }
        let whole = choice.present() == context.kernels.len();
        if whole && best.is_none_or(|(before, most)| sum > most || sum == most && choice < before) {
            best = Some((choice, sum));
        }
    }
    best.map(|(vector, _)| vector)
}
