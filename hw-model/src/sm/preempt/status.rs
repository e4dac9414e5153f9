//! State of an SM's TBs in the register block: progress, permission to flush, results of commands,
//! and statistics of ended TBs (Shieh 2016, section 3.4; sources.md D133).

use super::{Ended, Resident, State, TbStatus};
use crate::sm::{Programs, Sm};
use mias_registers::{preempt_command, technique};

impl Sm {
    /// Validation: every TB has its own position within the SM, and no position is occupied without
    /// a TB.
    ///
    /// # Panics
    /// If a check fails.
    pub(crate) fn check_places(&self) {
        if let Some(preemption) = &self.preemption {
            preemption.places.check();
            for (place, resident) in preemption.residents.iter().enumerate() {
                assert_eq!(
                    preemption.places.of(place).is_some(),
                    resident.is_some(),
                    "place {place} is taken if and only if a TB is in it"
                );
            }
        }
    }

    /// TB in a position in cycle `now`, unless it is an extra one. The permission to flush is
    /// computed only if `asked`, since this reads its trace.
    pub(crate) fn tb_status(&mut self, place: usize, now: u64, asked: bool, programs: &Programs) -> Option<TbStatus> {
        if self.is_extra(place) { None } else { self.status_of(place, now, asked, programs) }
    }

    /// State of any TB in a position.
    pub(super) fn status_of(&mut self, place: usize, now: u64, asked: bool, programs: &Programs) -> Option<TbStatus> {
        let preemption = self.preemption.as_mut()?;
        let ranges = preemption.places.of(place)?;
        let resident = preemption.resident_mut(place)?;
        let tb = self.tbs.get(usize::from(resident.tb_slot))?;
        let trace = programs.get(tb.kernel).and_then(|program| program.part(tb.part));
        if asked && resident.ends.is_none() {
            resident.ends = trace.map(|(trace, first_tb)| {
                let ends = trace.idempotence_ends(tb.index - first_tb);
                let starts = (0..).map(|warp| trace.shape(trace.warp(tb.index - first_tb, warp).shape).start);
                ends.into_iter().zip(starts).map(|(end, start)| end.map_or(u32::MAX, |end| start + end)).collect()
            });
        }
        let (mut left, mut flush) = (0, asked);
        let saved = resident.saved.as_deref();
        for warp in 0..tb.warps {
            let end = resident.ends.as_deref().and_then(|ends| ends.get(usize::from(warp)).copied()).unwrap_or(u32::MAX);
            let state = &self.warps[tb.first_warp + warp];
            let here = state.live && state.tb_slot == resident.tb_slot;
            // A warp that has left has issued everything.
            let next = match (saved, here) {
                (Some(saved), _) => saved.next(usize::from(warp)),
                (None, true) => (!state.issued_all).then_some((state.next, state.end)),
                (None, false) => None,
            };
            left += next.map_or(0, |(next, end)| u64::from(end - next));
            flush &= next.map_or(end == u32::MAX, |(next, _)| next <= end);
        }
        let leaving = match resident.state {
            State::Runs => technique::NONE,
            State::Drains => technique::DRAIN,
            State::Waits(_) | State::Settles(_) | State::Goes | State::Comes => technique::SWITCH,
        };
        Some(TbStatus {
            kernel: tb.kernel,
            index: tb.index,
            leaving,
            flush: flush && matches!(resident.state, State::Runs | State::Drains | State::Waits(_)),
            insts: resident.insts - left,
            cycles: resident.before + now.saturating_sub(resident.since),
            first_register: ranges.first_register(),
            first_shared: ranges.first_shared(),
            came_cycle: resident.since,
        })
    }

    /// Number of thread instructions that a completely resident TB has issued: active lanes, summed
    /// over the executed trace of each of its warps.
    pub(super) fn issued_threads(&self, tb_slot: usize, programs: &Programs) -> u64 {
        let tb = self.tbs[tb_slot];
        let Some((trace, first_tb)) = programs.get(tb.kernel).and_then(|program| program.part(tb.part)) else { return 0 };
        let of = |warp: u8| {
            let shape = trace.shape(trace.warp(tb.index - first_tb, warp.into()).shape);
            let state = &self.warps[tb.first_warp + warp];
            // A warp that has left has issued everything.
            let here = state.live && usize::from(state.tb_slot) == tb_slot && !state.issued_all;
            let issued = shape.start as usize..if here { state.next } else { shape.end } as usize;
            trace.shape_insts().get(issued).into_iter().flatten().map(|inst| u64::from(inst.lanes())).sum::<u64>()
        };
        (0..tb.warps).map(of).sum()
    }

    /// Cycle from which a resident TB issues nothing, if it is being switched out.
    pub(crate) fn stopped(&self, kernel: u8, index: u32) -> Option<u64> {
        let preemption = self.preemption.as_ref()?;
        let found = preemption.residents.iter().flatten().find(|resident| {
            let tb = &self.tbs[usize::from(resident.tb_slot)];
            tb.kernel == kernel && tb.index == index
        });
        found?.stopped
    }

    /// Result of the last command for a position.
    pub(crate) fn preempt_result(&self, place: usize) -> u32 {
        self.preemption.as_ref().and_then(|preemption| preemption.results.get(place)).copied().unwrap_or(0)
    }

    /// Statistics of ended TBs of the kernel in `slot` on this SM.
    pub(crate) fn ended(&self, slot: usize) -> Ended {
        self.preemption.as_ref().map_or(Ended::default(), |preemption| preemption.ended[slot])
    }

    /// Clears the statistics of a slot's kernel.
    pub(in crate::sm) fn forget_ended(&mut self, slot: u8) {
        if let Some(preemption) = &mut self.preemption {
            preemption.ended[usize::from(slot)] = Ended::default();
        }
    }

    /// Number of TBs of the kernel in a slot that are leaving.
    pub(crate) fn leaving(&self, slot: usize) -> u32 {
        let Some(preemption) = &self.preemption else { return 0 };
        let leaves = |resident: &&Resident| {
            matches!(resident.state, State::Drains | State::Waits(_) | State::Settles(_) | State::Goes)
                && !self.tbs[usize::from(resident.tb_slot)].extra
                && usize::from(self.tbs[usize::from(resident.tb_slot)].kernel) == slot
        };
        preemption.residents.iter().flatten().filter(leaves).count() as u32
    }

    /// True if a command is in progress.
    pub(crate) fn is_preempting(&self) -> bool {
        self.preemption.as_ref().is_some_and(|preemption| preemption.results.iter().any(|result| result & preempt_command::BUSY != 0))
    }
}
