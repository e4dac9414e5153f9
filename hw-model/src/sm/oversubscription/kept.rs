//! Kept TB: one TB of an SM that is not switched, so that it ends regardless of the waits of others
//! (the first way of Lin et al. 2018, section 6.3; sources.md D162).
//!
//! Its warps keep their places until all have ended. Then its places go to the next kept TB first.
//! Nothing else moves into a place until that TB is completely in place.

use super::super::Sm;
use super::super::tb::TbSlot;
use super::Oversubscription;
use super::plan::{Level, Plan};
use super::tables::State;
use crate::config::DeadlockAvoidance;

impl Oversubscription {
    /// True if one TB is not switched: only where warps are switched, which can wait for absent
    /// warps of their TB.
    pub(super) fn keeps_one(&self) -> bool {
        // Its places are sufficient for the next kept TB if both have equally many warps on each
        // sub-core.
        let even = |plan: &Plan| plan.level == Level::Warp && plan.warps.is_multiple_of(self.sub_cores);
        self.switched.is_some_and(|(_, plan)| even(&plan)) && self.config.deadlock == DeadlockAvoidance::OneTb
    }
}

impl Sm {
    /// Number of warps of a TB that are not in place.
    fn away(&self, oversubscription: &Oversubscription, tb_slot: u8) -> usize {
        self.warps_of(Level::Tb, tb_slot).filter(|&number| oversubscription.is_away(number)).count()
    }

    /// Chooses the kept TB, if there is none: the oldest that is completely in place, else the one
    /// with the fewest absent warps.
    ///
    /// A TB that returns may be chosen, since a chosen one would otherwise never get its places. A
    /// TB that leaves releases its places.
    pub(super) fn keep_one(&mut self) {
        let Some(oversubscription) = &self.oversubscription else { return };
        if !oversubscription.keeps_one() || oversubscription.kept.is_some() {
            return;
        }
        let stays = |&(tb_slot, tb): &(usize, &TbSlot)| tb.live && !tb.evicted && !oversubscription.is_leaving(tb_slot as u8);
        let tbs = self.tbs.iter().enumerate().filter(stays);
        let next = tbs.min_by_key(|&(tb_slot, tb)| (self.away(oversubscription, tb_slot as u8), tb.age)).map(|(tb_slot, _)| tb_slot as u8);
        if let Some(oversubscription) = &mut self.oversubscription {
            oversubscription.kept = next;
            // A warp of the kept TB that was to be switched out stays.
            let kept = |number: u8| next == Some(self.warps[number].tb_slot);
            for at in (0..oversubscription.stalled.len()).rev() {
                if kept(oversubscription.stalled[at]) {
                    let number = oversubscription.stalled.remove(at);
                    oversubscription.tables.go(number, State::Running);
                }
            }
        }
    }

    /// Kept TB, if it is not completely in place yet.
    pub(super) fn comes_first(&self, oversubscription: &Oversubscription) -> Option<u8> {
        oversubscription.kept.filter(|&tb_slot| self.away(oversubscription, tb_slot) > 0)
    }

    /// Ready warp of the TB in `tb_slot`, and the warp that it swaps places with if none is free.
    pub(super) fn first_to_come(&mut self, plan: &Plan, tb_slot: u8) -> Option<(Option<u8>, u8)> {
        let mut warps = self.warps_of(Level::Tb, tb_slot);
        let oversubscription = self.oversubscription.as_ref()?;
        if oversubscription.is_pinned(tb_slot) {
            // The TB has not returned yet.
            return None;
        }
        let found = warps.find(|&number| oversubscription.is_away(number) && self.is_unblocked(number))?;
        let of = |number: u8| self.footprint(Level::Warp, number);
        let out = if oversubscription.has_room(plan, &of(found)) {
            None
        } else {
            Some(oversubscription.stalled.iter().copied().find(|&stalled| oversubscription.may_change(plan, &of(stalled), &of(found)))?)
        };
        let oversubscription = self.oversubscription.as_mut()?;
        if oversubscription.tables.warps[usize::from(found)].state == State::Absent {
            oversubscription.tables.go(found, State::Ready);
        }
        Some((out, found))
    }
}
