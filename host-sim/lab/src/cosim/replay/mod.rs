//! A recording fed to the firmware: to that in this process and to its images in QEMU, each compared with the recording access by
//! access, and so with each other.

mod difference;
mod target;
#[cfg(test)]
mod tests;

pub use difference::Difference;
pub use target::{Ready, Target};

use crate::cancel::Cancel;
use crate::cosim::recording::{Access, Recording};
use crate::cosim::{CosimError, Replay};

/// How a target did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The target.
    pub target: Target,
    /// What it did as recorded.
    pub done: Counts,
    /// The end.
    pub end: End,
}

/// How a replay ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With the recording: every access was the same.
    Same,
    /// With another access.
    Differs(Difference),
    /// With an image that did not go on.
    Stopped(CosimError),
}

/// Things in a recording, or the part of them that a target did alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Runs, from their start to their end.
    pub runs: u64,
    /// Interrupts handled.
    pub interrupts: u64,
    /// Register reads.
    pub reads: u64,
    /// Register writes: the firmware's commands.
    pub writes: u64,
    /// Decisions: counters read, a configuration chosen or a second round begun.
    pub decisions: u64,
}

impl Counts {
    /// All that is in a recording.
    pub fn of(recording: &Recording) -> Self {
        let mut counts = Counts { runs: recording.runs.len() as u64, ..Counts::default() };
        for run in &recording.runs {
            counts.interrupts += run.interrupts() as u64;
            counts.add(run.accesses());
        }
        counts
    }

    fn add(&mut self, accesses: &[Access]) {
        let reads = accesses.iter().filter(|access| matches!(access, Access::Read { .. })).count() as u64;
        self.reads += reads;
        self.writes += accesses.len() as u64 - reads;
        self.decisions += accesses.iter().filter(|access| access.begins_decision()).count() as u64;
    }
}

/// Feeds a recording to a target, to its end or to the first difference. None if asked to stop.
pub fn replay(recording: &Recording, mut ready: Ready, cancel: &Cancel) -> Option<Verdict> {
    let target = ready.target();
    let mut done = Counts::default();
    for (number, run) in recording.runs.iter().enumerate() {
        for (interrupt, step) in run.steps().enumerate() {
            let mut bus = Replay::new(step.accesses);
            let went_on = if interrupt == 0 { ready.start(&mut bus) } else { ready.interrupt(&mut bus) };
            // Ctrl-C reaches QEMU too.
            if cancel.requested() {
                return None;
            }
            done.add(bus.matched());
            if let Err(error) = went_on {
                return Some(Verdict { target, done, end: End::Stopped(error) });
            }
            if let Some(parting) = bus.end() {
                let difference = Difference { run: number + 1, interrupt, cycle: step.cycle, parting };
                return Some(Verdict { target, done, end: End::Differs(difference) });
            }
            done.interrupts += u64::from(interrupt > 0);
        }
        done.runs += 1;
    }
    Some(Verdict { target, done, end: End::Same })
}
