//! Sets of counters, added over SMs and subtracted over time, element by element. A new counter of
//! a set is one line there.

use std::num::NonZeroU64;

/// A number, or a set of numbers, that is counted.
pub(crate) trait Count {
    /// Adds the counts of another.
    fn add(&mut self, other: &Self);

    /// Difference from `before`, an earlier state of the same counters.
    #[must_use]
    fn since(&self, before: &Self) -> Self;

    /// Extrapolation by `rest` cycles at the rate of the `span` cycles since `before`, rounded to
    /// the nearest.
    #[must_use]
    fn extended(&self, before: &Self, rest: u64, span: NonZeroU64) -> Self;
}

impl Count for u64 {
    fn add(&mut self, other: &u64) {
        *self += other;
    }

    fn since(&self, before: &u64) -> u64 {
        self - before
    }

    fn extended(&self, before: &u64, rest: u64, span: NonZeroU64) -> u64 {
        let span = u128::from(span.get());
        let more = (u128::from(self - before) * u128::from(rest) + span / 2) / span;
        self.saturating_add(u64::try_from(more).unwrap_or(u64::MAX))
    }
}

impl<const N: usize> Count for [u64; N] {
    fn add(&mut self, other: &[u64; N]) {
        self.iter_mut().zip(other).for_each(|(mine, theirs)| *mine += theirs);
    }

    fn since(&self, before: &[u64; N]) -> [u64; N] {
        std::array::from_fn(|at| self[at] - before[at])
    }

    fn extended(&self, before: &[u64; N], rest: u64, span: NonZeroU64) -> [u64; N] {
        std::array::from_fn(|at| self[at].extended(&before[at], rest, span))
    }
}

/// Defines a struct of [`Count`]s that implements [`Count`].
macro_rules! counts {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $count:ident: $kind:ty,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $count: $kind,)+
        }

        impl $crate::counts::Count for $name {
            fn add(&mut self, other: &Self) {
                $($crate::counts::Count::add(&mut self.$count, &other.$count);)+
            }

            fn since(&self, before: &Self) -> Self {
                $name { $($count: $crate::counts::Count::since(&self.$count, &before.$count),)+ }
            }

            fn extended(&self, before: &Self, rest: u64, span: std::num::NonZeroU64) -> Self {
                $name { $($count: $crate::counts::Count::extended(&self.$count, &before.$count, rest, span),)+ }
            }
        }
    };
}
pub(crate) use counts;
