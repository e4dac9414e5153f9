//! Equations of the thesis in exact fractions of unbounded size, as printed, with averages per SM
//! (Nasef 2023, eq. 3.1 to 3.9).
//!
//! Fractions are never reduced: a case takes tens of operations, and one greatest common divisor
//! costs more than all of them.

use core::cmp::Ordering;
use core::iter::Sum;
use core::ops::{Add, Div, Mul, Neg, Sub};

use mias_firmware::configs::{RoundTotals, Sums};
use mias_firmware::metric::Score;
use num_bigint::{BigInt, Sign};

/// Exact fraction with a denominator above 0.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    numerator: BigInt,
    denominator: BigInt,
}

/// Converts a whole number.
pub(crate) fn ratio(value: impl Into<BigInt>) -> Exact {
    Exact { numerator: value.into(), denominator: 1.into() }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Exact {}

impl Neg for Exact {
    type Output = Self;
    fn neg(self) -> Self {
        Self { numerator: -self.numerator, ..self }
    }
}

/// Defines an operation on owned or borrowed fractions from the one on references.
macro_rules! operation {
    ($trait:ident, $method:ident, $of:expr) => {
        impl $trait<&Exact> for &Exact {
            type Output = Exact;
            fn $method(self, other: &Exact) -> Exact {
                let of: fn(&Exact, &Exact) -> Exact = $of;
                of(self, other)
            }
        }
        impl $trait<&Exact> for Exact {
            type Output = Exact;
            fn $method(self, other: &Exact) -> Exact {
                (&self).$method(other)
            }
        }
        impl $trait for Exact {
            type Output = Exact;
            fn $method(self, other: Exact) -> Exact {
                (&self).$method(&other)
            }
        }
        impl $trait<Exact> for &Exact {
            type Output = Exact;
            fn $method(self, other: Exact) -> Exact {
                self.$method(&other)
            }
        }
    };
}

operation!(Add, add, |one, other| Exact {
    numerator: &one.numerator * &other.denominator + &other.numerator * &one.denominator,
    denominator: &one.denominator * &other.denominator,
});
operation!(Sub, sub, |one, other| one + -other.clone());
operation!(Mul, mul, |one, other| Exact {
    numerator: &one.numerator * &other.numerator,
    denominator: &one.denominator * &other.denominator,
});
operation!(Div, div, |one, other| {
    assert_ne!(other.numerator.sign(), Sign::NoSign, "divided by zero");
    let quotient = Exact { numerator: &one.numerator * &other.denominator, denominator: &one.denominator * &other.numerator };
    if quotient.denominator.sign() == Sign::Minus {
        Exact { numerator: -quotient.numerator, denominator: -quotient.denominator }
    } else {
        quotient
    }
});

impl Sum for Exact {
    fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
        values.fold(ratio(0), |sum, value| sum + value)
    }
}

/// Converts a score to the fraction that is compared.
pub(crate) fn exact(score: &Score) -> Exact {
    ratio(score.numerator.to_u128()) / ratio(score.denominator.to_u128())
}

/// Averages over a configuration's SMs, and over all SMs of the round.
pub(crate) struct Means {
    pub(crate) cycles: Exact,
    pub(crate) issue: Exact,
    pub(crate) stall: Exact,
    pub(crate) load_requests: Exact,
    pub(crate) instructions: Exact,
    pub(crate) outstanding: Exact,
    pub(crate) all_outstanding: Exact,
    pub(crate) sms: Exact,
}

pub(crate) fn means(sums: &Sums, totals: &RoundTotals) -> Means {
    let mean = |sum: u64| ratio(sum) / ratio(sums.sms);
    Means {
        cycles: mean(sums.cycles.into()),
        issue: mean(sums.issue_cycles.into()),
        stall: mean(sums.memory_stall_cycles.into()),
        load_requests: mean(sums.load_requests.into()),
        instructions: mean(sums.instructions.into()),
        outstanding: mean(sums.outstanding_misses),
        all_outstanding: ratio(totals.outstanding_misses),
        sms: ratio(totals.sms),
    }
}

/// Limits a denominator in cycles to at least the cycles with an issue, and at least one.
fn clamped(cycles: Exact, m: &Means) -> Exact {
    cycles.max(m.issue.clone()).max(ratio(1))
}

pub(crate) fn reference_ipc(m: &Means) -> Exact {
    m.instructions.clone() / clamped(m.cycles.clone(), m)
}

pub(crate) fn reference_ipm_ipc(m: &Means) -> Exact {
    m.instructions.clone() / m.load_requests.clone().max(ratio(1)) * reference_ipc(m)
}

pub(crate) fn reference_factor(m: &Means) -> Exact {
    let f = if m.all_outstanding == ratio(0) { ratio(1) } else { &m.outstanding * &m.sms / &m.all_outstanding };
    m.instructions.clone() / clamped(&m.cycles + &m.stall * (f - ratio(1)), m)
}

pub(crate) fn reference_linear(m: &Means, coefficient_q16: u32, literal: bool) -> Exact {
    let coefficient = ratio(coefficient_q16) / ratio(1 << 16);
    let bracket = &m.outstanding * &m.sms - &m.all_outstanding;
    let delta = coefficient * bracket / if literal { ratio(1) } else { m.sms.clone() };
    m.instructions.clone() / clamped(&m.cycles + delta.max(-m.stall.clone()), m)
}
