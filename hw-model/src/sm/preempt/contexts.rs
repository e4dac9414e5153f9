//! Moves of TB contexts off an SM and back: their starts, and the handling of their arrivals
//! (sources.md D133). The transport is in [`super::traffic`].

use super::traffic::{TAG_CONTEXT, Way};
use super::{LeftTb, SETTLE_CYCLES, State};
use crate::memory::Port;
use crate::sm::Sm;
use crate::sm::tb::TbSlot;

impl Sm {
    /// Starts fetching the context of a TB that has returned. False if it has none; then it may
    /// start at once.
    pub(in crate::sm) fn fetches_context(&mut self, tb_slot: usize, now: u64) -> bool {
        let Some(preemption) = &mut self.preemption else { return false };
        let Some(place) = preemption.place_of(tb_slot) else { return false };
        if let Some(resident) = preemption.resident_mut(place) {
            resident.state = State::Comes;
        }
        preemption.begin(place, Way::In, &self.tbs[tb_slot], now);
        self.pin_context(tb_slot, false);
        true
    }

    /// Moves contexts; TBs whose context has arrived leave or continue.
    #[cold]
    #[inline(never)]
    pub(in crate::sm) fn move_contexts(&mut self, now: u64, port: &mut Port<'_>) {
        let Some(preemption) = &mut self.preemption else { return };
        preemption.traffic.cycle(port);
        self.go_if_settled(now);
        self.next_switch(now);
        self.end_issued(now, now + 1);
        while let Some((place, way)) = self.preemption.as_mut().and_then(|preemption| preemption.traffic.take_arrived(now)) {
            self.context_arrived(place.into(), way, now);
        }
    }

    fn context_arrived(&mut self, place: usize, way: Way, now: u64) {
        let Some(preemption) = &mut self.preemption else { return };
        let Some(resident) = preemption.resident_mut(place) else { return };
        let tb_slot = usize::from(resident.tb_slot);
        match way {
            Way::In => {
                resident.state = State::Runs;
                let TbSlot { first_warp, warps, .. } = self.tbs[tb_slot];
                self.unpin_context(tb_slot);
                for number in first_warp..first_warp + warps {
                    if self.warps[number].live && self.is_in_place(number) {
                        self.fetch_first(number, now);
                    }
                }
            }
            Way::Out => {
                let (saved, stopped) = (resident.saved.take(), resident.stopped);
                let kernel = self.tbs[tb_slot].kernel;
                preemption.gone(place);
                if let Some(tb) = saved {
                    preemption.left.push(LeftTb { kernel, tb: *tb, stopped });
                }
                self.evict(tb_slot, now + 1);
            }
        }
    }

    /// Handles the answer to a context request, visible from cycle `from` on.
    #[cold]
    #[inline(never)]
    pub(in crate::sm) fn context_answered(&mut self, tag: u32, from: u64) {
        if let Some(preemption) = &mut self.preemption {
            preemption.traffic.answered((tag & !TAG_CONTEXT) as u8, from);
        }
    }

    /// Next cycle after `now` with an internal event of context moves.
    pub(in crate::sm) fn next_context(&self, now: u64) -> Option<u64> {
        let preemption = self.preemption.as_ref()?;
        let stops = preemption.next_to_stop().map(|_| now + 1);
        let settles = preemption.residents.iter().flatten().filter_map(|resident| match resident.state {
            State::Settles(since) => Some((since + SETTLE_CYCLES).max(now + 1)),
            _ => None,
        });
        stops.into_iter().chain(settles).chain(preemption.traffic.next_event(now)).min()
    }
}
