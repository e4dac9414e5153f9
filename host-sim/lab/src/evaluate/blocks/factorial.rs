//! Effects of factors that are on or off, over all combinations: a full factorial (Box, Hunter and
//! Hunter 2005, chapter 5; sources.md D206). Effects are ratios, computed on logarithms, since
//! factors multiply.

use super::Block;
use super::expression::Value;
use super::rows::Row;
use crate::evaluate::paired::Ratio;
use std::collections::BTreeMap;

/// Effect of one factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Ratio with the factor over without it, all other factors off.
    pub alone: Option<Ratio>,
    /// Ratio with the factor over without it, in the geometric mean over the other factors.
    pub mean: Option<Ratio>,
    /// Ratio with the factor over without it, all other factors on.
    pub last: Option<Ratio>,
}

/// Quantity under every combination of factors: bit `n` of an index tells whether factor `n` is on.
#[derive(Clone, Debug)]
pub struct Factorial {
    /// Name of the quantity.
    pub name: String,
    /// Number of factors.
    pub factors: usize,
    /// Values of each complete case under every combination, all positive.
    pub cases: Vec<Vec<f64>>,
}

/// Key of a case, and its rows by combination.
type Case<'r, 'e> = (Vec<Option<Value>>, BTreeMap<usize, &'r Row<'e>>);

fn geometric(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value.ln(), count + 1));
    (sum / f64::from(count.max(1))).exp()
}

impl Factorial {
    /// Returns the number of combinations.
    pub fn combinations(&self) -> usize {
        1 << self.factors
    }

    fn over_cases(&self, of: impl Fn(&[f64]) -> f64) -> Option<Ratio> {
        Ratio::of(&self.cases.iter().map(|case| (of(case), 1.0)).collect::<Vec<_>>())
    }

    /// Returns the ratio of a combination to the one with all factors off.
    pub fn over_none(&self, combination: usize) -> Option<Ratio> {
        self.over_cases(|values| values[combination] / values[0])
    }

    /// Returns the effect of a factor.
    pub fn effect(&self, factor: usize) -> Effect {
        let (all, bit) = (self.combinations() - 1, 1 << factor);
        let without = || (0..=all).filter(move |combination| combination & bit == 0);
        Effect {
            alone: self.over_none(bit),
            mean: self.over_cases(|values| geometric(without().map(|others| values[others | bit] / values[others]))),
            last: self.over_cases(|values| values[all] / values[all & !bit]),
        }
    }

    /// Returns the interaction of two factors: the effect of one with the other on, over its effect
    /// with the other off; 1 without interaction.
    pub fn together(&self, factor: usize, other: usize) -> Option<Ratio> {
        let (one, two) = (1 << factor, 1 << other);
        self.over_cases(|values| {
            let neither = (0..values.len()).filter(|combination| combination & (one | two) == 0);
            geometric(neither.map(|rest| values[rest | one | two] * values[rest] / (values[rest | one] * values[rest | two])))
        })
    }
}

impl Block {
    /// Returns the name of a combination of factors.
    pub fn combination(&self, combination: usize) -> String {
        let on = self.factors.iter().enumerate().filter(|(at, _)| combination >> at & 1 != 0);
        let on: Vec<&str> = on.map(|(_, factor)| factor.name.as_str()).collect();
        if on.is_empty() { "none".to_owned() } else { on.join(" + ") }
    }

    /// Returns each of the block's values under every combination of its factors.
    pub fn factorial(&self, rows: &[Row<'_>]) -> Vec<Factorial> {
        let combination = |row: &Row<'_>| {
            let on = self.factors.iter().enumerate().filter(|(_, factor)| factor.value.holds(row));
            on.fold(0, |combination, (at, _)| combination | 1_usize << at)
        };
        let mut cases: Vec<Case<'_, '_>> = Vec::new();
        for row in rows {
            let key: Vec<Option<Value>> = self.by.iter().map(|by| by.of_one(row)).collect();
            let at = cases.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                cases.push((key, BTreeMap::new()));
                cases.len() - 1
            });
            cases[at].1.entry(combination(row)).or_insert(row);
        }
        let factors = self.factors.len();
        let of_case = |runs: &BTreeMap<usize, &Row<'_>>, value: &super::Named| {
            let of = |combination: usize| value.value.of_one(runs.get(&combination)?)?.number().filter(|value| *value > 0.0);
            (0..1 << factors).map(of).collect::<Option<Vec<f64>>>()
        };
        let factorial = |value: &super::Named| Factorial {
            name: value.name.clone(),
            factors,
            cases: cases.iter().filter_map(|(_, runs)| of_case(runs, value)).collect(),
        };
        self.values.iter().map(factorial).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FACTORS: usize = 4;

    proptest! {
        /// Factors multiply by known numbers, and one pair by more if both are on: the effects are
        /// those numbers. A factor includes half of the pair's interaction in its mean effect.
        #[test]
        fn effects_are_the_factors(factors in proptest::array::uniform4(0.5..2.0_f64), pair in 0.5..2.0_f64, base in 0.1..10.0_f64) {
            let value = |combination: usize| {
                let single = (0..FACTORS).filter(|factor| combination >> factor & 1 != 0).map(|factor| factors[factor]).product::<f64>();
                base * single * if combination & 0b101 == 0b101 { pair } else { 1.0 }
            };
            let all = Factorial { name: String::new(), factors: FACTORS, cases: vec![(0..1 << FACTORS).map(value).collect()] };
            let close = |found: Option<Ratio>, expected: f64| (found.unwrap().mean / expected - 1.0).abs() < 1e-9;
            for (at, factor) in factors.into_iter().enumerate() {
                let Effect { alone, mean, last } = all.effect(at);
                let in_pair = at == 0 || at == 2;
                prop_assert!(close(alone, factor));
                let (of_last, of_mean) = if in_pair { (pair, pair.sqrt()) } else { (1.0, 1.0) };
                prop_assert!(close(last, factor * of_last));
                prop_assert!(close(mean, factor * of_mean));
                for other in (0..FACTORS).filter(|other| *other != at) {
                    let expected = if in_pair && (other == 0 || other == 2) { pair } else { 1.0 };
                    prop_assert!(close(all.together(at, other), expected), "{at} {other}");
                }
            }
        }
    }

    #[test]
    fn of_no_case_nothing_is_known() {
        let none = Factorial { name: String::new(), factors: FACTORS, cases: Vec::new() };
        assert_eq!((none.effect(0).mean, none.together(0, 1)), (None, None));
    }
}
