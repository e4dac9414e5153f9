//! Refresh: every tREFI all banks of a channel are refreshed together, and for tRFC no command may
//! issue (JEDEC JESD232 and JESD250, all-bank refresh). Off with `t_refi = 0`, as in GPGPU-Sim,
//! which does not refresh.
//!
//! When a refresh is due, the channel issues nothing else. All open banks are precharged in one
//! command as soon as each allows it. The refresh follows when tRP (and tRC) have passed in every
//! bank. Requests being served keep their banks and open their rows again. A late refresh does not
//! delay the next one; none is postponed or pulled in (assumption). There is no energy and no
//! temperature dependence.

use super::bank::{Bank, Group, Next};
use crate::config::DramTiming;

/// Action of a channel in a cycle in which a refresh is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Wait for a constraint.
    Waits,
    /// Precharge this set of banks.
    Precharge(u64),
    /// Refresh all banks.
    Refresh,
}

/// Refresh of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refresh {
    interval: u64,
    duration: u64,
    /// Due cycle of the next refresh; [`u64::MAX`] if refresh is off.
    due: u64,
}

impl Refresh {
    pub(super) fn new(timing: &DramTiming) -> Self {
        let interval = u64::from(timing.t_refi);
        Refresh { interval, duration: timing.t_rfc.into(), due: if interval == 0 { u64::MAX } else { interval } }
    }

    /// Due cycle of the next refresh.
    #[inline]
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    /// Runs cycle `t`, which must not be before [`Refresh::due`], and moves the banks' constraints.
    pub(super) fn step(&mut self, t: u64, banks: &mut [Bank], groups: &[Group], precharge_activate: u64) -> Step {
        let open = |bank: &Bank| bank.is_open;
        if banks.iter().any(open) {
            let group_of = |b: usize| b & (groups.len() - 1);
            let held = |(b, bank): (usize, &Bank)| bank.is_open && bank.at[Next::Precharge].max(groups[group_of(b)].precharge_at) > t;
            if banks.iter().enumerate().any(held) {
                return Step::Waits;
            }
            let mut precharged = 0;
            for (b, bank) in banks.iter_mut().enumerate().filter(|(_, bank)| bank.is_open) {
                bank.is_open = false;
                bank.at[Next::Activate] = bank.at[Next::Activate].max(t + precharge_activate);
                bank.plan();
                precharged |= 1 << b;
            }
            return Step::Precharge(precharged);
        }
        if banks.iter().any(|bank| bank.at[Next::Activate] > t) {
            return Step::Waits;
        }
        for bank in banks.iter_mut() {
            bank.at[Next::Activate] = t + self.duration;
        }
        self.due += self.interval;
        Step::Refresh
    }
}
