//! The clerk: counts the reschedulings that the rules ask for, from launches, completions and phases alone.
//!
//! The rules (sources.md D27, D30, and D31): launches are collected for a while and scheduled together; a completion reschedules at
//! once unless no kernel is left; whoever comes while a batch is open joins it; and from the start of one attempt to measure
//! to the next rescheduling at least one window passes. All steps of a search are one attempt (sources.md D148).

use mias_registers::PhaseCode;

/// What happened between two looks of the firmware.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Events {
    /// Core cycle.
    pub(crate) now: u64,
    /// Kernels that completed.
    pub(crate) completions: u32,
    /// Kernels that were launched.
    pub(crate) launches: u32,
    /// Phase before.
    pub(crate) before: PhaseCode,
    /// Phase after.
    pub(crate) after: PhaseCode,
}

/// A reference model of when reschedulings are due.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clerk {
    coalesce: u64,
    window: u64,
    /// The policy searches: what comes after a profile is no second round but a step of the same attempt.
    searches: bool,
    kernels: u32,
    /// The open batch.
    due: Option<u64>,
    /// Start of the last attempt to measure.
    attempt: u64,
    /// Reschedulings that were due so far.
    pub(crate) due_so_far: u32,
    /// Batches in which a kernel was launched in the cycle in which another completed.
    pub(crate) launched_while_completing: u32,
}

impl Clerk {
    /// A clerk for these windows, in cycles, and a policy that searches or does not.
    pub(crate) fn new(coalesce: u32, window: u32, searches: bool) -> Self {
        Clerk { coalesce: coalesce.into(), window: window.into(), searches, ..Clerk::default() }
    }

    /// Books what happened.
    pub(crate) fn book(&mut self, events: Events) {
        let Events { now, completions, launches, before, after } = events;
        let mut measuring = matches!(before, PhaseCode::Transition | PhaseCode::Profile);
        let due_before = self.due_so_far;
        for _ in 0..completions {
            self.kernels -= 1;
            if self.kernels == 0 {
                (self.due, measuring) = (None, false);
            } else {
                self.open(now, measuring);
            }
        }
        for _ in 0..launches {
            self.kernels += 1;
            self.open(now + self.coalesce, measuring);
        }
        self.launched_while_completing += u32::from(completions > 0 && launches > 0);
        if self.due.is_some_and(|due| due <= now) {
            self.due = None;
            self.due_so_far += 1;
        }
        // A new attempt, or its second round.
        let second_round = !self.searches && before == PhaseCode::Profile && after == PhaseCode::Transition;
        if second_round || after == PhaseCode::Transition && self.due_so_far != due_before {
            self.attempt = now;
        }
    }

    fn open(&mut self, at: u64, measuring: bool) {
        let earliest = if measuring { self.attempt + self.window } else { 0 };
        self.due.get_or_insert(at.max(earliest));
    }
}
