//! TBs whose contexts stay where they are, since they leave the SM or come back to it by way of memory (sm/preempt; sources.md D198): until a TB
//! has gone it holds all that its context lies in, and until it is back it is not switched.

use super::super::Sm;
use super::super::warp::Warps;
use super::Oversubscription;
use super::plan::Level;
use super::tables::State;

impl Oversubscription {
    /// Whether a TB's context stays where it is.
    pub(super) fn is_pinned(&self, tb_slot: u8) -> bool {
        self.pinned >> (tb_slot % 64) & 1 != 0
    }

    /// Whether a TB leaves the SM.
    pub(super) fn is_leaving(&self, tb_slot: u8) -> bool {
        self.leaving >> (tb_slot % 64) & 1 != 0
    }

    /// Whether what a warp of a TB has is given up with the TB's, and not when the warp has ended.
    pub(super) fn holds(&self, tb_slot: u8) -> bool {
        self.kept == Some(tb_slot) || self.is_pinned(tb_slot)
    }
}

/// Whether what is switched, a warp or a TB, is of the TB in a slot.
fn is_of(warps: &Warps, level: Level, unit: u8, tb_slot: usize) -> bool {
    match level {
        Level::Warp => usize::from(warps[unit].tb_slot) == tb_slot,
        Level::Tb => usize::from(unit) == tb_slot,
    }
}

impl Sm {
    /// Whether a context of the TB is on its way between its place and another.
    pub(in crate::sm) fn moves_context_of(&self, tb_slot: usize) -> bool {
        let Some(contexts) = &self.oversubscription else { return false };
        let Some((_, plan)) = contexts.switched else { return false };
        let of = |unit: u8| is_of(&self.warps, plan.level, unit, tb_slot);
        contexts.moving.is_some_and(|moving| moving.out.is_some_and(of) || moving.into.is_some_and(of))
    }

    /// From now on the TB's context stays where it is, since it leaves or comes back. None of it is on its way ([`Sm::moves_context_of`]).
    pub(in crate::sm) fn pin_context(&mut self, tb_slot: usize, leaves: bool) {
        let Some(mut contexts) = self.oversubscription.take() else { return };
        contexts.pinned |= 1 << (tb_slot % 64);
        if leaves {
            contexts.leaving |= 1 << (tb_slot % 64);
            contexts.kept = contexts.kept.filter(|&kept| usize::from(kept) != tb_slot);
        }
        if let Some((_, plan)) = contexts.switched {
            contexts.stalled.retain(|&unit| !is_of(&self.warps, plan.level, unit, tb_slot));
            contexts.ready.retain(|&unit| !is_of(&self.warps, plan.level, unit, tb_slot));
            for number in self.warps_of(Level::Tb, tb_slot as u8) {
                let entry = contexts.tables.warps[usize::from(number)];
                if entry.valid && entry.state == State::Stalled {
                    contexts.tables.go(number, State::Running);
                }
            }
            contexts.look = true;
        }
        self.oversubscription = Some(contexts);
        self.keep_one();
    }

    /// The TB's context may be switched from now on.
    pub(in crate::sm) fn unpin_context(&mut self, tb_slot: usize) {
        if let Some(contexts) = &mut self.oversubscription {
            contexts.pinned &= !(1 << (tb_slot % 64));
            contexts.look = true;
        }
        self.keep_one();
    }
}
