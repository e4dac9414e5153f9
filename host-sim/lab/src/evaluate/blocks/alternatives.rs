//! Comparison of two alternatives per group, and a rule that predicts the better one from counters
//! of isolated runs (own). For sharing SMs against dividing them, the question is that of Maestro,
//! Park et al. 2017, and of Zhao et al. 2018, section 7.5.
//!
//! An alternative's value is that of its best policy in hindsight, so only the choice of the
//! alternative is judged. The rule is one threshold on one counter, so that few groups suffice to
//! fit it. It is judged on groups that share no kernel with its training groups.

use super::expression::Value;
use super::rows::{Row, Wanted, rows};
use super::{Block, Source};
use crate::evaluate::names::family;
use crate::evaluate::results::Evaluation;
use std::collections::{BTreeMap, BTreeSet};

/// Function that combines the counters of a group's kernels into one number.
type Combination = (&'static str, fn(&[f64]) -> f64);

const COMBINATIONS: [Combination; 3] = [
    ("largest", |all| all.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
    ("smallest", |all| all.iter().copied().fold(f64::INFINITY, f64::min)),
    ("mean", |all| all.iter().sum::<f64>() / all.len().max(1) as f64),
];

/// Rule that selects the first or the second alternative by a threshold on one number of the group.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule {
    /// Indices into the lists of combinations and counters; `None` selects [`Rule::above`] always.
    of: Option<(usize, usize)>,
    threshold: f64,
    /// Alternative above the threshold; below it, the other.
    above: usize,
}

impl Rule {
    fn choice(&self, case: &Case) -> usize {
        match self.of {
            Some(of) if case.number(of).is_none_or(|number| number <= self.threshold) => 1 - self.above,
            _ => self.above,
        }
    }

    /// Describes the rule in words.
    fn told(&self, alternatives: &[String], counters: &[&str]) -> String {
        let [above, below] = [self.above, 1 - self.above].map(|at| &alternatives[at]);
        let Some((combination, counter)) = self.of else { return format!("always {above}") };
        format!("{above} if the {} of {} is above {:.3}, else {below}", COMBINATIONS[combination].0, counters[counter], self.threshold)
    }
}

/// A group with the value of each alternative.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Values of `by`.
    pub names: Vec<String>,
    /// Best policy of each alternative with its value; `None` if no policy of it ran.
    pub best: Vec<Option<(String, f64)>>,
    /// Families of its kernels, without inputs.
    families: BTreeSet<String>,
    /// Every counter of every kernel; `None` where unknown.
    counters: Vec<Vec<Option<f64>>>,
}

impl Case {
    fn value(&self, alternative: usize) -> f64 {
        self.best.get(alternative).and_then(Option::as_ref).map_or(0.0, |(_, value)| *value)
    }

    /// Returns an alternative's value over the better of the first two.
    pub fn share(&self, alternative: usize) -> Option<f64> {
        let most = self.value(0).max(self.value(1));
        (most > 0.0).then(|| self.value(alternative) / most)
    }

    /// Returns the better of the first two alternatives; the first on a tie.
    pub fn right(&self) -> usize {
        usize::from(self.value(1) > self.value(0))
    }

    fn number(&self, (combination, counter): (usize, usize)) -> Option<f64> {
        let numbers: Option<Vec<f64>> = self.counters.iter().map(|of_kernel| of_kernel[counter]).collect();
        numbers.map(|numbers| COMBINATIONS[combination].1(&numbers))
    }
}

/// Fits the rule that attains the largest mean fraction of the better alternative over groups. Ties
/// go to the first rule, and to constant rules first.
fn learn(cases: &[&Case]) -> Option<Rule> {
    let attained = |rule: &Rule| cases.iter().filter_map(|case| case.share(rule.choice(case))).sum::<f64>();
    let always = [0, 1].map(|above| Rule { of: None, threshold: 0.0, above });
    let counters = cases.first()?.counters.first().map_or(0, Vec::len);
    let asking = (0..COMBINATIONS.len()).flat_map(|combination| (0..counters).map(move |counter| (combination, counter)));
    let asking = asking.flat_map(|of| {
        let mut numbers: Vec<f64> = cases.iter().filter_map(|case| case.number(of)).filter(|number| number.is_finite()).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        let between: Vec<f64> = numbers.windows(2).map(|two| f64::midpoint(two[0], two[1])).collect();
        between.into_iter().flat_map(move |threshold| [0, 1].map(|above| Rule { of: Some(of), threshold, above }))
    });
    let rules = always.into_iter().chain(asking).map(|rule| (attained(&rule), rule));
    // Sums of the same fractions in the same order are equal to the bit.
    let best = rules.fold(None, |best: Option<(f64, Rule)>, one| if best.is_none_or(|best| one.0 > best.0) { Some(one) } else { best });
    best.map(|(_, rule)| rule)
}

/// Quality of one method of choosing an alternative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attained {
    /// Number of groups for which it chose the better alternative.
    pub right: usize,
    /// Number of groups.
    pub groups: usize,
    /// Mean attained fraction of the better alternative, over groups.
    pub share: f64,
}

impl Attained {
    fn of(chosen: &[(&Case, usize)]) -> Attained {
        let shares: Vec<f64> = chosen.iter().filter_map(|(case, choice)| case.share(*choice)).collect();
        Attained {
            right: chosen.iter().filter(|(case, choice)| case.right() == *choice).count(),
            groups: shares.len(),
            share: shares.iter().sum::<f64>() / shares.len().max(1) as f64,
        }
    }
}

/// Comparison of the alternatives by one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Name of the value.
    pub name: String,
    /// Names of the alternatives; a rule chooses between the first two.
    pub alternatives: Vec<String>,
    /// Groups that ran under both alternatives.
    pub cases: Vec<Case>,
    /// Quality of always choosing the first, and of always choosing the second.
    pub always: [Attained; 2],
    /// Quality of a rule fitted for each group on the groups that share no kernel with it; groups
    /// without such others are left out.
    pub rule: Attained,
    /// Quality of choosing the alternative that is better for most of the other groups, on the same
    /// groups.
    pub majority: Attained,
    /// Rule fitted on all groups, in words.
    pub of_all: Option<String>,
}

impl Judged {
    fn of(name: &str, alternatives: Vec<String>, cases: Vec<Case>, counters: &[&str]) -> Self {
        let always = [0, 1].map(|choice| Attained::of(&cases.iter().map(|case| (case, choice)).collect::<Vec<_>>()));
        let (mut by_rule, mut by_majority) = (Vec::new(), Vec::new());
        for case in &cases {
            let others: Vec<&Case> = cases.iter().filter(|other| other.families.is_disjoint(&case.families)).collect();
            let Some(rule) = learn(&others) else { continue };
            by_rule.push((case, rule.choice(case)));
            let first = others.iter().filter(|other| other.right() == 0).count();
            by_majority.push((case, usize::from(2 * first < others.len())));
        }
        let (rule, majority) = (Attained::of(&by_rule), Attained::of(&by_majority));
        let of_all = learn(&cases.iter().collect::<Vec<_>>()).map(|rule| rule.told(&alternatives, counters));
        Judged { name: name.to_owned(), always, rule, majority, of_all, alternatives, cases }
    }
}

impl Block {
    /// Compares the block's alternatives, the values of `series`, by each of its values; empty with
    /// fewer than two.
    pub fn alternatives(&self, evaluation: &Evaluation) -> Vec<Judged> {
        let rows_of = self.rows(evaluation);
        let Some(series) = &self.series else { return Vec::new() };
        let mut alternatives: Vec<Value> = Vec::new();
        rows_of.iter().filter_map(|row| series.of_one(row)).for_each(|value| {
            if !alternatives.contains(&value) {
                alternatives.push(value);
            }
        });
        let wanted = Wanted { rows: Source::Kernels, points: None, experiments: &self.experiments, condition: None };
        let kernels = rows(evaluation, &evaluation.plan.report.published, wanted, &BTreeMap::new());
        let mut groups: Vec<(Vec<String>, Vec<&Row<'_>>)> = Vec::new();
        for row in &rows_of {
            let names: Vec<String> = self.by.iter().map(|by| by.of_one(row).map_or_else(String::new, |name| name.to_string())).collect();
            match groups.iter_mut().find(|(known, _)| *known == names) {
                Some((_, members)) => members.push(row),
                None => groups.push((names, vec![row])),
            }
        }
        let case = |value: &super::Expression, (names, members): &(Vec<String>, Vec<&Row<'_>>)| {
            let best = |alternative: &Value| {
                let of_it = members.iter().filter(|row| series.of_one(row).as_ref() == Some(alternative));
                let values = of_it.filter_map(|row| Some((row.get("policy")?.to_string(), value.of_one(row)?.number()?)));
                // Ties go to the first.
                values.reduce(|best, one| if one.1 > best.1 { one } else { best })
            };
            let group = members.first()?.get("group")?.to_string();
            let of_kernel = |name: &str| {
                let alone = kernels
                    .iter()
                    .find(|row| std::ptr::eq(row.study(), members[0].study()) && row.get("kernel") == Some(Value::Text(name.to_owned())));
                self.factors.iter().map(|counter| counter.value.of_one(alone?)?.number()).collect::<Vec<_>>()
            };
            let case = Case {
                names: names.clone(),
                best: alternatives.iter().map(best).collect(),
                families: group.split('+').map(|name| family(name).to_owned()).collect(),
                counters: group.split('+').map(of_kernel).collect(),
            };
            (case.best.iter().take(2).flatten().count() == 2 && case.share(0).is_some()).then_some(case)
        };
        let counters: Vec<&str> = self.factors.iter().map(|counter| counter.name.as_str()).collect();
        let names: Vec<String> = alternatives.iter().map(Value::to_string).collect();
        let judged = |value: &super::Named| {
            let cases = groups.iter().filter_map(|group| case(&value.value, group)).collect();
            Judged::of(&value.name, names.clone(), cases, &counters)
        };
        if names.len() < 2 { Vec::new() } else { self.values.iter().map(judged).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Creates a group of one kernel with one counter and a value for either alternative.
    fn case(name: &str, number: f64, first: f64, second: f64) -> Case {
        Case {
            names: vec![name.into()],
            best: vec![Some(("smk".into(), first)), Some(("spatial".into(), second))],
            families: BTreeSet::from([family(name).to_owned()]),
            counters: vec![vec![Some(number)]],
        }
    }

    /// Above 0.5 the second is worth twice as much, below it half. One threshold is right
    /// everywhere; each constant choice loses a quarter on average.
    #[test]
    fn a_threshold_that_is_there_is_found() {
        let cases: Vec<Case> = [("a", 0.1), ("b", 0.3), ("c", 0.7), ("d", 0.9)]
            .map(|(name, number)| if number > 0.5 { case(name, number, 1.0, 2.0) } else { case(name, number, 2.0, 1.0) })
            .to_vec();
        let rule = learn(&cases.iter().collect::<Vec<_>>()).expect("there are groups");
        assert!((rule.threshold - 0.5).abs() < 1e-9 && rule.of == Some((0, 0)), "{rule:?}");
        let judged = Judged::of("STP", ["inside", "beside"].map(str::to_owned).to_vec(), cases, &["misses"]);
        assert_eq!(judged.always[0], Attained { right: 2, groups: 4, share: 0.75 });
        assert_eq!((judged.rule.right, judged.rule.groups), (4, 4));
        let words =
            ["beside if the largest of misses is above 0.500, else inside", "inside if the largest of misses is above 0.500, else beside"];
        assert!(judged.of_all.is_some_and(|rule| words.contains(&rule.as_str())));
    }

    /// A constant rule needs no counter if one alternative is always better.
    #[test]
    fn what_is_always_so_needs_no_counter() {
        let cases = [case("a", 0.1, 1.0, 3.0), case("b", 0.9, 1.0, 2.0)];
        let rule = learn(&cases.iter().collect::<Vec<_>>()).expect("there are groups");
        assert_eq!((rule.of, rule.above), (None, 1));
        assert_eq!(rule.told(&["inside".into(), "beside".into()], &[]), "always beside");
        assert_eq!(learn(&[]), None);
    }

    proptest! {
        /// On its training groups, a rule attains no less than either constant choice, and never
        /// more than all.
        #[test]
        fn a_rule_is_no_worse_than_either_on_its_own_groups(
            cases in prop::collection::vec((0.0..1.0_f64, 0.1..3.0_f64, 0.1..3.0_f64), 1..12)
        ) {
            let cases: Vec<Case> = cases.into_iter().map(|(number, first, second)| case("a", number, first, second)).collect();
            let all: Vec<&Case> = cases.iter().collect();
            let attained = |choice: &dyn Fn(&Case) -> usize| Attained::of(&all.iter().map(|case| (*case, choice(case))).collect::<Vec<_>>());
            let rule = learn(&all).unwrap();
            let learned = attained(&|case| rule.choice(case)).share;
            prop_assert!(learned <= 1.0 + 1e-12);
            for alternative in [0, 1] {
                prop_assert!(learned >= attained(&|_| alternative).share - 1e-12);
            }
        }
    }
}
