//! Reference model of the rescheduling rules, from launches, completions and phases alone.
//!
//! The rules (sources.md D27, D30, and D31): launches are collected for a while and scheduled
//! together. A completion reschedules at once unless no kernel is left. A launch or completion
//! while a batch is open joins it. From the start of one measurement attempt to the next
//! rescheduling at least one window passes. All steps of a search are one attempt (sources.md
//! D148).

use mias_registers::PhaseCode;

/// Events between two checks of the firmware.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Events {
    /// Core cycle of the check.
    pub(crate) now: u64,
    /// Number of completed kernels.
    pub(crate) completions: u32,
    /// Number of launched kernels.
    pub(crate) launches: u32,
    /// Phase before the call.
    pub(crate) before: PhaseCode,
    /// Phase after the call.
    pub(crate) after: PhaseCode,
}

/// Reference model of due reschedulings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clerk {
    coalesce: u64,
    window: u64,
    /// Whether the policy searches: a transition after a profile is then a step of the same
    /// attempt, not a second round.
    searches: bool,
    kernels: u32,
    /// Cycle of the open batch.
    due: Option<u64>,
    /// Start of the last measurement attempt.
    attempt: u64,
    /// Number of reschedulings due so far.
    pub(crate) due_so_far: u32,
    /// Batches with a kernel launched in the cycle in which another completed.
    pub(crate) launched_while_completing: u32,
}

impl Clerk {
    /// Creates the model for these windows, in cycles, and a policy with or without searches.
    pub(crate) fn new(coalesce: u32, window: u32, searches: bool) -> Self {
        Clerk { coalesce: coalesce.into(), window: window.into(), searches, ..Clerk::default() }
    }

    /// Records events.
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
