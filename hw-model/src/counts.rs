//! Sets of counts: added over SMs, subtracted over time, count by count. A counter that joins a set is one line there.

/// What is counted: a number, or a set of them.
pub(crate) trait Count {
    /// Adds what another counted.
    fn add(&mut self, other: &Self);

    /// What was counted since `before`, an earlier state of the same counters.
    #[must_use]
    fn since(&self, before: &Self) -> Self;
}

impl Count for u64 {
    fn add(&mut self, other: &u64) {
        *self += other;
    }

    fn since(&self, before: &u64) -> u64 {
        self - before
    }
}

impl<const N: usize> Count for [u64; N] {
    fn add(&mut self, other: &[u64; N]) {
        self.iter_mut().zip(other).for_each(|(mine, theirs)| *mine += theirs);
    }

    fn since(&self, before: &[u64; N]) -> [u64; N] {
        std::array::from_fn(|at| self[at] - before[at])
    }
}

/// Defines a struct of [`Count`]s, which is one itself.
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
        }
    };
}
pub(crate) use counts;
