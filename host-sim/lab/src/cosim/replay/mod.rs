//! Replay of a recording on the firmware in this process and on its images in QEMU. Each is
//! compared with the recording access by access, and so with each other.

mod difference;
mod target;
#[cfg(test)]
mod tests;

pub use difference::Difference;
pub use target::{Ready, Target};

use crate::cancel::Cancel;
use crate::cosim::recording::{Access, Recording};
use crate::cosim::{CosimError, Replay};

/// Result of a replay on one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Target of the replay.
    pub target: Target,
    /// Counts of matching activity.
    pub done: Counts,
    /// End of the replay.
    pub end: End,
}

/// End of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// End of the recording: every access was the same.
    Same,
    /// First access that differed.
    Differs(Difference),
    /// Failure of the image.
    Stopped(CosimError),
}

/// Counts in a recording, or in its matching part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Number of complete runs.
    pub runs: u64,
    /// Number of interrupts handled.
    pub interrupts: u64,
    /// Number of register reads.
    pub reads: u64,
    /// Number of register writes: the firmware's commands.
    pub writes: u64,
    /// Number of decisions: counters read, a configuration chosen or a second round begun.
    pub decisions: u64,
}

impl Counts {
    /// Counts everything in a recording.
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

/// Replays a recording on a target, to its end or to the first difference. `None` if canceled.
pub fn replay(recording: &Recording, mut ready: Ready, cancel: &Cancel) -> Option<Verdict> {
    let target = ready.target();
    let mut done = Counts::default();
    for (number, run) in recording.runs.iter().enumerate() {
        for (interrupt, step) in run.steps().enumerate() {
            let mut bus = Replay::new(step.accesses);
            let went_on = if interrupt == 0 { ready.start(&mut bus) } else { ready.interrupt(&mut bus) };
            // Ctrl-C reaches QEMU too, so its failure may be the cancellation.
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
