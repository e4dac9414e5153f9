//! States of warps, and the queues of those that wait for a switch (Lin et al. 2018, sections 6.5
//! and 6.6, figure 9; sources.md D162). A warp whose queue is full keeps its state and is examined
//! again.

use super::super::Sm;
use super::plan::{Level, Plan};
use super::tables::State;
use super::{MAX_WARPS, Oversubscription};

/// Members of a set in round-robin order after `last`.
fn behind(set: u128, last: u8) -> impl Iterator<Item = u8> {
    let from = (u32::from(last) + 1) % MAX_WARPS as u32;
    let mut left = set.rotate_right(from);
    std::iter::from_fn(move || {
        let at = (left != 0).then(|| left.trailing_zeros())?;
        left &= left - 1;
        Some(((at + from) % MAX_WARPS as u32) as u8)
    })
}

impl Sm {
    /// Updates the states of warps and the queues.
    pub(super) fn follow_states(&mut self, plan: &Plan) {
        let Some(mut oversubscription) = self.oversubscription.take() else { return };
        let level = plan.level;
        let places = Oversubscription::queue_places(level);
        // A stalled warp whose wait is over continues to run.
        let mut at = 0;
        while at < oversubscription.stalled.len() {
            let unit = oversubscription.stalled[at];
            if self.is_unit_stalled(&oversubscription, level, unit) {
                at += 1;
                continue;
            }
            oversubscription.stalled.remove(at);
            for number in self.warps_of(level, unit).filter(|&number| self.warps[number].live) {
                oversubscription.tables.go(number, State::Running);
            }
        }
        self.find_ready(&mut oversubscription, level, places);
        if oversubscription.stalled.len() < places {
            self.find_stalled(&mut oversubscription, level, places);
        }
        self.oversubscription = Some(oversubscription);
    }

    /// Queues absent warps whose wait is over.
    fn find_ready(&self, oversubscription: &mut Oversubscription, level: Level, places: usize) {
        let leaving = oversubscription.moving.and_then(|moving| moving.out);
        match level {
            Level::Warp => {
                let away = oversubscription.tables.away();
                for number in behind(away, oversubscription.last_ready) {
                    if oversubscription.ready.len() == places {
                        break;
                    }
                    let comes = oversubscription.moving.is_some_and(|moving| moving.into == Some(number));
                    let stays = oversubscription.is_pinned(self.warps[number].tb_slot);
                    if stays || leaving == Some(number) || comes || oversubscription.ready.contains(&number) || !self.is_unblocked(number) {
                        continue;
                    }
                    if oversubscription.tables.warps[usize::from(number)].state == State::Absent {
                        oversubscription.tables.go(number, State::Ready);
                    }
                    oversubscription.ready.push(number);
                    oversubscription.last_ready = number;
                }
            }
            Level::Tb => {
                for tb_slot in 0..self.tbs.len() as u8 {
                    let entry = oversubscription.tables.tbs[usize::from(tb_slot)];
                    let tb = &self.tbs[usize::from(tb_slot)];
                    let away =
                        |oversubscription: &Oversubscription| self.warps_of(level, tb_slot).any(|number| oversubscription.is_away(number));
                    if !entry.valid
                        || !tb.live
                        || oversubscription.is_pinned(tb_slot)
                        || leaving == Some(tb_slot)
                        || !away(oversubscription)
                    {
                        continue;
                    }
                    for number in self.warps_of(level, tb_slot) {
                        let warp = &oversubscription.tables.warps[usize::from(number)];
                        if warp.valid && warp.state == State::Absent && self.is_unblocked(number) {
                            oversubscription.tables.go(number, State::Ready);
                        }
                    }
                    let comes = oversubscription.moving.is_some_and(|moving| moving.into == Some(tb_slot));
                    if !comes
                        && oversubscription.ready.len() < places
                        && !oversubscription.ready.contains(&tb_slot)
                        && self.is_tb_ready(tb_slot)
                    {
                        oversubscription.ready.push(tb_slot);
                    }
                }
            }
        }
    }

    /// Queues warps that wait for a long event.
    fn find_stalled(&self, oversubscription: &mut Oversubscription, level: Level, places: usize) {
        let candidates = match level {
            Level::Warp => oversubscription.tables.of_state(|state| state == State::Running),
            Level::Tb => {
                let tbs = self.tbs.iter().zip(oversubscription.tables.tbs.iter()).enumerate();
                tbs.filter(|(_, (tb, entry))| tb.live && entry.valid).fold(0, |set, (tb_slot, _)| set | 1 << tb_slot)
            }
        };
        for unit in behind(candidates, oversubscription.last_stalled) {
            if oversubscription.stalled.len() == places {
                break;
            }
            let runs = |number: u8| {
                let warp = &oversubscription.tables.warps[usize::from(number)];
                !warp.valid || warp.state == State::Running
            };
            if !self.warps_of(level, unit).all(runs) || !self.is_unit_stalled(oversubscription, level, unit) {
                continue;
            }
            for number in self.warps_of(level, unit).filter(|&number| self.warps[number].live) {
                oversubscription.tables.go(number, State::Stalled);
            }
            oversubscription.stalled.push(unit);
            oversubscription.last_stalled = unit;
        }
    }
}
