//! Pinned TBs: their contexts stay in place, since they leave the SM or return to it through memory
//! (sm/preempt; sources.md D198). A leaving TB keeps its storage until it has left, and a returning
//! one is not switched until it is back.

use super::super::Sm;
use super::super::warp::Warps;
use super::Oversubscription;
use super::plan::Level;
use super::tables::State;

impl Oversubscription {
    /// True if a TB's context is pinned.
    pub(super) fn is_pinned(&self, tb_slot: u8) -> bool {
        self.pinned >> (tb_slot % 64) & 1 != 0
    }

    /// True if a TB leaves the SM.
    pub(super) fn is_leaving(&self, tb_slot: u8) -> bool {
        self.leaving >> (tb_slot % 64) & 1 != 0
    }

    /// True if a warp's places are released with those of its TB, and not at the end of the warp.
    pub(super) fn holds(&self, tb_slot: u8) -> bool {
        self.kept == Some(tb_slot) || self.is_pinned(tb_slot)
    }
}

/// True if a unit, a warp or a TB, belongs to the TB in a slot.
fn is_of(warps: &Warps, level: Level, unit: u8, tb_slot: usize) -> bool {
    match level {
        Level::Warp => usize::from(warps[unit].tb_slot) == tb_slot,
        Level::Tb => usize::from(unit) == tb_slot,
    }
}

impl Sm {
    /// True if a context of the TB is moving between its place and spare storage.
    pub(in crate::sm) fn moves_context_of(&self, tb_slot: usize) -> bool {
        let Some(oversubscription) = &self.oversubscription else { return false };
        let Some((_, plan)) = oversubscription.switched else { return false };
        let of = |unit: u8| is_of(&self.warps, plan.level, unit, tb_slot);
        oversubscription.moving.is_some_and(|moving| moving.out.is_some_and(of) || moving.into.is_some_and(of))
    }

    /// Pins the TB's context, since it leaves or returns. None of it may be moving
    /// ([`Sm::moves_context_of`]).
    pub(in crate::sm) fn pin_context(&mut self, tb_slot: usize, leaves: bool) {
        let Some(mut oversubscription) = self.oversubscription.take() else { return };
        oversubscription.pinned |= 1 << (tb_slot % 64);
        if leaves {
            oversubscription.leaving |= 1 << (tb_slot % 64);
            oversubscription.kept = oversubscription.kept.filter(|&kept| usize::from(kept) != tb_slot);
        }
        if let Some((_, plan)) = oversubscription.switched {
            oversubscription.stalled.retain(|&unit| !is_of(&self.warps, plan.level, unit, tb_slot));
            oversubscription.ready.retain(|&unit| !is_of(&self.warps, plan.level, unit, tb_slot));
            for number in self.warps_of(Level::Tb, tb_slot as u8) {
                let entry = oversubscription.tables.warps[usize::from(number)];
                if entry.valid && entry.state == State::Stalled {
                    oversubscription.tables.go(number, State::Running);
                }
            }
            oversubscription.look = true;
        }
        self.oversubscription = Some(oversubscription);
        self.keep_one();
    }

    /// Unpins the TB's context, which may be switched again.
    pub(in crate::sm) fn unpin_context(&mut self, tb_slot: usize) {
        if let Some(oversubscription) = &mut self.oversubscription {
            oversubscription.pinned &= !(1 << (tb_slot % 64));
            oversubscription.look = true;
        }
        self.keep_one();
    }
}
