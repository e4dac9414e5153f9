//! Launch order of the kernels of a run.

use crate::fit::Need;
use clap::ValueEnum;
use std::cmp::Reverse;

/// Rule for the launch order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// The kernel with the most shared memory per TB first; of equals, as the set is written
    #[default]
    MostShared,
    /// The reverse of `most-shared`
    MostSharedLast,
    /// As the set is written
    Written,
    /// The reverse of `written`
    Reversed,
}

impl Order {
    /// Returns the description for the table's head.
    pub fn sentence(self) -> &'static str {
        match self {
            Order::MostShared => "the kernel with most shared memory per TB is launched first",
            Order::MostSharedLast => "the kernel with most shared memory per TB is launched last",
            Order::Written => "kernels are launched in the order of their set",
            Order::Reversed => "kernels are launched in the reverse order of their set",
        }
    }

    /// Returns the indices of the kernels in launch order.
    pub fn of(self, needs: &[Need]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..needs.len()).collect();
        if matches!(self, Order::MostShared | Order::MostSharedLast) {
            order.sort_by_key(|&number| Reverse(needs[number].shared));
        }
        if matches!(self, Order::MostSharedLast | Order::Reversed) {
            order.reverse();
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_its_reverse() {
        let needs = [64, 4160, 64, 584].map(|shared| Need { threads: 32, registers: 16, shared });
        assert_eq!(Order::MostShared.of(&needs), [1, 3, 0, 2]);
        assert_eq!(Order::Written.of(&needs), [0, 1, 2, 3]);
        for (one, other) in [(Order::MostShared, Order::MostSharedLast), (Order::Written, Order::Reversed)] {
            let turned: Vec<usize> = one.of(&needs).into_iter().rev().collect();
            assert_eq!(other.of(&needs), turned);
            assert_ne!(one.sentence(), other.sentence());
        }
    }
}
