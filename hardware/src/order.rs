//! In which order the kernels of a run are launched.

use crate::fit::Need;
use clap::ValueEnum;
use std::cmp::Reverse;

/// A rule for the order of launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// Who needs most shared memory per TB first; of equals, as the set is written
    #[default]
    MostShared,
    /// The reverse of that
    MostSharedLast,
    /// As the set is written
    Written,
    /// The reverse of that
    Reversed,
}

impl Order {
    /// What the table's head says of it.
    pub fn sentence(self) -> &'static str {
        match self {
            Order::MostShared => "who needs most shared memory per TB is launched first",
            Order::MostSharedLast => "who needs most shared memory per TB is launched last",
            Order::Written => "kernels are launched as their set is written",
            Order::Reversed => "kernels are launched in the reverse of how their set is written",
        }
    }

    /// Places of the kernels, the first to be launched first.
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
