//! Cycle of an SM: its stages in the order of `mod.rs`, and its next event (sources.md D57, D109).
//!
//! The cycle is compiled twice, without and with optional mechanisms (fetch, context moves, gates
//! of memory instructions). So a mechanism that is off costs no check.

use super::Sm;
use super::inflight::NO_REG;
use super::program::Programs;
use super::timing_wheel::UnitResult;
use crate::memory::Port;

impl Sm {
    /// Runs cycle `now`, in which requests leave through `port`. Cycles since the last call were
    /// slept through.
    ///
    /// Returns the next cycle in which anything can happen, none if only a reply or a TB can wake
    /// the SM; and whether [TBs have ended](Self::has_ended_tbs).
    ///
    /// Without mechanisms it is inlined into its only caller, as its parts are. Saving registers
    /// around calls would be a noticeable part of a cycle with little activity.
    #[inline(always)]
    pub(crate) fn run_cycle(&mut self, now: u64, programs: &Programs, port: &mut Port<'_>) -> (Option<u64>, bool) {
        if self.plain { self.cycle::<true>(now, programs, port) } else { self.cycle_with_mechanisms(now, programs, port) }
    }

    /// Runs a cycle with all optional mechanisms.
    #[inline(never)]
    fn cycle_with_mechanisms(&mut self, now: u64, programs: &Programs, port: &mut Port<'_>) -> (Option<u64>, bool) {
        self.cycle::<false>(now, programs, port)
    }

    /// Runs a cycle; `PLAIN` without optional mechanisms.
    #[inline(always)]
    fn cycle<const PLAIN: bool>(&mut self, now: u64, programs: &Programs, port: &mut Port<'_>) -> (Option<u64>, bool) {
        self.account_sleep(now);
        self.advance::<PLAIN>(now, programs, port);
        if !PLAIN && self.moves_contexts() {
            self.move_on(now, port);
        }
        self.account(now, 1);
        if !self.leaving.is_empty() {
            self.retire(now + 1);
        }
        (self.next_event::<PLAIN>(now), !self.finished.is_empty() | self.drained | (!PLAIN && self.has_left_tbs()))
    }

    /// Continues context moves.
    #[cold]
    #[inline(never)]
    fn move_on(&mut self, now: u64, port: &mut Port<'_>) {
        if self.preemption.is_some() {
            self.move_contexts(now, port);
        }
        if self.takes_extra {
            self.switch_contexts(now);
        }
    }

    /// Runs the stages of a cycle up to issue.
    #[inline(always)]
    pub(super) fn advance<const PLAIN: bool>(&mut self, now: u64, programs: &Programs, port: &mut Port<'_>) {
        if !self.fetching.is_empty() {
            self.fetched(now, programs);
        }
        self.write_back::<PLAIN>(now);
        if self.execution.begin(now) {
            self.operands.latches_emptied();
        }
        self.load_store::<PLAIN>(now, programs, port);
        if self.has_work::<PLAIN>() {
            let (sub_cores, hopeful) = (&mut self.sub_cores, &mut self.hopeful);
            self.operands.cycle(now, &mut self.execution, |sub_core, unit| {
                sub_cores[sub_core].readiness.unlatch(unit);
                *hopeful |= 1 << sub_core;
            });
            self.issue::<PLAIN>(now, programs);
        } else {
            self.operands.end_writes();
            self.issued = 0;
        }
        if !PLAIN && self.to_fetch {
            self.fetch(now);
        }
    }

    /// Next cycle after `now` in which anything can happen; none if only a reply or a TB can wake
    /// the SM.
    #[inline(always)]
    pub(super) fn next_event<const PLAIN: bool>(&self, now: u64) -> Option<u64> {
        if self.has_work::<PLAIN>() || self.lsu_wake <= now + 1 {
            return Some(now + 1);
        }
        let lsu = (self.lsu_wake != u64::MAX).then_some(self.lsu_wake);
        let fetched = self.fetching.iter().map(|&(cycle, _)| cycle).min();
        let event = [lsu, fetched, self.execution.next_event(now + 1)].into_iter().flatten().min();
        if !PLAIN && self.moves_contexts() { self.next_move(event, now) } else { event }
    }

    /// True if contexts of warps may move: with preemption or oversubscription.
    #[inline]
    fn moves_contexts(&self) -> bool {
        self.takes_extra | self.preemption.is_some()
    }

    /// Earlier one of an event and the next step of context moves.
    #[cold]
    #[inline(never)]
    fn next_move(&self, event: Option<u64>, now: u64) -> Option<u64> {
        let switches = if self.takes_extra { self.next_context_switch(now) } else { None };
        let moves = if self.preemption.is_some() { self.next_context(now) } else { None };
        event.into_iter().chain(switches).chain(moves).min()
    }

    /// True if TBs have ended or drained since the last query.
    #[inline]
    pub(crate) fn has_ended_tbs(&self) -> bool {
        !self.finished.is_empty() | self.drained | self.has_left_tbs()
    }

    /// True if an instruction could issue, or is moving to its unit.
    #[inline]
    fn has_work<const PLAIN: bool>(&self) -> bool {
        !self.operands.is_empty() | (self.hopeful != 0) | (!PLAIN && self.to_fetch)
    }

    /// Writes results of fixed-latency units to the registers.
    fn write_back<const PLAIN: bool>(&mut self, now: u64) {
        while let Some(UnitResult { warp, dst }) = self.execution.take_result(now) {
            if dst != NO_REG {
                let sub_core = self.sub_core(warp);
                // The fixed-latency units do not wait for a bank; only the load/store unit does.
                self.operands.write(sub_core, warp, dst);
            }
            self.complete::<false>(warp, dst);
            if !PLAIN && self.takes_extra {
                self.note_result(warp);
            }
        }
    }

    /// Completes an instruction of `warp`, a `LOAD` or not: frees its register and the in-flight
    /// entry.
    #[inline]
    pub(super) fn complete<const LOAD: bool>(&mut self, warp: u8, dst: u16) {
        let state = &mut self.warps[warp];
        state.in_flight -= 1;
        let last = (state.in_flight == 0) & state.issued_all;
        if dst != NO_REG {
            self.register_written::<LOAD>(warp, dst);
        }
        if last {
            self.may_leave(warp);
        }
    }

    pub(super) fn may_leave(&mut self, warp: u8) {
        if self.warps[warp].finished() {
            self.leaving.push(warp);
        }
    }
}
