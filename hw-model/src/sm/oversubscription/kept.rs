//! One TB of an SM that is not switched, so that it ends whatever others wait for (the first way of Lin et al. 2018, section 6.3; sources.md
//! D162). Its warps keep their places until all have ended. Then all that it had goes to the next one first: until that is all in its place
//! nothing else comes into a place.

use super::super::Sm;
use super::super::tb::TbSlot;
use super::Oversubscription;
use super::plan::{Level, Plan};
use super::tables::State;
use crate::config::DeadlockAvoidance;

impl Oversubscription {
    /// Whether one TB is not switched: only where warps are, which can wait for others of their TB that are away.
    pub(super) fn keeps_one(&self) -> bool {
        // What it leaves is what the next one needs if both have as many warps on each sub-core.
        let even = |plan: &Plan| plan.level == Level::Warp && plan.warps.is_multiple_of(self.sub_cores);
        self.switched.is_some_and(|(_, plan)| even(&plan)) && self.config.deadlock == DeadlockAvoidance::OneTb
    }
}

impl Sm {
    /// Warps of a TB that are not in their places.
    fn away(&self, contexts: &Oversubscription, tb_slot: u8) -> usize {
        self.warps_of(Level::Tb, tb_slot).filter(|&number| contexts.is_away(number)).count()
    }

    /// Chooses the TB that is not switched, if there is none: the oldest that is all in its place, else the one of which the fewest are not. One that
    /// comes back may be it, or one would be chosen that never gets its places from it; one that leaves gives them up.
    pub(super) fn keep_one(&mut self) {
        let Some(contexts) = &self.oversubscription else { return };
        if !contexts.keeps_one() || contexts.kept.is_some() {
            return;
        }
        let stays = |&(tb_slot, tb): &(usize, &TbSlot)| tb.live && !tb.evicted && !contexts.is_leaving(tb_slot as u8);
        let tbs = self.tbs.iter().enumerate().filter(stays);
        let next = tbs.min_by_key(|&(tb_slot, tb)| (self.away(contexts, tb_slot as u8), tb.age)).map(|(tb_slot, _)| tb_slot as u8);
        if let Some(contexts) = &mut self.oversubscription {
            contexts.kept = next;
            // Who was to leave stays.
            let kept = |number: u8| next == Some(self.warps[number].tb_slot);
            for at in (0..contexts.stalled.len()).rev() {
                if kept(contexts.stalled[at]) {
                    let number = contexts.stalled.remove(at);
                    contexts.tables.go(number, State::Running);
                }
            }
        }
    }

    /// The TB that is not switched and is not all in its place yet.
    pub(super) fn comes_first(&self, contexts: &Oversubscription) -> Option<u8> {
        contexts.kept.filter(|&tb_slot| self.away(contexts, tb_slot) > 0)
    }

    /// A warp of that TB that waits for nothing but its place, and who changes places with it if nothing is free.
    pub(super) fn first_to_come(&mut self, plan: &Plan, tb_slot: u8) -> Option<(Option<u8>, u8)> {
        let mut warps = self.warps_of(Level::Tb, tb_slot);
        let contexts = self.oversubscription.as_ref()?;
        if contexts.is_pinned(tb_slot) {
            // It has not come back yet.
            return None;
        }
        let found = warps.find(|&number| contexts.is_away(number) && self.is_unblocked(number))?;
        let of = |number: u8| self.footprint(Level::Warp, number);
        let out = if contexts.has_room(plan, &of(found)) {
            None
        } else {
            Some(contexts.stalled.iter().copied().find(|&stalled| contexts.may_change(plan, &of(stalled), &of(found)))?)
        };
        let contexts = self.oversubscription.as_mut()?;
        if contexts.tables.warps[usize::from(found)].state == State::Absent {
            contexts.tables.go(found, State::Ready);
        }
        Some((out, found))
    }
}
