//! Read-only report of the last decision, for explanations on the host.

use crate::configs::{ConfigTable, Entry, Origin, TbVector};
use crate::metric::Score;
use crate::policy::Policy;

/// A tried configuration.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'a> {
    /// Vector, position, round, replicas (`sums.sms`, those that finished) and summed counters.
    pub entry: &'a Entry,
    /// Score; none if no SM finished its window, or the policy does not rank.
    pub score: Option<Score>,
    /// Whether the configuration was broadcast.
    pub won: bool,
}

/// Report of the last rescheduling.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a, P, const C: usize> {
    policy: &'a P,
    table: &'a ConfigTable<C>,
    winner: Option<TbVector>,
    reschedulings: u32,
}

impl<'a, P: Policy, const C: usize> Report<'a, P, C> {
    pub(super) fn new(policy: &'a P, table: &'a ConfigTable<C>, winner: Option<TbVector>, reschedulings: u32) -> Self {
        Self { policy, table, winner, reschedulings }
    }

    /// Returns the configurations that were profiled, or placed without profiling, in the order of
    /// rounds and then lexicographically.
    pub fn tried(&self) -> impl Iterator<Item = Tried<'a>> + use<'a, P, C> {
        let Self { policy, table, winner, .. } = *self;
        table.tried().iter().enumerate().map(move |(index, entry)| Tried {
            entry,
            score: policy.score(table, index),
            won: winner == Some(entry.vector),
        })
    }

    /// Returns the configuration that profiling chose; none without profiling or before its end.
    #[must_use]
    pub fn winner(&self) -> Option<TbVector> {
        self.winner
    }

    /// Returns whether profiling ended with the placement of [`Report::origin`] instead of a
    /// configuration for all SMs.
    #[must_use]
    pub fn settled(&self) -> bool {
        self.table.settled()
    }

    /// Returns the number of all configurations, tried or not; 0 for policies that do not profile.
    #[must_use]
    pub fn total_configs(&self) -> u32 {
        self.table.total()
    }

    /// Returns the slots of the kernels: element `k` is the slot of the vectors' component `k`.
    #[must_use]
    pub fn slots(&self) -> &'a [u8] {
        self.table.slots()
    }

    /// Returns whether the policy itself or a fallback placed the configurations.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.table.origin()
    }

    /// Returns the number of reschedulings so far.
    #[must_use]
    pub fn reschedulings(&self) -> u32 {
        self.reschedulings
    }
}
