//! Banks whose next command may issue, found with bit sets instead of a loop over the banks.
//!
//! A command waits for a bound of its bank, one of the bank's group and one of the channel. Busy
//! banks are sorted by their next command. A bank is *held* until its own bound has passed, which
//! is checked once per command. The bounds of groups and channel are compared once for all banks
//! that are not held.
//!
//! Start reading with the plain twin, `candidates/plain.rs`, which examines every bank.

use super::bank::{Group, Next, PerCommand};

/// Maximum number of banks of a channel (`GpuConfig::check`), one bit each.
const MAX_BANKS: usize = 64;

/// Busy banks of a channel.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    /// Sets of banks by their next command.
    needs: [u64; 4],
    /// Set of banks whose own bound has not been seen to pass.
    held: u64,
    /// Own bounds of the held banks.
    own: [u64; MAX_BANKS],
    /// Earliest own bound of the held banks; [`u64::MAX`] if no bank is held.
    release_at: u64,
    groups: Vec<Group>,
    /// Set of the banks of group 0; those of group `g` are shifted by `g`.
    first_group: u64,
    /// Latest bound of any group for a column command, and for a precharge.
    columns_until: u64,
    precharges_until: u64,
}

impl Candidates {
    /// Creates candidates without a busy bank, of `banks` (at most 64) in `groups` groups; bank `b`
    /// is in group `b` mod `groups`.
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

    /// State of the groups.
    #[inline]
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Group of bank `b`; the number of groups is a power of two.
    #[inline]
    pub(super) fn group_of(&self, b: usize) -> &Group {
        &self.groups[b & (self.groups.len() - 1)]
    }

    /// Forbids column commands of the group of bank `b` before cycle `at`, which must not be
    /// earlier than the previous bound.
    #[inline]
    pub(super) fn hold_columns(&mut self, b: usize, at: u64) {
        let group = b & (self.groups.len() - 1);
        (self.groups[group].column_at, self.columns_until) = (at, at);
    }

    /// Forbids precharges of the group of bank `b` before cycle `at`, which must not be earlier
    /// than the previous bound.
    #[inline]
    pub(super) fn hold_precharges(&mut self, b: usize, at: u64) {
        let group = b & (self.groups.len() - 1);
        (self.groups[group].precharge_at, self.precharges_until) = (at, at);
    }

    /// Sets the next command of bank `b` from cycle `t` on; its own bound forbids it before cycle
    /// `own`.
    #[inline]
    pub(super) fn set(&mut self, b: usize, next: Next, own: u64, t: u64) {
        let bit = 1 << b;
        self.remove(b);
        self.needs[next as usize] |= bit;
        self.own[b % MAX_BANKS] = own;
        self.held |= bit & later(own, t);
        self.release_at = self.release_at.min(own | !later(own, t));
    }

    /// Removes bank `b`.
    #[inline]
    pub(super) fn remove(&mut self, b: usize) {
        let others = !(1 << b);
        self.needs.iter_mut().for_each(|set| *set &= others);
        self.held &= others;
    }

    /// Releases the banks whose own bound has passed in cycle `t`. Call it before the queries for
    /// that cycle.
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

    /// Sets of banks with a column command and with a row command that may issue in cycle `t`, for
    /// these bounds of the channel.
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

    /// Banks of the groups for which `whether` returns all ones; it returns 0 for the others.
    #[inline]
    fn members(&self, whether: impl Fn(&Group) -> u64) -> u64 {
        let of_group = |(g, group): (usize, &Group)| self.first_group << g & whether(group);
        self.groups.iter().enumerate().map(of_group).fold(0, |set, members| set | members)
    }

    /// Cycle before which no command may issue, seen from cycle `t`, up to which
    /// [`Candidates::release`] has been called. It may be too early, since it uses only one bound
    /// of a held bank, and of a column command that waits for the channel. [`u64::MAX`] if no bank
    /// is busy.
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

    /// Earliest bound of the groups of these banks.
    #[inline]
    fn first_of(&self, banks: u64, bound: impl Fn(&Group) -> u64) -> u64 {
        let of_group = |(g, group): (usize, &Group)| bound(group) | never_if_empty(self.first_group << g & banks);
        self.groups.iter().enumerate().map(of_group).fold(u64::MAX, u64::min)
    }
}

/// All ones if cycle `at` is later than `t`, else 0; both below 2^63. It uses the sign of the
/// difference, since a comparison would be compiled to a branch.
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
