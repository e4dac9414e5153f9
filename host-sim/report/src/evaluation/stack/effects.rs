//! What each of four levels brings, over all sixteen subsets: a full factorial in which each level is on or off (Box, Hunter and Hunter 2005, chapter 5; sources.md D206).
//! On logarithms, since levels multiply what there is and add nothing: an effect is a ratio.

use mias_lab::evaluate::paired::Ratio;

/// Levels.
pub(crate) const LEVELS: usize = 4;

/// Subsets of them.
pub(crate) const SUBSETS: usize = 1 << LEVELS;

/// A number for every subset: bit `n` of its place says whether level `n` is on. All positive.
pub(crate) type OfSubsets = [f64; SUBSETS];

/// What a level does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effect {
    /// With it over without it, nothing else on.
    pub(crate) alone: Option<Ratio>,
    /// With it over without it, in the geometric mean over what else is on.
    pub(crate) mean: Option<Ratio>,
    /// With it over without it, everything else on.
    pub(crate) last: Option<Ratio>,
}

/// With a level over without it, for each choice of the others.
fn changes(values: &OfSubsets, level: usize) -> impl Iterator<Item = f64> {
    (0..SUBSETS).filter(move |subset| subset >> level & 1 == 0).map(move |subset| values[subset | 1 << level] / values[subset])
}

fn geometric(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value.ln(), count + 1));
    (sum / f64::from(count.max(1))).exp()
}

/// Over cases, each with its own number for every subset.
fn over(cases: &[OfSubsets], of: impl Fn(&OfSubsets) -> f64) -> Option<Ratio> {
    Ratio::of(&cases.iter().map(|case| (of(case), 1.0)).collect::<Vec<_>>())
}

/// What a level does.
pub(crate) fn effect(cases: &[OfSubsets], level: usize) -> Effect {
    let all = SUBSETS - 1;
    Effect {
        alone: over(cases, |values| values[1 << level] / values[0]),
        mean: over(cases, |values| geometric(changes(values, level))),
        last: over(cases, |values| values[all] / values[all & !(1 << level)]),
    }
}

/// How much more a level does where another is on than where that is off: 1 where the two do not meet.
pub(crate) fn together(cases: &[OfSubsets], level: usize, other: usize) -> Option<Ratio> {
    over(cases, |values| {
        let neither = (0..SUBSETS).filter(|subset| subset >> level & 1 == 0 && subset >> other & 1 == 0);
        let (one, two) = (1 << level, 1 << other);
        geometric(neither.map(|subset| values[subset | one | two] * values[subset] / (values[subset | one] * values[subset | two])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Of levels that multiply by known factors, and of pairs that multiply by more where both are on: the effects are those factors. A level that is on in half of
        /// the others' choices has half of what a pair adds.
        #[test]
        fn effects_are_the_factors(factors in proptest::array::uniform4(0.5..2.0_f64), pair in 0.5..2.0_f64, base in 0.1..10.0_f64) {
            let value = |subset: usize| {
                let single = (0..LEVELS).filter(|level| subset >> level & 1 != 0).map(|level| factors[level]).product::<f64>();
                base * single * if subset & 0b101 == 0b101 { pair } else { 1.0 }
            };
            let values: OfSubsets = std::array::from_fn(value);
            let close = |found: Option<Ratio>, expected: f64| (found.unwrap().mean / expected - 1.0).abs() < 1e-9;
            for (level, factor) in factors.into_iter().enumerate() {
                let Effect { alone, mean, last } = effect(&[values], level);
                let in_pair = level == 0 || level == 2;
                prop_assert!(close(alone, factor));
                let (of_last, of_mean) = if in_pair { (pair, pair.sqrt()) } else { (1.0, 1.0) };
                prop_assert!(close(last, factor * of_last));
                prop_assert!(close(mean, factor * of_mean));
                for other in (0..LEVELS).filter(|other| *other != level) {
                    let expected = if in_pair && (other == 0 || other == 2) { pair } else { 1.0 };
                    prop_assert!(close(together(&[values], level, other), expected), "{level} {other}");
                }
            }
        }
    }

    #[test]
    fn of_no_case_nothing_is_known() {
        assert_eq!((effect(&[], 0).mean, together(&[], 0, 1)), (None, None));
    }
}
