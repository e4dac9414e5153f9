//! Memory stage: runs the SM's load/store unit, handles the events of warps, and passes it the
//! oldest memory instruction with all operands.

use super::inflight::NO_REG;
use super::lsu::{Done, Surroundings};
use super::warp::Wait;
use super::{Programs, Sm};
use crate::memory::Port;

impl Sm {
    /// Runs the load/store unit if it has work, and passes it the next instruction.
    #[inline(always)]
    pub(super) fn load_store<const PLAIN: bool>(&mut self, now: u64, programs: &Programs, port: &mut Port<'_>) {
        if self.lsu_wake <= now {
            let sub_core_mask = self.sub_core_mask;
            let mut around = Surroundings { port, programs, counters: &mut self.kernels, operands: &mut self.operands, sub_core_mask };
            self.counters.lsu_stall_cycles += u64::from(self.lsu.cycle(now, &mut around));
            self.lsu_wake = self.lsu.next_event(now).unwrap_or(u64::MAX);
            self.outstanding = self.lsu.outstanding();
            if !self.lsu.done.is_empty() {
                self.memory_events(programs);
            }
            if !PLAIN {
                self.note_misses();
                self.memory_served();
            }
        }
        let mut waiting = self.operands.mem_full();
        if waiting == 0 || !self.lsu.is_free() {
            return;
        }
        // The oldest memory instruction of all sub-cores goes first.
        let mut oldest: Option<(u32, usize)> = None;
        while waiting != 0 {
            let number = waiting.trailing_zeros() as usize;
            waiting &= waiting - 1;
            let seq = self.operands.peek_mem(number).seq;
            if oldest.is_none_or(|(other, _)| seq < other) {
                oldest = Some((seq, number));
            }
        }
        if let Some((_, sub_core)) = oldest {
            let inst = self.operands.take_mem(sub_core);
            let warp = &self.warps[inst.warp];
            if let Some(program) = programs.get(warp.kernel) {
                self.lsu.accept(inst, warp.kernel, self.part(warp), program);
                self.lsu_wake = now + 1;
            }
        }
    }

    /// Handles the events of warps' instructions in this cycle.
    #[inline(never)]
    fn memory_events(&mut self, programs: &Programs) {
        for at in 0..self.lsu.done.len() {
            let event = self.lsu.done[at];
            if self.takes_extra {
                self.note_arrival(event);
            }
            if let Some((warp, dst)) = self.memory_event(event, programs) {
                self.complete::<true>(warp, dst);
            }
        }
        self.lsu.done.clear();
    }

    /// Handles one event. Returns the warp and the written register if the instruction is complete.
    #[inline]
    fn memory_event(&mut self, event: Done, programs: &Programs) -> Option<(u8, u16)> {
        match event {
            Done::Loaded { warp, dst } => Some((warp, dst)),
            Done::Atomic { warp, dst } => {
                let state = &mut self.warps[warp];
                state.atomics -= 1;
                if state.atomics == 0 && state.wait == Wait::Atomic {
                    state.wait = Wait::None;
                    self.refresh(warp, programs);
                }
                Some((warp, dst))
            }
            Done::Passed { warp } => Some((warp, NO_REG)),
            Done::Fenced { warp } => {
                let state = &mut self.warps[warp];
                if state.wait == Wait::Fence {
                    state.wait = if state.stores == 0 { Wait::None } else { Wait::Drain };
                    self.refresh(warp, programs);
                }
                Some((warp, NO_REG))
            }
            Done::StoreSent { warp } => {
                self.warps[warp].stores += 1;
                None
            }
            Done::StoreAcknowledged { warp } => {
                let state = &mut self.warps[warp];
                state.stores -= 1;
                if state.stores == 0 && state.wait == Wait::Drain {
                    state.wait = Wait::None;
                    self.refresh(warp, programs);
                }
                self.may_leave(warp);
                None
            }
        }
    }
}
