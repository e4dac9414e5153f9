//! The banks whose next command may issue, found with bit sets instead of a look at each bank.
//!
//! A command waits for a bound of its bank, one of the bank's group and one of the channel. Busy banks are sorted by the command they
//! need; a bank is *held* until its own bound has passed, which is seen once per command, and the bounds of groups and channel are
//! compared once for all banks that are not held.
//!
//! Start reading with the plain twin, `candidates/plain.rs`, which looks at every bank.

use super::bank::{Group, Next, PerCommand};

/// Banks of a channel at most (`GpuConfig::check`): a bit each.
const MAX_BANKS: usize = 64;

/// The busy banks of a channel.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    /// Banks by the command that they need next, bit per bank.
    needs: [u64; 4],
    /// Banks whose own bound has not been seen to pass.
    held: u64,
    /// Own bounds of the held banks.
    own: [u64; MAX_BANKS],
    /// The first of them; [`u64::MAX`] if none is held.
    release_at: u64,
    groups: Vec<Group>,
    /// The banks of group 0; those of group `g` are `g` further.
    first_group: u64,
    /// The last bound of any group for a column command, and for a precharge.
    columns_until: u64,
    precharges_until: u64,
}

impl Candidates {
    /// No busy bank, of `banks` (at most 64) in `groups` groups; bank `b` is in group `b` mod `groups`.
    pub(super) fn new(banks: u32, groups: u32) -> Self {
        let first_group = (0..banks).step_by(groups as usize).fold(0, |set, bank| set | 1 << bank);
        Candidates {
            needs: [0; 4],
            held: 0,
            own: [0; MAX_BANKS],
            release_at: u64::MAX,
            groups: vec![Group::default(); groups as usize],
            first_group,
            columns_until: 0,
            precharges_until: 0,
        }
    }

    /// What is known of the groups.
    #[inline]
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The group of bank `b`; there is a power of two of them.
    #[inline]
    pub(super) fn group_of(&self, b: usize) -> &Group {
        &self.groups[b & (self.groups.len() - 1)]
    }

    /// The group of bank `b` has no column command before cycle `at`, which is not earlier than what was said before.
    #[inline]
    pub(super) fn hold_columns(&mut self, b: usize, at: u64) {
        let group = b & (self.groups.len() - 1);
        (self.groups[group].column_at, self.columns_until) = (at, at);
    }

    /// The group of bank `b` has no precharge before cycle `at`, which is not earlier than what was said before.
    #[inline]
    pub(super) fn hold_precharges(&mut self, b: usize, at: u64) {
        let group = b & (self.groups.len() - 1);
        (self.groups[group].precharge_at, self.precharges_until) = (at, at);
    }

    /// From cycle `t` on bank `b` needs `next`, which its own bound forbids before cycle `own`.
    #[inline]
    pub(super) fn set(&mut self, b: usize, next: Next, own: u64, t: u64) {
        let bit = 1 << b;
        self.remove(b);
        self.needs[next as usize] |= bit;
        self.own[b % MAX_BANKS] = own;
        self.held |= bit & later(own, t);
        self.release_at = self.release_at.min(own | !later(own, t));
    }

    /// Bank `b` needs nothing more.
    #[inline]
    pub(super) fn remove(&mut self, b: usize) {
        let others = !(1 << b);
        self.needs.iter_mut().for_each(|set| *set &= others);
        self.held &= others;
    }

    /// Lets go the banks whose own bound has passed in cycle `t`. Comes before the questions about that cycle.
    #[inline]
    pub(super) fn release(&mut self, t: u64) {
        if self.release_at > t {
            return;
        }
        self.release_at = u64::MAX;
        let mut rest = self.held;
        while rest != 0 {
            let b = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let own = self.own[b % MAX_BANKS];
            self.held &= later(own, t) | !(1 << b);
            self.release_at = self.release_at.min(own | !later(own, t));
        }
    }

    #[inline]
    fn free(&self, next: Next) -> u64 {
        self.needs[next as usize] & !self.held
    }

    /// The banks with a column command and those with a row command that may issue in cycle `t`, given the channel's bounds.
    #[inline]
    pub(super) fn ready(&self, t: u64, channel: &PerCommand) -> (u64, u64) {
        let allowed = |next| self.free(next) & !later(channel[next], t);
        let (mut columns, mut precharges) = (allowed(Next::Read) | allowed(Next::Write), self.free(Next::Precharge));
        if columns != 0 && self.columns_until > t {
            columns &= !self.members(|group| later(group.column_at, t));
        }
        if precharges != 0 && self.precharges_until > t {
            precharges &= !self.members(|group| later(group.precharge_at, t));
        }
        (columns, precharges | allowed(Next::Activate))
    }

    /// The banks of the groups for which `whether` gives all ones; it gives 0 for the others.
    #[inline]
    fn members(&self, whether: impl Fn(&Group) -> u64) -> u64 {
        let of_group = |(g, group): (usize, &Group)| self.first_group << g & whether(group);
        self.groups.iter().enumerate().map(of_group).fold(0, |set, members| set | members)
    }

    /// A cycle before which no command may issue, seen from cycle `t`, up to which [`Candidates::release`] has been called. It may be
    /// early: it asks only one bound of a held bank, and of a column command that waits for the channel. [`u64::MAX`] if no bank is
    /// busy.
    #[inline]
    pub(super) fn next_after(&self, t: u64, channel: &PerCommand) -> u64 {
        let of_channel = |next| channel[next] | never_if_empty(self.free(next));
        let mut column = of_channel(Next::Read).min(of_channel(Next::Write));
        if column <= t + 1 && self.columns_until > t + 1 {
            column = self.first_of(self.free(Next::Read) | self.free(Next::Write), |group| group.column_at);
        }
        let precharges = self.free(Next::Precharge);
        let mut precharge = never_if_empty(precharges);
        if precharges != 0 && self.precharges_until > t + 1 {
            precharge = self.first_of(precharges, |group| group.precharge_at);
        }
        column.min(precharge).min(of_channel(Next::Activate)).min(self.release_at).max(t + 1)
    }

    /// The first of the bounds of the groups of these banks.
    #[inline]
    fn first_of(&self, banks: u64, bound: impl Fn(&Group) -> u64) -> u64 {
        let of_group = |(g, group): (usize, &Group)| bound(group) | never_if_empty(self.first_group << g & banks);
        self.groups.iter().enumerate().map(of_group).fold(u64::MAX, u64::min)
    }
}

/// All ones if cycle `at` is later than `t`, else 0; both below 2^63. From the sign of the difference: a comparison would be compiled
/// to a branch.
#[inline]
fn later(at: u64, t: u64) -> u64 {
    (t.wrapping_sub(at) as i64 >> 63) as u64
}

/// All ones, later than all cycles, if `banks` is empty, else 0.
#[inline]
fn never_if_empty(banks: u64) -> u64 {
    u64::from(banks == 0).wrapping_neg()
}

#[cfg(test)]
mod plain;
#[cfg(test)]
mod tests;
