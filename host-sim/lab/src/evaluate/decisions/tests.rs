//! Benchmark against closed forms: regret, B, O and positions between them, resampled kernels, and
//! the sets of kernels.

use super::resample::{REPLICATES, below};
use super::*;
use crate::evaluate::results::MetricValues;
use mias_workloads::kernels;
use mias_workloads::random::Random;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn values(stp: f64) -> Values {
    Values {
        metrics: MetricValues { speedup: Some(1.5), stp: Some(stp), antt: Some(2.0 / stp), fairness: Some(stp / 2.0) },
        joules: Some(3.0),
    }
}

/// Size and the selection of preemption victims belong to the GPU; a field of value `none` is
/// no mechanism.
#[test]
fn a_gpu_is_no_mechanism() {
    let (name, with) = mixes::gpu(
        "m dram.channels=4 sm.count=8 sm.memory_issue.in_flight=dynamic sm.preemption.selector.start_cycles=8 l1.partition=none",
    );
    assert_eq!(name, "m dram.channels=4 sm.count=8 sm.preemption.selector.start_cycles=8");
    assert_eq!(with, "sm.memory_issue.in_flight=dynamic");
}

fn way(policy: &'static str, with: &str) -> Way {
    Way { policy, with: with.into(), transition: "preempt:switch" }
}

fn run(stp: f64, config: &[u32]) -> Run {
    Run { values: values(stp), choice: Some(Choice::Config(config.to_vec())), too_late: false, overhead: Some(0.1) }
}

fn fixed(with: &str, choice: Choice, stp: f64) -> Static {
    Static { with: with.into(), choice, values: values(stp) }
}

/// Creates a mix of two kernels with two configurations, 1-1 and 2-1, and an even split, with these
/// STPs.
fn mix(kernels: &[&str], statics: [f64; 3], runs: &[(&'static str, f64)]) -> Mix {
    let [one, two, even] = statics;
    Mix {
        kernels: kernels.iter().map(|name| (*name).to_owned()).collect(),
        class: "MC".into(),
        s_null: Some(1.4),
        statics: vec![
            fixed("", Choice::Config(vec![1, 1]), one),
            fixed("", Choice::Config(vec![2, 1]), two),
            fixed("", Choice::Split(vec![4, 4]), even),
        ],
        runs: runs.iter().map(|&(policy, stp)| (way(policy, ""), run(stp, &[1, 1]))).collect(),
    }
}

fn block(mixes: Vec<Mix>) -> Block {
    Block { gpu: "m".into(), set: Set::Judged, cycles: 1, mixes }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn close(found: Option<Known>, value: f64) -> bool {
    found.is_some_and(|found| (found.value - value).abs() < 1e-12)
}

/// 1.2 instead of 1.5 is a regret of a fifth; an ANTT of 2.5 instead of 2 is a fifth, too.
#[test]
fn regret_is_the_part_that_is_missing() {
    for (objective, value, best, regret) in [
        (Objective::Stp, 1.2, 1.5, 0.2),
        (Objective::Fairness, 0.0, 0.4, 1.0),
        (Objective::Antt, 2.5, 2.0, 0.2),
        (Objective::Energy, 4.0, 4.0, 0.0),
        (Objective::Stp, 1.8, 1.5, -0.2),
    ] {
        assert!((objective.regret(value, best).unwrap() - regret).abs() < 1e-12, "{}", objective.name());
    }
    assert_eq!(Objective::Stp.regret(1.0, 0.0), None);
    // 3 J for an STP of 1.5.
    assert_eq!(Objective::ALL.map(|objective| objective.of(&values(1.5))), [Some(1.5), Some(2.0 / 1.5), Some(0.75), Some(2.0)]);
    let unknown = Values { metrics: MetricValues { antt: None, stp: Some(0.0), ..values(1.0).metrics }, joules: Some(1.0) };
    assert_eq!([Objective::Antt, Objective::Energy].map(|objective| objective.of(&unknown)), [None, None]);
}

/// The best static choices are 1.5, 1.4 and 1.6, their mean 1.5. `smk` has a mean of 1.1, `spatial`
/// of 1.2: it is B, unless only `smk` existed. 1.35 is halfway, 1.5 all of the way, 1.1 a third of
/// it back.
#[test]
fn b_o_and_the_way_between_them() {
    let runs = |smk, spatial, mine, ideal| [("smk", smk), ("spatial", spatial), ("mine", mine), ("ideal", ideal)];
    let block = block(vec![
        mix(&["a", "b"], [1.5, 1.1, 1.2], &runs(1.0, 1.3, 1.25, 1.5)),
        mix(&["a", "c"], [1.0, 1.4, 1.2], &runs(1.1, 1.1, 1.35, 1.4)),
        mix(&["b", "c"], [1.0, 1.4, 1.6], &runs(1.2, 1.2, 1.45, 1.6)),
    ]);
    let judgment = Judgment::of(&block, &names(&["smk", "spatial"]));
    assert_eq!(judgment.base, Some(way("spatial", "")));
    assert!((judgment.base_stp.unwrap() - 1.2).abs() < 1e-12 && (judgment.best_stp.unwrap() - 1.5).abs() < 1e-12);
    let lines = &judgment.lines;
    let [smk, spatial, mine, ideal] = &lines[..] else { panic!("{}", lines.len()) };
    assert!(close(mine.share, 0.5) && close(ideal.share, 1.0) && close(spatial.share, 0.0) && close(smk.share, -1.0 / 3.0));
    assert_eq!(ideal.share.unwrap().interval, Some((1.0, 1.0)), "whichever kernels there are");
    assert_eq!(spatial.over_base.map(|over| over.unwrap().value), [1.0; 4]);
    assert!(close(mine.over_base[0], 1.35 / 1.2) && close(judgment.best_over_base[0], 1.5 / 1.2));
    // All chose 1-1: a regret of 0 in the first, 0.4 of 1.4 in the second, 0.6 of 1.6 in the third.
    assert!(close(mine.decision[0], (0.4 / 1.4 + 0.6 / 1.6) / 3.0) && mine.decision_by_size[0] == mine.decision[0]);
    assert_eq!((mine.decision_by_size[1], mine.over_smk), (None, None));
    // End to end against 1.5, 1.4 and 1.6.
    assert!(close(mine.end_to_end, (0.25 / 1.5 + 0.05 / 1.4 + 0.15 / 1.6) / 3.0) && close(ideal.end_to_end, 0.0));
    assert_eq!(Judgment::of(&block, &names(&["smk"])).base, Some(way("smk", "")));
    assert_eq!(Judgment::of(&block, &[]).lines[2].share, None);
}

/// Triples only: 1.3 and 1.5 against 1.0 and 1.2 of SMK-P.
#[test]
fn more_than_two_kernels_are_held_against_smk() {
    let runs = |smk, mine| [("smk", smk), ("mine", mine)];
    let block = block(vec![
        mix(&["a", "b"], [1.5, 1.1, 1.2], &runs(1.0, 2.0)),
        mix(&["a", "b", "c"], [1.5, 1.1, 1.2], &runs(1.0, 1.3)),
        mix(&["a", "c", "d"], [1.5, 1.1, 1.2], &runs(1.2, 1.5)),
    ]);
    let judgment = Judgment::of(&block, &names(&["smk"]));
    assert!(close(judgment.lines[1].over_smk, 2.8 / 2.2) && judgment.lines[1].over_smk.unwrap().mixes == 2);
    assert!(close(judgment.lines[1].decision_by_size[1], 0.0) && judgment.lines[1].decision_by_size[2].is_none());
}

/// A mechanism is judged by static choices with the same mechanism, O by those with any. A choice
/// without a static run has no decision regret.
#[test]
fn choices_have_their_mechanism() {
    let mut one = mix(&["a", "b"], [1.2, 1.3, 1.0], &[("smk", 1.1)]);
    one.statics.push(fixed("x=1", Choice::Config(vec![1, 1]), 1.6));
    one.statics.push(fixed("x=1", Choice::Config(vec![2, 1]), 2.0));
    one.runs.push((way("smk", "x=1"), run(1.5, &[1, 1])));
    let drained = Way { transition: "drain", ..way("warped-slicer", "") };
    one.runs.push((drained.clone(), Run { choice: Some(Choice::Split(vec![4, 4])), ..run(1.9, &[]) }));
    one.runs.push((way("cd-search", ""), Run { choice: Some(Choice::Split(vec![5, 3])), ..run(1.0, &[]) }));
    let regret = |way: &Way| one.decision_regret(way, Objective::Stp);
    assert!((regret(&way("smk", "")).unwrap() - 0.1 / 1.3).abs() < 1e-12);
    assert!((regret(&way("smk", "x=1")).unwrap() - 0.2).abs() < 1e-12);
    assert!((regret(&drained).unwrap() - 0.3 / 1.3).abs() < 1e-12);
    assert_eq!(regret(&way("cd-search", "")), None);
    assert_eq!(one.best(Objective::Stp, None).unwrap().0, 2.0);
    assert_eq!(one.best(Objective::Antt, Some("")).unwrap().1.choice, Choice::Config(vec![2, 1]));
    let block = block(vec![one]);
    let judgment = Judgment::of(&block, &names(&["smk", "warped-slicer"]));
    assert_eq!(judgment.base, Some(way("smk", "x=1")), "what drains is not B");
    let lines = &judgment.lines;
    assert!(close(lines[2].share, 0.8) && lines[2].share.unwrap().interval.is_none(), "of one mix nothing is known");
}

/// One kernel per mix, ten mixes, five with value 1 and five with 0. The number of ones in a
/// replicate is binomial with n 10 and p 1/2; its 2.5 and 97.5 % points are 2 and 8.
#[test]
fn one_kernel_to_a_mix_is_the_plain_bootstrap() {
    let mixes: Vec<Vec<String>> = (0..10).map(|at| vec![format!("k{at}")]).collect();
    let values: Vec<f64> = (0..10).map(|at| f64::from(at % 2)).collect();
    let resampled = Resampled::of(&mixes);
    assert_eq!(resampled.interval(|weights| mean(&values, weights)), Some((0.2, 0.8)));
    assert_eq!(resampled.interval(|weights| Some(weights.iter().sum())), Some((10.0, 10.0)));
    // A statistic defined in every second replicate is not enough, and one mix gives no interval.
    let seldom = |weights: &[f64]| (weights[0] > 0.0).then_some(1.0);
    assert_eq!((resampled.interval(seldom), Resampled::of(&mixes[..1]).interval(|_| Some(1.0))), (None, None));
}

/// Two kernels, in a mix each and in one together. In draws of two, the first occurs 0, 1 or 2
/// times, in 1, 2, 1 of four cases. So the weights of the mixes aa and bb are (0, 4), (1, 1), (4,
/// 0). The mix ab has weight in the middle case only.
#[test]
fn a_mix_counts_as_often_as_its_kernels_together() {
    let pair = |a: &str, b: &str| names(&[a, b]);
    let resampled = Resampled::of(&[pair("a", "a"), pair("b", "b"), pair("a", "b")]);
    let count = |wanted: [f64; 3]| {
        let found = std::cell::Cell::new(0);
        resampled.interval(|weights| {
            found.set(found.get() + usize::from(weights == wanted));
            Some(0.0)
        });
        found.get()
    };
    let [first, both, second] = [[4.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 4.0, 0.0]].map(count);
    assert_eq!(first + both + second, REPLICATES);
    // Four standard deviations of a binomial distribution.
    assert!(both.abs_diff(1_000) < 90 && first.abs_diff(500) < 78 && second.abs_diff(500) < 78, "{first} {both} {second}");
}

/// Returns the weighted mean of values.
fn mean(values: &[f64], weights: &[f64]) -> Option<f64> {
    Some(values.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f64>() / weights.iter().sum::<f64>())
}

/// Draws approximately normal numbers with a deviation of 1.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| (random.bits() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
}

/// 12 kernels in 24 pairs, with values that depend only on kernels. The interval contains 0 at
/// least as often as stated (the product of weights is conservative). Intervals for independent
/// mixes would contain it far less often, since the variance of the mean is nearly twice their
/// estimate.
#[test]
fn intervals_cover_where_kernels_decide() {
    let mut random = Random::new(7);
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    while pairs.len() < 24 {
        let (a, b) = (below(&mut random, 12), below(&mut random, 12));
        if a < b {
            pairs.insert((a, b));
        }
    }
    let mixes: Vec<Vec<String>> = pairs.iter().map(|(a, b)| vec![a.to_string(), b.to_string()]).collect();
    let resampled = Resampled::of(&mixes);
    let trials = 200;
    let covered = (0..trials).filter(|_| {
        let effects: Vec<f64> = (0..12).map(|_| normal(&mut random)).collect();
        let values: Vec<f64> = pairs.iter().map(|&(a, b)| effects[a] + effects[b]).collect();
        let (low, high) = resampled.interval(|weights| mean(&values, weights)).unwrap();
        low <= 0.0 && 0.0 <= high
    });
    let covered = covered.count();
    assert!(covered * 100 >= 88 * trials, "{covered} of {trials}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A constant over all mixes has no interval. The order of mixes changes only the order of
    /// sums, and the interval scales with the unit.
    #[test]
    fn constants_order_and_unit(seed: u64, constant in 0.1f64..10.0, unit in 0.1f64..10.0) {
        let mut random = Random::new(seed);
        let mixes: Vec<Vec<String>> = (0..9).map(|at| vec![at.to_string(), ((at + 1 + below(&mut random, 8)) % 9).to_string()]).collect();
        let values: Vec<f64> = (0..9).map(|_| 1.0 + normal(&mut random)).collect();
        let resampled = Resampled::of(&mixes);
        let (low, high) = resampled.interval(|weights| mean(&[constant; 9], weights)).unwrap();
        prop_assert!((low - constant).abs() < 1e-9 && (high - constant).abs() < 1e-9);
        let (low, high) = resampled.interval(|weights| mean(&values, weights)).unwrap();
        let turned: (Vec<_>, Vec<_>) = (mixes.into_iter().rev().collect(), values.iter().rev().map(|value| unit * value).collect());
        let (other_low, other_high) = Resampled::of(&turned.0).interval(|weights| mean(&turned.1, weights)).unwrap();
        prop_assert!(low <= high && (unit * low - other_low).abs() < 1e-9 && (unit * high - other_high).abs() < 1e-9);
    }

    /// Positions do not depend on the unit, and the distance is the same from either end.
    #[test]
    fn shares_are_free_of_units(own in 0.5f64..2.0, base in 0.5f64..1.0, above in 0.01f64..1.0, unit in 0.1f64..10.0) {
        let share = |unit: f64| {
            let block = block(vec![mix(&["a", "b"], [unit * (base + above), 0.0, 0.0], &[("smk", unit * base), ("mine", unit * own)])]);
            Judgment::of(&block, &names(&["smk"])).lines[1].share.unwrap().value
        };
        prop_assert!((share(1.0) - (own - base) / above).abs() < 1e-9 * (1.0 + 1.0 / above) && (share(1.0) - share(unit)).abs() < 1e-6);
    }
}

/// Every kernel of the library is in one family, and no family is in both sets. The thesis' seven
/// are in the set for making rules. Both sets have kernels of both types.
#[test]
fn kernels_are_divided_by_family() {
    let file = Kernels::built_in();
    let all = |set: Set| file.families(set).values().flatten().cloned().collect::<Vec<String>>();
    let (making, judged) = (all(Set::Making), all(Set::Judged));
    let mut every: Vec<&str> = making.iter().chain(&judged).map(String::as_str).collect();
    let mut library: Vec<&str> = kernels::names().collect();
    every.sort_unstable();
    library.sort_unstable();
    assert_eq!(every, library);
    assert!(file.making.keys().all(|family| !file.judged.contains_key(family)));
    for kernel in kernels::THESIS {
        assert!(making.iter().any(|name| name == kernel), "{kernel}");
    }
    for set in [&making, &judged] {
        let compute = |name: &&String| kernels::find(name).unwrap().kernel_type() == Some(kernels::KernelType::Compute);
        let count = set.iter().filter(compute).count();
        assert!(count >= 8 && set.len() - count >= 8);
    }
    assert_eq!(file.set_of(&names(&["mm:256", "fwt"])), Some(Set::Making));
    assert_eq!(file.set_of(&names(&["hs", "dwt2d:4096"])), Some(Set::Judged), "by whatever name");
    assert_eq!([file.set_of(&names(&["mm", "hs"])), file.set_of(&names(&["mine.toml"])), file.set_of(&[])], [None; 3]);
}
