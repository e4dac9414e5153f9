//! Log of context moves on an SM, for timelines: each move, and the numbers of absent warps and
//! extra TBs (Lin et al. 2018, figure 8). Off by default; recording allocates, up to a limit.

use super::plan::{Level, Limit, Plan};
use super::tables::NOWHERE;
use super::{Oversubscription, Sm};

/// Spare storage of contexts that are not in place: shared memory, the L1, registers. Bytes of a
/// context are given in this order.
pub const CONTEXT_STORAGE: [&str; 3] = ["shared memory", "L1", "registers"];

/// Moving context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedContext {
    /// Index of the context's TB in the grid.
    pub tb: u32,
    /// Warp of the TB; none where whole TBs are switched.
    pub warp: Option<u8>,
    /// Bytes that move, by spare storage ([`CONTEXT_STORAGE`]).
    pub bytes: [u32; 3],
}

/// Event of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextEvent {
    /// Start of a move: one context out of its place, one into its place, or a swap of two.
    Moves {
        /// Launch of the contexts, as in [`crate::gpu::Stats::launches`].
        launch: u32,
        /// Context that leaves its place.
        out: Option<MovedContext>,
        /// Context that returns to its place.
        into: Option<MovedContext>,
        /// Core cycles of the move.
        cycles: u64,
    },
    /// Content of the SM, after the moves of this cycle.
    Holds {
        /// Number of warps whose contexts are not in place.
        absent_warps: u32,
        /// Number of TBs beyond those that fit.
        extra_tbs: u32,
    },
}

/// Event with its cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextNote {
    /// Core cycle of the event.
    pub cycle: u64,
    /// Kind of event.
    pub event: ContextEvent,
}

/// Log of an SM.
#[derive(Clone, Debug)]
pub(super) struct Record {
    notes: Vec<ContextNote>,
    most: usize,
    /// Number of notes that exceeded the capacity.
    left_out: u64,
    /// Numbers of absent warps and extra TBs at the last note.
    held: (u32, u32),
}

impl Record {
    fn note(&mut self, cycle: u64, event: ContextEvent) {
        if self.notes.len() < self.most {
            self.notes.push(ContextNote { cycle, event });
        } else {
            self.left_out += 1;
        }
    }
}

impl Oversubscription {
    /// Counts the warps and TBs of the kernel in slot `kernel` from cycle `now` on, and logs a
    /// change if recording.
    pub(super) fn note_held(&mut self, kernel: u8, now: u64) {
        let held = (self.tables.away().count_ones(), self.extras);
        self.away[usize::from(kernel)].set(held.0, now);
        let Some(record) = self.record.as_mut().filter(|record| record.held != held) else { return };
        record.held = held;
        record.note(now, ContextEvent::Holds { absent_warps: held.0, extra_tbs: held.1 });
    }

    /// Logs the start of a move of the kernel in slot `kernel` in cycle `now`, if recording.
    pub(super) fn note_move(&mut self, kernel: u8, [out, into]: [Option<MovedContext>; 2], cycles: u64, now: u64) {
        let launch = self.launches[usize::from(kernel)];
        if let Some(record) = &mut self.record {
            record.note(now, ContextEvent::Moves { launch, out, into, cycles });
        }
    }
}

impl Sm {
    /// Starts recording, up to this many notes.
    pub(crate) fn record_context_moves(&mut self, most: usize) {
        if let Some(oversubscription) = &mut self.oversubscription {
            let held = (oversubscription.tables.away().count_ones(), oversubscription.extras);
            oversubscription.record = Some(Box::new(Record { notes: Vec::new(), most, left_out: 0, held }));
        }
    }

    /// Takes the notes so far, in order, and the number that exceeded the capacity.
    pub(crate) fn take_context_notes(&mut self) -> (Vec<ContextNote>, u64) {
        let record = self.oversubscription.as_mut().and_then(|oversubscription| oversubscription.record.as_mut());
        record.map_or_else(Default::default, |record| (std::mem::take(&mut record.notes), record.left_out))
    }

    /// Moved bytes of a warp or a TB with a place in spare storage, by storage.
    pub(super) fn moved_context(&self, plan: &Plan, unit: u8) -> Option<MovedContext> {
        let oversubscription = self.oversubscription.as_ref()?;
        let mut bytes = [0; 3];
        let mut add = |place: u8, more: u32| {
            if place != NOWHERE {
                bytes[oversubscription.space.part(place)] += more;
            }
        };
        let live = self.warps_of(plan.level, unit).filter(|&number| self.warps[number].live);
        let (first, tb_slot) = match plan.level {
            Level::Warp => (Some(unit), self.warps[unit].tb_slot),
            Level::Tb => (None, unit),
        };
        if plan.limit == Limit::Registers {
            live.for_each(|number| add(oversubscription.tables.warps[usize::from(number)].spilled, plan.warp_bytes));
        } else {
            let warps = live.count() as u32;
            let place = oversubscription.tables.tbs[usize::from(tb_slot)].spilled;
            add(place, if warps == 0 { 0 } else { warps * plan.warp_bytes + plan.tb_bytes });
        }
        let tb = self.tbs[usize::from(tb_slot)];
        Some(MovedContext { tb: tb.index, warp: first.map(|number| number - tb.first_warp), bytes })
    }
}
