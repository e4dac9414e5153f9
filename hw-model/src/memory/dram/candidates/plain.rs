//! Plain candidates: examines every bank. Start reading here. [`super::Candidates`] does the same
//! for all banks at once, with sets of banks in words of the host;
//! `agrees_with_a_look_at_every_bank` compares both.

use super::super::bank::{Next, PerCommand};

/// Next command of a busy bank, and the first cycle in which its own bound allows it.
pub(super) type Need = (Next, u64);

/// Banks of a channel with all bounds.
pub(super) struct PlainCandidates {
    /// Banks; none for one that is not busy.
    pub(super) banks: Vec<Option<Need>>,
    /// Bounds by group; bank `b` is in group `b` mod the number of groups.
    pub(super) groups: Vec<PerCommand>,
    /// Bounds of the channel.
    pub(super) channel: PerCommand,
}

impl PlainCandidates {
    pub(super) fn new(banks: usize, groups: usize) -> Self {
        PlainCandidates { banks: vec![None; banks], groups: vec![PerCommand::default(); groups], channel: PerCommand::default() }
    }

    /// Command of a bank that may issue in cycle `now`: all three bounds have passed.
    pub(super) fn ready(&self, bank: usize, now: u64) -> Option<Next> {
        let (next, own) = self.banks[bank]?;
        let of_group = self.groups[bank % self.groups.len()][next];
        let of_channel = self.channel[next];
        (own <= now && of_group <= now && of_channel <= now).then_some(next)
    }
}
