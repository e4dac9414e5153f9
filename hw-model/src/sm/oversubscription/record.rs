//! What moves on an SM, noted for drawings: each context on its way, and how many warps are away beside how many extra TBs (Lin et al. 2018,
//! figure 8). Off unless asked for; noting allocates, up to a limit.

use super::plan::{Level, Limit, Plan};
use super::tables::NOWHERE;
use super::{Oversubscription, Sm};

/// Where contexts lie that are not in their places: shared memory, the L1, registers. Bytes of a context are given in this order.
pub const CONTEXT_STORAGE: [&str; 3] = ["shared memory", "L1", "registers"];

/// A context that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedContext {
    /// Index of its TB in the grid.
    pub tb: u32,
    /// Which warp of the TB; none where whole TBs are switched.
    pub warp: Option<u8>,
    /// Bytes that move, by where they lie while the context is not in its place ([`CONTEXT_STORAGE`]).
    pub bytes: [u32; 3],
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextEvent {
    /// Contexts begin to move: one out of its place, one into its place, or two that change places.
    Moves {
        /// Launch that they are of, as in [`crate::gpu::Stats::launches`].
        launch: u32,
        /// The one that leaves its place.
        out: Option<MovedContext>,
        /// The one that comes into its place.
        into: Option<MovedContext>,
        /// Core cycles until it is done.
        cycles: u64,
    },
    /// What is on the SM, after what has moved in this cycle.
    Holds {
        /// Warps whose contexts are not in their places.
        absent_warps: u32,
        /// TBs beyond those that fit.
        extra_tbs: u32,
    },
}

/// The same with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextNote {
    /// Core cycle.
    pub cycle: u64,
    /// What.
    pub event: ContextEvent,
}

/// The notes of an SM.
#[derive(Clone, Debug)]
pub(super) struct Record {
    notes: Vec<ContextNote>,
    most: usize,
    /// Notes that there was no room for.
    left_out: u64,
    /// Warps away and extra TBs when they were noted last.
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
    /// What is on the SM from cycle `now` on, of the kernel in slot `kernel`: counted, and noted if it is to be and has changed.
    pub(super) fn note_held(&mut self, kernel: u8, now: u64) {
        let held = (self.tables.away().count_ones(), self.extras);
        self.away[usize::from(kernel)].set(held.0, now);
        let Some(record) = self.record.as_mut().filter(|record| record.held != held) else { return };
        record.held = held;
        record.note(now, ContextEvent::Holds { absent_warps: held.0, extra_tbs: held.1 });
    }

    /// Contexts of the kernel in slot `kernel` begin to move in cycle `now`, if that is noted.
    pub(super) fn note_move(&mut self, kernel: u8, [out, into]: [Option<MovedContext>; 2], cycles: u64, now: u64) {
        let launch = self.launches[usize::from(kernel)];
        if let Some(record) = &mut self.record {
            record.note(now, ContextEvent::Moves { launch, out, into, cycles });
        }
    }
}

impl Sm {
    /// Notes from now on what moves, up to so many notes.
    pub(crate) fn record_contexts(&mut self, most: usize) {
        if let Some(contexts) = &mut self.oversubscription {
            let held = (contexts.tables.away().count_ones(), contexts.extras);
            contexts.record = Some(Box::new(Record { notes: Vec::new(), most, left_out: 0, held }));
        }
    }

    /// The notes so far, in order, and how many there was no room for.
    pub(crate) fn take_context_notes(&mut self) -> (Vec<ContextNote>, u64) {
        let record = self.oversubscription.as_mut().and_then(|contexts| contexts.record.as_mut());
        record.map_or_else(Default::default, |record| (std::mem::take(&mut record.notes), record.left_out))
    }

    /// What moves of a warp or a TB which has a place elsewhere, and by where that is.
    pub(super) fn moved_context(&self, plan: &Plan, unit: u8) -> Option<MovedContext> {
        let contexts = self.oversubscription.as_ref()?;
        let mut bytes = [0; 3];
        let mut add = |place: u8, more: u32| {
            if place != NOWHERE {
                bytes[contexts.space.part(place)] += more;
            }
        };
        let live = self.warps_of(plan.level, unit).filter(|&number| self.warps[number].live);
        let (first, tb_slot) = match plan.level {
            Level::Warp => (Some(unit), self.warps[unit].tb_slot),
            Level::Tb => (None, unit),
        };
        if plan.limit == Limit::Registers {
            live.for_each(|number| add(contexts.tables.warps[usize::from(number)].spilled, plan.warp_bytes));
        } else {
            let warps = live.count() as u32;
            let place = contexts.tables.tbs[usize::from(tb_slot)].spilled;
            add(place, if warps == 0 { 0 } else { warps * plan.warp_bytes + plan.tb_bytes });
        }
        let tb = self.tbs[usize::from(tb_slot)];
        Some(MovedContext { tb: tb.index, warp: first.map(|number| number - tb.first_warp), bytes })
    }
}
