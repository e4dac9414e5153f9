//! Permitted values of a size or a setting.

use super::expression::Scope;
use super::place::{DescriptionError, Formula};

/// A set of integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    /// Exactly these values.
    OneOf(Vec<i64>),
    /// Values of a range.
    Range(Box<Range>),
}

/// A range of integers, restricted by `only`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// Smallest value.
    pub(super) from: Formula,
    /// Largest value; `None` leaves the limit to the rest of the description.
    pub(super) to: Option<Formula>,
    /// Restriction within the range.
    pub(super) only: Only,
}

/// Restriction on the integers of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Only {
    /// All integers.
    All,
    /// Multiples of a number.
    MultiplesOf(Formula),
    /// Powers of two.
    PowersOfTwo,
}

impl Bounds {
    /// Returns the description of the permitted values, as in `a multiple of 16, from 16 to 32768;
    /// 256 by default`.
    pub(super) fn described(&self, default: &Formula) -> String {
        let text = |formula: &Formula| formula.expression.text().to_owned();
        let values = match self {
            Bounds::OneOf(values) => values.iter().map(i64::to_string).collect::<Vec<_>>().join(" or "),
            Bounds::Range(range) => {
                let kind = match &range.only {
                    Only::All => String::new(),
                    Only::MultiplesOf(step) => format!("a multiple of {}, ", text(step)),
                    Only::PowersOfTwo => "a power of two ".into(),
                };
                let from = text(&range.from);
                match &range.to {
                    Some(to) => format!("{kind}from {from} to {}", text(to)),
                    None => format!("{kind}at least {from}"),
                }
            }
        };
        format!("{values}; {} by default", text(default))
    }

    /// Checks `value`: `None` if it is permitted, and otherwise a message such as `must be a
    /// multiple of 16, from 16 to 32768`.
    ///
    /// # Errors
    /// [`DescriptionError`] if a bound cannot be evaluated.
    pub(super) fn refuse(&self, value: i64, scope: &Scope) -> Result<Option<String>, DescriptionError> {
        let Range { from, to, only } = match self {
            Bounds::OneOf(values) if values.contains(&value) => return Ok(None),
            Bounds::OneOf(values) => {
                let values: Vec<String> = values.iter().map(i64::to_string).collect();
                return Ok(Some(format!("must be {}", values.join(" or "))));
            }
            Bounds::Range(range) => &**range,
        };
        let least = from.value(scope)?;
        let most = to.as_ref().map(|to| to.value(scope)).transpose()?;
        let (fits, kind) = match only {
            Only::All => (true, String::new()),
            Only::MultiplesOf(step) => {
                let number = step.value(scope)?;
                let name = step.expression.names().next().map_or_else(String::new, |_| format!(" (`{}`)", step.expression.text()));
                (number > 0 && value % number == 0, format!("a multiple of {number}{name}, "))
            }
            Only::PowersOfTwo => (u64::try_from(value).is_ok_and(u64::is_power_of_two), "a power of two ".into()),
        };
        if fits && value >= least && most.is_none_or(|most| value <= most) {
            return Ok(None);
        }
        Ok(Some(match most {
            Some(most) => format!("must be {kind}from {least} to {most}"),
            None => format!("must be {kind}at least {least}"),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::expression::Expression;
    use crate::kernels::place::Place;
    use proptest::prelude::*;

    fn formula(text: &str) -> Formula {
        Formula { expression: Expression::parse(text).unwrap(), place: Place::of("k") }
    }

    fn range(from: &str, to: Option<&str>, only: Only) -> Bounds {
        Bounds::Range(Box::new(Range { from: formula(from), to: to.map(formula), only }))
    }

    fn refused(bounds: &Bounds, value: i64) -> Option<String> {
        let mut scope = Scope::default();
        scope.set("bodies", 768);
        bounds.refuse(value, &scope).unwrap()
    }

    #[test]
    fn what_is_possible_is_said() {
        let multiples = |step| range("16", Some("32768"), Only::MultiplesOf(formula(step)));
        for (bounds, value, message) in [
            (multiples("16"), 17, "must be a multiple of 16, from 16 to 32768"),
            (multiples("bodies"), 1024, "must be a multiple of 768 (`bodies`), from 16 to 32768"),
            (range("1024", Some("4096"), Only::PowersOfTwo), 1000, "must be a power of two from 1024 to 4096"),
            (range("1", Some("16"), Only::All), 0, "must be from 1 to 16"),
            (range("1", None, Only::All), 0, "must be at least 1"),
            (Bounds::OneOf(vec![512, 2048]), 1024, "must be 512 or 2048"),
        ] {
            assert_eq!(refused(&bounds, value).as_deref(), Some(message));
        }
    }

    #[test]
    fn what_is_possible_is_described() {
        let step = Only::MultiplesOf(formula("16"));
        for (bounds, words) in [
            (range("16", Some("32768"), step), "a multiple of 16, from 16 to 32768; 64 by default"),
            (range("1024", Some("4 * bodies"), Only::PowersOfTwo), "a power of two from 1024 to 4 * bodies; 64 by default"),
            (range("1", None, Only::All), "at least 1; 64 by default"),
            (Bounds::OneOf(vec![64, 512]), "64 or 512; 64 by default"),
        ] {
            assert_eq!(bounds.described(&formula("64")), words);
        }
    }

    proptest! {
        /// Compares with the definition, in 128 bits.
        #[test]
        fn values_are_in_the_range_or_not(value in -5_000i64..5_000, from in -100i64..100, to in -100i64..4_000, step in -4i64..300) {
            let [least, most] = [from, to].map(|bound| bound.to_string());
            let within = (from..=to).contains(&value);
            prop_assert_eq!(refused(&range(&least, Some(&most), Only::All), value).is_none(), within);
            let multiple = step > 0 && i128::from(value).rem_euclid(i128::from(step)) == 0;
            let multiples = range(&least, Some(&most), Only::MultiplesOf(formula(&step.to_string())));
            prop_assert_eq!(refused(&multiples, value).is_none(), within && multiple);
            let power = (0..63).any(|exponent| value == 1 << exponent);
            prop_assert_eq!(refused(&range(&least, Some(&most), Only::PowersOfTwo), value).is_none(), within && power);
        }
    }
}
