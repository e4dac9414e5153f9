//! Warped-Slicer: its worked examples, scaling factor and threshold, and water-filling against
//! brute force (sources.md D47 to D50, and D103).

use super::world::{Counts, WINDOW, World, shape};
use crate::cases::cases;
use mias_firmware::configs::{ConfigTable, Origin, TbVector};
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::{Context, Plan, Policy, Verdict};
use mias_firmware::resources::{Resources, SmLimits, TbShape};
use mias_policies::policy::{Objective, WarpedSlicer};
use mias_registers::{PhaseCode, PolicyCode, global, option};
use proptest::prelude::*;

/// Nasef 2023, section 2.3: with at most 3 and 4 TBs, SMs 0 to 2 run 1, 2 and 3 TBs of one kernel,
/// and SMs 3 to 6 run 1 to 4 of the other.
#[test]
fn every_number_of_tbs_has_its_sm() {
    // 320 threads: 3 TBs in 1024.
    let mut world = World::new(PolicyCode::WarpedSlicer, 7, &[shape(320), shape(256)], &[]);
    let dealt: Vec<Vec<u32>> = (0..7).map(|sm| world.quotas(sm)).collect();
    assert_eq!(dealt, [[1, 0], [2, 0], [3, 0], [0, 1], [0, 2], [0, 3], [0, 4]]);
    assert_eq!(world.phase(), PhaseCode::Transition);
}

/// Dai et al. 2018, section 2.5: bp + sv on SMs of 3072 threads and 16 TBs have their sweet point
/// at 9 and 4 TBs, with a theoretical weighted speedup of 1.94. bp (12 TBs of 256 threads) rises
/// almost linearly, and sv (16 of 192) rises and then falls. 9 of 12 is 0.75, so sv at 4 TBs
/// reaches 1.19 of its rate with 16. 28 points on 16 SMs take two windows.
#[test]
fn the_sweet_point_of_bp_and_sv() {
    let sv = |tbs: u32| if tbs <= 4 { 1190 * tbs / 4 } else { 1190 - 190 * (tbs - 4) / 12 };
    let gpu = [(global::SM_THREADS, 3072), (global::SM_SHARED_BYTES, 98_304), (global::SM_TBS, 16)];
    let kernels = [
        TbShape { threads: 256, thread_registers: 12, shared_bytes: 1088 },
        TbShape { threads: 192, thread_registers: 16, shared_bytes: 0 },
    ];
    let mut world = World::new(PolicyCode::WarpedSlicer, 16, &kernels, &gpu);
    assert_eq!(world.kernels().iter().map(|kernel| kernel.max_tbs).collect::<Vec<_>>(), [12, 16]);
    let count = |_: usize, tbs: &[u32]| Counts { instructions: [1000 * tbs[0] / 12, sv(tbs[1]), 0, 0], ..Counts::default() };
    world.profile(count);
    world.profile(count);
    assert_eq!((world.phase(), world.shared()), (PhaseCode::Steady, vec![9, 4]));
    assert_eq!(world.faults(), 0);
}

/// Of points with equal performance the one with the fewest TBs counts, also if it was profiled
/// later: 8 points on 4 SMs, every other one in each of two windows.
#[test]
fn of_equal_points_the_one_with_the_fewest_tbs_counts() {
    let mut world = World::new(PolicyCode::WarpedSlicerSum, 4, &[shape(256), shape(256)], &[]);
    let count = |_: usize, tbs: &[u32]| Counts {
        instructions: [if tbs[0] > 1 { 1_000 } else { 100 * tbs[0] }, 500 * tbs[1].min(1), 0, 0],
        ..Counts::default()
    };
    world.profile(count);
    world.profile(count);
    assert_eq!((world.phase(), world.shared()), (PhaseCode::Steady, vec![2, 1]));
}

/// Of vectors with equal sums the lexicographically least wins: of 3 TBs, 1 and 2.
#[test]
fn of_equal_sums_the_least_vector_wins() {
    let mut world = World::new(PolicyCode::WarpedSlicerSum, 6, &[shape(320), shape(320)], &[]);
    world.profile(|_: usize, tbs: &[u32]| Counts { instructions: [100 * tbs[0], 100 * tbs[1], 0, 0], ..Counts::default() });
    assert_eq!((world.phase(), world.shared()), (PhaseCode::Steady, vec![1, 2]));
}

/// A GPU, kernels and a table with one measurement per point.
struct Case {
    gpu: GpuProperties,
    settings: Settings,
    kernels: Vec<Kernel>,
    table: ConfigTable<128>,
}

impl Case {
    /// Creates a case in which `curves[k][j]` are the instructions of kernel `k` with `j + 1` TBs.
    fn new(capacity: Resources, demands: &[Resources], curves: &[Vec<u32>]) -> Self {
        let limits = SmLimits { capacity, ..SmLimits::NONE };
        let kernel = |demand: &Resources, curve: &Vec<u32>| Kernel { demand: *demand, max_tbs: curve.len() as u8, ..Kernel::default() };
        let kernels: Vec<Kernel> =
            demands.iter().zip(curves).map(|(demand, curve)| Kernel { grid_tbs: 1_000_000, ..kernel(demand, curve) }).collect();
        let gpu = GpuProperties { sm_count: 128, limits, ..GpuProperties::NONE };
        let settings = Settings { unscaled_profile: true, loss_threshold_permille: u32::MAX, ..Settings::default() };
        let mut case = Self { gpu, settings, kernels, table: ConfigTable::default() };
        case.table.reset(0..demands.len() as u8);
        let plan = WarpedSlicer::default().generate_configs(&case.context(), &mut case.table.clone());
        assert_eq!(plan, Plan::Profile);
        WarpedSlicer::default()
            .generate_configs(&Context { gpu: &case.gpu, settings: &case.settings, kernels: &case.kernels }, &mut case.table);
        let instructions: Vec<u32> = curves.concat();
        assert_eq!(case.table.entries().len(), instructions.len(), "one SM per point");
        for (index, instructions) in instructions.into_iter().enumerate() {
            let sums = case.table.sums_mut(index).expect("a point");
            (sums.sms, sums.cycles, sums.instructions) = (1, WINDOW, instructions);
        }
        case
    }

    fn context(&self) -> Context<'_> {
        Context { gpu: &self.gpu, settings: &self.settings, kernels: &self.kernels }
    }

    fn decide(&mut self, objective: Objective) -> Verdict {
        let context = Context { gpu: &self.gpu, settings: &self.settings, kernels: &self.kernels };
        WarpedSlicer { objective }.on_done_profiling(&context, &mut self.table)
    }

    fn fits(&self, vector: &[u8]) -> bool {
        let rest = self.kernels.iter().zip(vector).try_fold(self.gpu.limits.capacity, |r, (k, n)| r.minus(&k.demand, (*n).into()));
        rest.is_some()
    }

    /// Returns all fitting vectors with at least one TB of each kernel.
    fn feasible(&self) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new()];
        for kernel in &self.kernels {
            all = all.iter().flat_map(|head| (1..=kernel.max_tbs).map(|n| [head.clone(), vec![n]].concat())).collect();
        }
        all.into_iter().filter(|vector| self.fits(vector)).collect()
    }
}

/// Returns the performance relative to the best of the curve, as a fraction.
fn part(curve: &[u32], tbs: u8) -> (u64, u64) {
    (curve[usize::from(tbs) - 1].into(), curve.iter().copied().max().unwrap_or(1).max(1).into())
}

fn less(a: (u64, u64), b: (u64, u64)) -> bool {
    a.0 * b.1 < b.0 * a.1
}

/// Returns the smallest relative performance of a kernel.
fn least(curves: &[Vec<u32>], vector: &[u8]) -> (u64, u64) {
    let parts = curves.iter().zip(vector).map(|(curve, tbs)| part(curve, *tbs));
    parts.reduce(|a, b| if less(b, a) { b } else { a }).expect("a kernel")
}

fn resources() -> impl Strategy<Value = Resources> {
    (0..5_u32, 0..5_u32, 0..5_u32).prop_map(|(threads, registers, shared_bytes)| Resources { threads, registers, shared_bytes, tbs: 1 })
}

/// Generates capacity, demands and curves of two or three kernels; one TB of each fits together.
fn instance() -> impl Strategy<Value = (Resources, Vec<Resources>, Vec<Vec<u32>>)> {
    let kernel = (resources(), prop::collection::vec(1..40_u32, 1..8));
    let capacity = (4..20_u32, 4..20_u32, 4..20_u32, 3..16_u32);
    (capacity, prop::collection::vec(kernel, 2..4)).prop_filter_map("together", |((threads, registers, shared_bytes, tbs), kernels)| {
        let capacity = Resources { threads, registers, shared_bytes, tbs };
        let (demands, curves): (Vec<_>, Vec<_>) = kernels.into_iter().unzip();
        demands.iter().try_fold(capacity, |rest, demand| rest.minus(demand, 1))?;
        Some((capacity, demands, curves))
    })
}

proptest! {
    #![proptest_config(cases(4000))]

    /// Invariant 28: the result equals the best of all, fits, and has at least one TB of each. A
    /// better curve is never a loss.
    #[test]
    fn water_filling_is_max_min_optimal((capacity, demands, curves) in instance(), raised: (prop::sample::Index, prop::sample::Index)) {
        let decide = |curves: &[Vec<u32>]| {
            let mut case = Case::new(capacity, &demands, curves);
            let verdict = case.decide(Objective::Least);
            (case, verdict)
        };
        let (case, verdict) = decide(&curves);
        let Verdict::Broadcast(TbVector(vector)) = verdict else { return Err(TestCaseError::fail("no choice")) };
        let vector = &vector[..demands.len()];
        prop_assert!(case.fits(vector) && vector.iter().all(|tbs| *tbs > 0), "{vector:?}");
        let reached = least(&curves, vector);
        for other in case.feasible() {
            prop_assert!(!less(reached, least(&curves, &other)), "{:?} is better than {:?}", other, vector);
        }
        // Raises a point to at most the best of its curve, so that the relative performance of
        // other points stays.
        let mut better = curves.clone();
        let curve = raised.0.index(curves.len());
        let most = *curves[curve].iter().max().expect("a point");
        let point = raised.1.index(curves[curve].len());
        better[curve][point] = most;
        if let (_, Verdict::Broadcast(TbVector(vector))) = decide(&better) {
            prop_assert!(!less(least(&better, &vector[..demands.len()]), reached));
        }
    }

    /// The sum variant (CRISP) has the largest sum of all vectors.
    #[test]
    fn the_sum_variant_has_the_largest_sum((capacity, demands, curves) in instance()) {
        let mut case = Case::new(capacity, &demands, &curves);
        let Verdict::Broadcast(TbVector(vector)) = case.decide(Objective::Sum) else { return Err(TestCaseError::fail("no choice")) };
        let sum = |vector: &[u8]| -> u32 { curves.iter().zip(vector).map(|(curve, tbs)| curve[usize::from(*tbs) - 1]).sum() };
        let vector = &vector[..demands.len()];
        prop_assert!(case.fits(vector) && vector.iter().all(|tbs| *tbs > 0), "{vector:?}");
        prop_assert_eq!(Some(sum(vector)), case.feasible().iter().map(|other| sum(other)).max());
    }
}

const TB: Resources = Resources { threads: 1, registers: 0, shared_bytes: 0, tbs: 1 };

fn sm(threads: u32) -> Resources {
    Resources { threads, registers: 0, shared_bytes: 0, tbs: 32 }
}

/// Two linear curves of ten points, with space for four TBs or three of each: each kernel loses 0.6
/// or 0.7 of its isolated performance. The threshold is 1.2 over two kernels.
#[test]
fn too_large_a_loss_gives_way_to_spatial() {
    let line: Vec<u32> = (1..=10).map(|tbs| 100 * tbs).collect();
    for (threads, spatial) in [(8, false), (6, true)] {
        let mut case = Case::new(sm(threads), &[TB; 2], &[line.clone(), line.clone()]);
        case.settings.loss_threshold_permille = 1_200;
        let verdict = case.decide(Objective::Least);
        if spatial {
            assert_eq!((verdict, case.table.origin()), (Verdict::Settled, Origin::SpatialFallback));
            assert_eq!((case.table.current_len(), case.table.tried().len()), (2, 20), "what was measured is kept");
        } else {
            assert_eq!(verdict, Verdict::Broadcast(TbVector([4, 4, 0, 0])));
        }
        assert!(matches!(case.decide(Objective::Sum), Verdict::Broadcast(_)), "the sum does not ask");
    }
}

/// IPC (1 + M / C (T / j - 1)): points of 1, 2 and 3 TBs have T = 2. With half of the time stalled,
/// 1 TB is scaled by 1.5, 2 TBs by 1, and 3 TBs by 1 - 1/6. Without stalls there is no scaling.
#[test]
fn bandwidth_is_scaled_to_that_of_all_sms() {
    let curve = vec![600, 600, 600];
    for (stalls, scaled, expected) in [(WINDOW / 2, true, [900, 600, 500]), (0, true, [600; 3]), (WINDOW / 2, false, [600; 3])] {
        let mut case = Case::new(sm(6), &[TB; 2], &[curve.clone(), curve.clone()]);
        case.settings.unscaled_profile = !scaled;
        (0..6).for_each(|index| case.table.sums_mut(index).expect("a point").memory_stall_cycles = stalls);
        case.decide(Objective::Least);
        let score = |index| WarpedSlicer::default().score(&case.table, index).expect("measured").numerator.to_u128();
        let scores: Vec<u128> = (0..6).map(score).collect();
        for (score, expected) in scores.iter().zip([expected, expected].concat()) {
            // T / j has a resolution of 2^-12, the factor of 2^-15.
            assert!(score.abs_diff(expected) <= 2, "{scores:?}");
        }
    }
}

#[test]
fn the_strap_turns_scaling_off() {
    // Kernel 0 rises from 100 to 400, and is stalled for nine tenths of the time; T is 46 / 12.
    // Scaled, it reaches 355 with one TB and 385 with four. One TB is then 0.92 of its best, and
    // the other kernel gets the rest. Unscaled, both rise alike.
    let decide = |options| {
        let mut world = World::new(PolicyCode::WarpedSlicer, 8, &[shape(256), shape(128)], &[(global::STRAP_OPTIONS, options)]);
        // 4 and 8 points on 8 SMs: two windows.
        for _ in 0..2 {
            let stalls = |tbs: &[u32]| if tbs[0] > 0 { WINDOW * 9 / 10 } else { 0 };
            world.profile(|_, tbs| Counts { instructions: [100 * tbs[0], 100 * tbs[1], 0, 0], stalls: stalls(tbs), ..Counts::default() });
        }
        world.shared()
    };
    assert_eq!(decide(0), [1, 6]);
    assert_eq!(decide(option::UNSCALED_PROFILE), [2, 4]);
}

#[test]
fn nothing_measured_is_a_fault_and_not_a_choice() {
    let mut case = Case::new(sm(8), &[TB; 2], &[vec![1; 3], vec![1; 3]]);
    (0..6).for_each(|index| case.table.sums_mut(index).expect("a point").sms = 0);
    assert_eq!(case.decide(Objective::Least), Verdict::NoSamples);
}
